// SPDX-License-Identifier: Apache-2.0
// Scalars as odd numbers with signs, for recodings to odd digits. Constant-time.
#pragma once

#include <span>

#include "core/limb.hpp"
#include "ecc/endomorphism.hpp"

namespace manymod::ecc::lanes {

/// A number with its sign.
struct OddScalar {
  std::span<Limb> magnitude;
  Limb negative;  ///< all ones or 0
};

/// +-r = k mod n with r odd, r <= n: k or n - k. On input: 0 <= k < n, n odd; all have the same size.
void make_odd(OddScalar& r, std::span<const Limb> k, std::span<const Limb> n);

/// r = k or k + 1, whichever is odd; r.negative: which of both, for multiples of points of any order. On
/// input: both have the same size.
void round_up_to_odd(OddScalar& r, std::span<const Limb> k);

inline constexpr std::size_t kHalfLimbs = 3;

/// +-r1 +- r2 lambda = k mod n with r1, r2 odd and below 2^129, of kHalfLimbs limbs.
/// On input: k < n of four limbs.
void split_odd(OddScalar& r1, OddScalar& r2, std::span<const Limb, 4> k);

}  // namespace manymod::ecc::lanes
