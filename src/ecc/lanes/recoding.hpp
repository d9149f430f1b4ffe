// SPDX-License-Identifier: Apache-2.0
// Scalars as numbers with signs, odd ones for recodings to odd digits. Constant-time.
#pragma once

#include <span>

#include "core/limb.hpp"
#include "ecc/endomorphism.hpp"

namespace manymod::ecc::lanes {

/// A number with its sign.
struct SignedScalar {
  std::span<Limb> magnitude;
  Limb negative;  ///< all ones or 0
};

/// +-r = k mod n with r odd, r <= n: k or n - k. On input: 0 <= k < n, n odd; all have the same size.
void make_odd(SignedScalar& r, std::span<const Limb> k, std::span<const Limb> n);

/// r = k or k + 1, whichever is odd; r.negative: which of both, for multiples of points of any order. On
/// input: both have the same size.
void round_up_to_odd(SignedScalar& r, std::span<const Limb> k);

inline constexpr std::size_t kHalfLimbs = 3;

/// +-r1 +- r2 lambda = k mod n with r1, r2 odd and below 2^129, of kHalfLimbs limbs.
/// On input: k < n of four limbs.
void split_odd(SignedScalar& r1, SignedScalar& r2, std::span<const Limb, 4> k);

/// The same with r1, r2 of any parity and below 2^kSplitBits: r1 = k, r2 = 0 for k < 2^127.
void split(SignedScalar& r1, SignedScalar& r2, std::span<const Limb, 4> k);

inline constexpr unsigned kSplitBits = 128;

}  // namespace manymod::ecc::lanes
