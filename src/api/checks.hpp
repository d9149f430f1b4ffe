// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with a call, found before anything is computed.
#pragma once

#include <cstddef>

#include "abi/options.hpp"
#include "engine/engine.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// The view in the library's own form: stride resolved, no signs where the array is NULL.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT (`what` names the view in the message)
BatchView checked_view(const mm_view& view, const char* what);

/// A job from a call with call.count >= 1: op, timing, terms, views and result set, status NULL unless the
/// call brings an array. Views that the operation does not use stay empty. `fixed_modulus` (NULL but for
/// fixed_base_powmod) takes the place of call.modulus.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP
Job checked_job(const mm_call& call, Operation op, TimingClass timing, const BatchView* fixed_modulus);

}  // namespace manymod
