// SPDX-License-Identifier: Apache-2.0
// DLPack capsules of limbs in the memory of a CUDA device.
#pragma once

#include <nanobind/nanobind.h>

#include "python/device_limbs.hpp"

namespace manymod::python {

/// Of [N, L], or of [N] for one limb each; of DLPack 1.0 if `versioned`.
nb::object to_capsule(const DeviceLimbs& limbs, bool versioned, bool of_signed_type, bool flat);

/// Of a copy in memory of its own, in the host's if `on_host`, else on the same device. It is wiped when the
/// last consumer has dropped it.
nb::object to_copied_capsule(const DeviceLimbs& limbs, bool on_host, bool versioned, bool of_signed_type,
                             bool flat);

}  // namespace manymod::python
