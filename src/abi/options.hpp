// SPDX-License-Identifier: Apache-2.0
// Range checks of options of the C ABI.
#pragma once

#include "core/operation.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// `threads`. @throws StatusError MM_ERR_ARGUMENT unless it is at most kMaxThreads
unsigned checked_threads(unsigned threads);

/// The operation and the timing class. @throws StatusError MM_ERR_ARGUMENT for another number
Operation checked_operation(const mm_op& op);
TimingClass checked_timing(const mm_timing& timing);
/// Whether the modulus is shared. @throws StatusError MM_ERR_ARGUMENT for another number
bool checked_shared(const mm_modulus_kind& kind);

}  // namespace manymod
