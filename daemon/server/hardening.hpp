// SPDX-License-Identifier: Apache-2.0
// What keeps keys in the process's own memory, and its limits.
#pragma once

namespace manymod::signd {

/// No core dumps, no tracing by other processes of the user, no privileges by execve().
void forbid_dumps() noexcept;
/// As many descriptors as the system allows: each connection has one.
void raise_file_limit() noexcept;
/// Keep all memory out of swap. @return false, with nothing locked, if RLIMIT_MEMLOCK is not infinite or the
/// system refuses
bool lock_all_memory() noexcept;

}  // namespace manymod::signd
