// SPDX-License-Identifier: Apache-2.0
// Keys and rings of rsa.h as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "manymod/rsa.h"

namespace manymod::python {

/// The ring of an RsaRing. @throws nb::type_error unless it is one
mm_rsa_ring* ring_of(nanobind::handle ring);
/// The padding of an RsaPadding, which owns its label. @throws nb::type_error unless it is one
const mm_rsa_padding& padding_of(nanobind::handle padding);

/// Add RsaKey, RsaRing and their helpers to the extension module.
void bind_rsa(nanobind::module_& module);

}  // namespace manymod::python
