// SPDX-License-Identifier: Apache-2.0
// Plans and calls of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add Plan and FixedBase to the extension module.
void bind_call(nanobind::module_& module);

/// Add threads, devices, variants and the version to the extension module.
void bind_hardware(nanobind::module_& module);

/// Throw the Python exception of a failed call, whose class is defined in manymod.errors.
[[noreturn]] void throw_call_error(int status);

}  // namespace manymod::python
