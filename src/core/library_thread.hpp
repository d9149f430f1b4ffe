// SPDX-License-Identifier: Apache-2.0
// Threads that the library starts, and the detection of a fork that did not copy them.
#pragma once

#include <functional>

namespace manymod {

/// Identifier of this process. An object with threads stores the identifier of the process that started them:
/// a forked child has another identifier and inherits no threads.
long process_id();

/// Start a detached thread, which does not keep the process from exiting. It blocks all signals, so that the
/// application's threads receive SIGINT and others.
/// @throws std::system_error, std::bad_alloc if the system cannot start a thread
void start_library_thread(std::function<void()> body);

}  // namespace manymod
