// SPDX-License-Identifier: Apache-2.0
// Keys and rings of rsa.h as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add RsaKey, RsaRing and their helpers to the extension module.
void bind_rsa(nanobind::module_& module);

}  // namespace manymod::python
