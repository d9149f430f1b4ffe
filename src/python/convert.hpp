// SPDX-License-Identifier: Apache-2.0
// Conversions between Python's sequences of integers, big-endian bytes and limb arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add the conversion functions to the extension module.
void bind_convert(nanobind::module_& module);

/// Add the queries on limb arrays (bit lengths, comparison) to the extension module.
void bind_limbs(nanobind::module_& module);

}  // namespace manymod::python
