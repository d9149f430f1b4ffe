// SPDX-License-Identifier: Apache-2.0
// What keeps keys in the process's own memory.
#pragma once

namespace manymod::signd {

/// No core dumps, no tracing by other processes of the user, no privileges by execve().
void forbid_dumps() noexcept;
/// Keep all memory out of swap. @return false if that is not allowed (RLIMIT_MEMLOCK, CAP_IPC_LOCK)
bool lock_all_memory() noexcept;

}  // namespace manymod::signd
