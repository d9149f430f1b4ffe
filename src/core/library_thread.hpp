// SPDX-License-Identifier: Apache-2.0
// Threads of the library's own, and how it notices that a fork left them behind.
#pragma once

#include <functional>

namespace manymod {

/// Number of this process. What has threads behind it keeps the number of the process that started them: a
/// forked child, which has another, inherits none of them.
long process_id();

/// Start a thread that nobody joins: it never keeps the process from exiting. Signals such as SIGINT are left
/// to the application's threads.
/// @throws std::system_error, std::bad_alloc where the system has no more to give
void start_library_thread(std::function<void()> body);

}  // namespace manymod
