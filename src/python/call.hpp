// SPDX-License-Identifier: Apache-2.0
// Plans and calls of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add Plan and FixedBase to the extension module.
void bind_call(nanobind::module_& module);

/// Add threads, devices, variants and the version to the extension module.
void bind_hardware(nanobind::module_& module);

/// Throw the Python exception for a failed call; its class comes from manymod.errors.
[[noreturn]] void throw_call_error(int status);

}  // namespace manymod::python
