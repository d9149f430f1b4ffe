// SPDX-License-Identifier: Apache-2.0
// Remainders of integers in binary32. u = 2^-24; every integer of magnitude up to 2^24 is a binary32 value.
//
// Residues are centred: a quotient rounded to nearest leaves a remainder of either sign and of magnitude
// about m / 2 at most, and no correction follows. docs/rns/floating_point.md, "Centred channels", has the
// proofs.
#pragma once

#include "arch/cuda/singles.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::rns_float {

/// 1.5 2^23. For abs(y) < 2^22 the sum y + 1.5 2^23 is in [2^23, 2^24), where the unit in the last place is
/// 1: adding it and subtracting it again leaves the integer nearest to y.
inline constexpr float kToInteger = 0x1.8p23F;

/// A modulus with its reciprocal.
struct Divisor {
  float m;
  float inverse;  ///< 1 / m, rounded to nearest
};

/// The integer nearest to x inverse. On input: abs(x / m) (1 + u) < 2^22.
MM_DEVICE float quotient(const Divisor& by, float x) {
  return cuda::subtract(cuda::fused(x, by.inverse, kToInteger), kToInteger);
}

/// x mod m: abs(r) <= m / 2 + 1, and abs(r) <= (m + 1) / 2 for odd m. On input: x is an integer, abs(x) <=
/// 2^24, m >= 5.
///
/// abs(x inverse - x / m) <= abs(x / m) u <= 1 / m, so abs(q - x / m) <= 1 / 2 + 1 / m. x - q m is an integer
/// of magnitude below 2^24, so the fused operation yields it exactly.
MM_DEVICE float reduce(const Divisor& by, float x) { return cuda::fused(-quotient(by, x), by.m, x); }

/// a b mod m for products of more than 24 bits: abs(r) <= m. On input: abs(a b) <= m (2^22 - 1), m <= 2^24.
///
/// a b = h + l, abs(l) <= u abs(a b). abs(h inverse - h / m) <= abs(h / m) u, so abs(h - q m) <= m / 2 +
/// abs(a b) (1 + u) u, an integer below 2^24. With l added it is at most m / 2 + abs(a b) (2 u + u^2) < m.
MM_DEVICE float reduced_product(const Divisor& by, float a, float b) {
  const float high = cuda::multiply(a, b);
  const float low = cuda::fused(a, b, -high);
  return cuda::add(cuda::fused(-quotient(by, high), by.m, high), low);
}

}  // namespace manymod::rns_float
