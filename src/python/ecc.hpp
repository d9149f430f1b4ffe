// SPDX-License-Identifier: Apache-2.0
// Elliptic curves of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add EccCurve, EccKey, EccScheme and EccPlan to the extension module.
void bind_ecc(nanobind::module_& module);

}  // namespace manymod::python
