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

/// What else has to go on under the filter than the daemon's own work.
struct SandboxNeeds {
  bool drivers = false;  ///< a GPU's driver may start, which maps memory that is writable and executable
  bool modules = false;  ///< code may be loaded from files: modules of tokens at a reload
};

/// Close it for all threads of the process, for ever. Without needs no memory becomes executable any more.
Sandbox close_sandbox(const SandboxNeeds& needs) noexcept;

}  // namespace manymod::signd
