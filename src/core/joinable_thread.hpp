// SPDX-License-Identifier: Apache-2.0
// Threads of the library that their owner joins.
#pragma once

#include <functional>
#include <thread>

namespace manymod {

/// A thread like those of start_library_thread(), which blocks all signals, but to be joined: what belongs to
/// it, such as the state that libcrypto keeps for each thread, is gone then.
/// @throws std::system_error, std::bad_alloc if the system cannot start a thread
std::thread joinable_library_thread(std::function<void()> body);

}  // namespace manymod
