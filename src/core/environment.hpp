// SPDX-License-Identifier: Apache-2.0
// Environment variables that the library reads.
#pragma once

namespace manymod {

/// Whether the process has privileges that whoever started it lacks (a set-user-ID program, for example). Its
/// environment is not to be trusted then.
bool has_elevated_privileges();

/// The value of a variable; null if it is not set, or if the process has privileges of its own.
const char* environment_variable(const char* name);

}  // namespace manymod
