// SPDX-License-Identifier: Apache-2.0
// What keeps keys in the process's own memory, and its limits.
#pragma once

namespace manymod::signd {

/// No core dumps, no tracing by other processes of the user, no privileges by execve().
void forbid_dumps() noexcept;
/// As many descriptors as the system allows: each connection has one.
void raise_file_limit() noexcept;
/// Keep all memory out of swap. @return false if that is not allowed (RLIMIT_MEMLOCK, CAP_IPC_LOCK)
bool lock_all_memory() noexcept;

}  // namespace manymod::signd
