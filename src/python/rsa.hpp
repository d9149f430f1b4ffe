// SPDX-License-Identifier: Apache-2.0
// Keys and rings of the RSA part of the C ABI as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add RsaKey, RsaRing and what belongs to them to the extension module.
void bind_rsa(nanobind::module_& module);

}  // namespace manymod::python
