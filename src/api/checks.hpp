// SPDX-License-Identifier: Apache-2.0
// Argument checks of a call, performed before anything is computed or written.
#pragma once

#include <cstddef>

#include "abi/options.hpp"
#include "engine/engine.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// The view in the library's form, with its stride resolved. `what` is its name in the message.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT
BatchView checked_view(const mm_view& view, const char* what);

/// The bytes from the first limb of an array of items to its last one.
std::size_t extent_bytes(std::size_t count, std::size_t width, std::size_t stride);

/// The job of a call.
///
/// On input: call.count >= 1; `fixed_modulus`: the modulus of a fixed_base_powmod, which replaces
/// call.modulus, else null. On output: op, timing, terms, views and result are set; views that the operation
/// does not use are empty; status is null if the call has no array for it.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP
Job checked_job(const mm_call& call, Operation op, TimingClass timing, const BatchView* fixed_modulus);

}  // namespace manymod
