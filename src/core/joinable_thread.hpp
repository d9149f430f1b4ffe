// SPDX-License-Identifier: Apache-2.0
// Threads of the library that their owner joins.
#pragma once

#include <functional>
#include <thread>

namespace manymod {

/// A thread with all signals blocked, as start_library_thread() starts, but joinable. After join() its
/// thread-local state, such as libcrypto's, is released.
/// @throws std::system_error, std::bad_alloc if the system cannot start a thread
std::thread joinable_library_thread(std::function<void()> body);

}  // namespace manymod
