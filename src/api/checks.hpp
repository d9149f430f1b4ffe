// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with a call, found before anything is computed.
#pragma once

#include <cstddef>

#include "dispatch/engine.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// The view in the library's own form: stride resolved, no signs where the array is NULL.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT (`what` names the view in the message)
BatchView checked_view(const mm_view& view, const char* what);

/// struct_size as promised: `minimum`, version 0.1's size, or more from a caller with a newer header.
/// @throws StatusError MM_ERR_ARGUMENT
void check_struct_size(std::size_t given, std::size_t minimum, const char* what);

/// CPU threads of the options, 0 to kMaxThreads.
/// @throws StatusError MM_ERR_ARGUMENT
unsigned checked_threads(unsigned threads);

/// Enum values of the options, range-checked.
/// @throws StatusError MM_ERR_ARGUMENT
Operation checked_operation(const mm_op& op);
TimingClass checked_timing(const mm_timing& timing);
bool checked_shared(const mm_modulus_kind& kind);

/// A job from a call with call.count >= 1: op, timing, terms, views and result set, status NULL unless the
/// call brings an array. Views that the operation does not use stay empty. `fixed_modulus` (NULL but for
/// fixed_base_powmod) takes the place of call.modulus.
/// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP
Job checked_job(const mm_call& call, Operation op, TimingClass timing, const BatchView* fixed_modulus);

}  // namespace manymod
