// SPDX-License-Identifier: Apache-2.0
// Remainders of integers in binary32. u = 2^-24; integers of magnitude up to 2^24 are values.
//
// Residues are centred: a quotient rounded to nearest leaves a remainder of about m / 2 in magnitude, of
// either sign, and no correction follows. docs/rns.md, "Centred channels", has the proofs.
#pragma once

#include "arch/cuda/singles.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::rns_float {

/// 1.5 2^23. For abs(y) < 2^22 the sum lies in [2^23, 2^24), where the unit is 1: adding and subtracting it
/// leaves the integer nearest to y.
inline constexpr float kToInteger = 0x1.8p23F;

struct Divisor {
  float m;
  float inverse;  ///< 1 / m, rounded to nearest
};

/// The integer nearest to x inverse. In: abs(x / m) (1 + u) < 2^22
MM_DEVICE float quotient(const Divisor& by, float x) {
  return cuda::subtract(cuda::fused(x, by.inverse, kToInteger), kToInteger);
}

/// x mod m, abs <= m / 2 + 1, at most (m + 1) / 2 for odd m. In: an integer, abs(x) <= 2^24, m >= 5
///
/// abs(x inverse - x / m) <= abs(x / m) u <= 1 / m, so abs(q - x / m) <= 1 / 2 + 1 / m. x - q m is an integer
/// below 2^24, which the fused operation gives as it is.
MM_DEVICE float reduce(const Divisor& by, float x) { return cuda::fused(-quotient(by, x), by.m, x); }

/// a b mod m for a product that needs more than 24 bits: abs <= m. In: abs(a b) <= m (2^22 - 1), m <= 2^24
///
/// a b = h + l, abs(l) <= u abs(a b). abs(h inverse - h / m) <= abs(h / m) u, so abs(h - q m) <= m / 2 +
/// abs(a b) (1 + u) u, an integer below 2^24. With l that is at most m / 2 + abs(a b) (2 u + u^2) < m.
MM_DEVICE float reduced_product(const Divisor& by, float a, float b) {
  const float high = cuda::multiply(a, b);
  const float low = cuda::fused(a, b, -high);
  return cuda::add(cuda::fused(-quotient(by, high), by.m, high), low);
}

}  // namespace manymod::rns_float
