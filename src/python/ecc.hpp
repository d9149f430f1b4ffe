// SPDX-License-Identifier: Apache-2.0
// Elliptic curves of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "manymod/ecc.h"

namespace manymod::python {

/// The plan of an EccPlan. @throws nb::type_error unless it is one
mm_ecc_plan* plan_of(nanobind::handle plan);
/// The call of an EccScheme, without items. @throws nb::type_error unless it is one
const mm_ecc_call& scheme_of(nanobind::handle scheme);

/// Add EccCurve, EccKey, EccScheme and EccPlan to the extension module.
void bind_ecc(nanobind::module_& module);

}  // namespace manymod::python
