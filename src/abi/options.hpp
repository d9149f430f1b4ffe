// SPDX-License-Identifier: Apache-2.0
// Options of the C ABI, range-checked.
#pragma once

#include "core/operation.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// CPU threads of the options, 0 to kMaxThreads.
/// @throws StatusError MM_ERR_ARGUMENT
unsigned checked_threads(unsigned threads);

/// Enum values of the options, range-checked.
/// @throws StatusError MM_ERR_ARGUMENT
Operation checked_operation(const mm_op& op);
TimingClass checked_timing(const mm_timing& timing);
bool checked_shared(const mm_modulus_kind& kind);

}  // namespace manymod
