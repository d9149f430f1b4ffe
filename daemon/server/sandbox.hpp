// SPDX-License-Identifier: Apache-2.0
// A filter of system calls (seccomp), for the case that a client takes the daemon over: what the daemon does
// after its start is allowed, all else fails with EPERM, and what only an attacker does ends the process.
#pragma once

namespace manymod::signd {

enum class Sandbox {
  closed,       ///< the filter is in force
  unsupported,  ///< the kernel, or what the process runs in, has no filters
  missing       ///< the daemon was built without libseccomp
};

/// Close it for all threads of the process, for ever.
/// @param has_gpu whether a GPU's driver may have to start, which does more than the daemon
Sandbox close_sandbox(bool has_gpu) noexcept;

}  // namespace manymod::signd
