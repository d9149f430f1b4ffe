// SPDX-License-Identifier: Apache-2.0
// The divisor of a modulus that all items share, computed on the host.
#pragma once

#include <span>

#include "core/limb.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

/// For kernels with numbers of `words` words. On input: n > 0 fits into them, and its top limb is not 0.
/// Timing: by the length of n.
SharedDivisor shared_divisor(std::span<const Limb> n, unsigned words);

}  // namespace manymod::division32
