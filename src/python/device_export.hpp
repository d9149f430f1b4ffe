// SPDX-License-Identifier: Apache-2.0
// DLPack export of limbs in the memory of a CUDA device.
#pragma once

#include <nanobind/nanobind.h>

#include "python/device_limbs.hpp"

namespace manymod::python {

/// A capsule of the array, of shape [N, L], or [N] if its items have one limb; in the format of DLPack 1.0 if
/// `versioned`.
nb::object to_capsule(const DeviceLimbs& limbs, bool versioned, bool of_signed_type, bool flat);

/// A capsule of a copy, in host memory if `on_host`, else on the same device. The copy is zeroed when its
/// last consumer releases it.
nb::object to_copied_capsule(const DeviceLimbs& limbs, bool on_host, bool versioned, bool of_signed_type,
                             bool flat);

}  // namespace manymod::python
