// SPDX-License-Identifier: Apache-2.0
// Threads in programs of others.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace manymod::signd {

/// A thread that blocks all signals, so that the program's own threads handle them.
/// @throws std::system_error if none can be started
template <class Body>
std::thread quiet_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace manymod::signd
