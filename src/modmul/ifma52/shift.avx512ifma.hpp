// SPDX-License-Identifier: Apache-2.0
// Multiplication by a power of two modulo n, a step of a long division at a time. Included by
// kernels.avx512ifma.cpp alone.
//
// A step computes a 2^k - q n, where q = floor((a 2^k / n) (1 - e)) is estimated by doubles from the top four
// digits of a and n, and k <= kStepBits. With n >= 2^(52 (L - 3)) the digits left out of either are less than
// 2^-52 n: those of n change the quotient by a relative error below 2^-52, those of a make it smaller by less
// than 2^(k - 52). All roundings, of whatever mode, and the reciprocal change it by a relative error below
// 2^-48. The factor 1 - 2^-47 makes up for what could make q too large; q is too small by less than 1 + 2^(k
// - 52) + 2^-46 a 2^k / n. From a < 2 n this leaves a remainder below n + 2^-9 n + 2^-46 2^44 n < 1.3 n, the
// input of the next step. A q is below 2^44.
//
// Timing: constant-time. The doubles are 0 or between 2^-256 and 2^256: no operand takes a slower path
// through the floating-point unit, in any mode of the caller.
#pragma once

#include "modmul/ifma52/products.avx512ifma.hpp"

namespace manymod::ifma52 {
namespace {

constexpr unsigned kStepBits = 43;
constexpr std::size_t kTopDigits = 4;

// The compiler's own operations: GCC 12 warns of what some intrinsics leave undefined.
inline Vector up(Vector a, unsigned bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(a) << bits);
}
inline Vector down(Vector a, unsigned bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(a) >> bits);
}
/// The same of signed words.
inline Vector signed_down(Vector a, unsigned bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8di>(a) >> bits);
}

inline __m512d to_doubles(Vector a) { return __builtin_convertvector(reinterpret_cast<__v8du>(a), __v8df); }
/// On input: 0 <= a < 2^64. @return floor(a)
inline Vector to_integers(__m512d a) { return reinterpret_cast<Vector>(__builtin_convertvector(a, __v8du)); }

/// 2^bits.
inline __m512d power_of_two(unsigned bits) {
  return reinterpret_cast<__m512d>(broadcast((Limb{1023} + bits) << 52));
}

/// The number that the top digits of each lane form. On input: exact digits.
inline __m512d top_of(const Limb* a, std::size_t digits) {
  const std::size_t lowest = digits > kTopDigits ? digits - kTopDigits : 0;
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t d = digits; d-- > lowest;) {
    sum = _mm512_fmadd_pd(sum, _mm512_set1_pd(0x1p52), to_doubles(load(a + d * kLanes)));
  }
  return sum;
}

/// 1 / x, with a relative error below 2^-50. Divisions may take a time that depends on their operands.
inline __m512d reciprocal_of(__m512d x) {
  // The difference from this constant negates the exponent and inverts the fraction, wrong by a sixteenth at
  // most. Each step squares the relative error.
  constexpr Limb kNegatesExponents = 0x7FDE000000000000;
  const __m512d two = _mm512_set1_pd(2);
  auto y =
      reinterpret_cast<__m512d>(_mm512_sub_epi64(broadcast(kNegatesExponents), reinterpret_cast<Vector>(x)));
  for (int i = 0; i < 4; ++i) y = _mm512_mul_pd(y, _mm512_fnmadd_pd(x, y, two));
  return y;
}

/// a = a 2^bits - q n. On input: exact digits, 0 < bits < 52, 0 <= a 2^bits - q n < R. On output: exact
/// digits.
inline void subtract_multiple(Limb* a, const Limb* n, Vector q, std::size_t digits, unsigned bits) {
  const Vector mask = broadcast((Limb{1} << kDigitBits) - 1);
  Vector carry = zero();  // signed
  Vector digit_below = zero();
  Vector factor_below = zero();
  for (std::size_t at = 0; at < digits * kLanes; at += kLanes) {
    const Vector digit = load(a + at);
    const Vector factor = load(n + at);
    Vector product = zero();
    add_low(product, q, factor);
    add_high(product, q, factor_below);
    const Vector shifted = add(_mm512_and_si512(up(digit, bits), mask), down(digit_below, kDigitBits - bits));
    const Vector sum = add(_mm512_sub_epi64(shifted, product), carry);
    store(a + at, _mm512_and_si512(sum, mask));
    carry = signed_down(sum, kDigitBits);
    digit_below = digit;
    factor_below = factor;
  }
}

void shift_mod(Limb* a, const Limb* modulus, std::size_t digits, std::size_t bits) {
  const __m512d scale = _mm512_mul_pd(reciprocal_of(top_of(modulus, digits)), _mm512_set1_pd(1 - 0x1p-47));
  for (std::size_t left = bits; left > 0;) {
    const auto step = static_cast<unsigned>(left < kStepBits ? left : kStepBits);
    const __m512d power = power_of_two(step);
    const __m512d quotient = _mm512_mul_pd(_mm512_mul_pd(top_of(a, digits), scale), power);
    subtract_multiple(a, modulus, to_integers(quotient), digits, step);
    left -= step;
  }
}

}  // namespace
}  // namespace manymod::ifma52
