// SPDX-License-Identifier: Apache-2.0
// A filter of system calls (seccomp), for the case that a client takes control of the daemon: the calls that
// the daemon needs after its start are allowed, others fail with EPERM, and calls that only an attacker
// would make end the process.
#pragma once

namespace manymod::signd {

enum class Sandbox {
  closed,       ///< the filter is in force
  unsupported,  ///< the kernel, or what the process runs in, has no filters
  missing       ///< the daemon was built without libseccomp
};

/// What must work under the filter besides the daemon's own code.
struct SandboxNeeds {
  bool drivers = false;  ///< a GPU's driver may start, which maps memory that is writable and executable
  bool modules = false;  ///< code may be loaded from files: modules of tokens at a reload
};

/// Put the filter in force for all threads of the process; that cannot be undone. Without needs no memory
/// becomes executable any more.
Sandbox close_sandbox(const SandboxNeeds& needs) noexcept;

}  // namespace manymod::signd
