// SPDX-License-Identifier: Apache-2.0
#include "core/library_thread.hpp"

#include <thread>
#include <utility>

#include "core/joinable_thread.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#define MANYMOD_POSIX 1
#endif

namespace manymod {
namespace {

#ifdef MANYMOD_POSIX
// Blocks all signals on this thread as long as the object lives, so that threads started meanwhile inherit
// the mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
  }
  ~SignalsBlocked() {
    if (blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
  bool blocked_ = false;
};
#else
class SignalsBlocked {};
#endif

}  // namespace

long process_id() {
#ifdef MANYMOD_POSIX
  return static_cast<long>(getpid());
#else
  return 1;
#endif
}

std::thread joinable_library_thread(std::function<void()> body) {
  [[maybe_unused]] const SignalsBlocked blocked;
  return std::thread(std::move(body));
}

void start_library_thread(std::function<void()> body) { joinable_library_thread(std::move(body)).detach(); }

}  // namespace manymod
