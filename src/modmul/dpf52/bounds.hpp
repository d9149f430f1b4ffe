// SPDX-License-Identifier: Apache-2.0
// The exactness proof of technique dpf52 and predicates that test its hypotheses.
//
// Emmart, Zheng, Weems, "Faster Modular Exponentiation using Double Precision Floating Point Arithmetic on
// the GPU" (2018), section I. rz(x): the double nearest to x among those of magnitude at most |x|; fma rounds
// a b + c once, by rz. All doubles are IEEE 754 binary64: 52 explicit bits; the bit pattern of a value in
// [2^e, 2^(e+1)] with spacing u = 2^(e-52) is (1023 + e) 2^52 + (value - 2^e) / u, at the upper end too,
// where the carry runs into the exponent field.
//
// Hypotheses: a and b are integers, 0 <= a <= 2^52, 0 <= b <= 2^52. Then a b <= 2^104.
//
// Lemma 1 (high product). p = fma(a, b, 2^104) has the bit pattern 0x467 2^52 + H, H = floor(a b / 2^52).
//   The exact sum is in [2^104, 2^105]. Doubles in [2^104, 2^105) are the multiples of 2^52, and 2^105 is a
//   double. So p = 2^104 + 2^52 H, where 0 <= H <= 2^52. If a b < 2^104, then H < 2^52 and 2^104 is the
//   leading bit; its exponent field is 104 + 1023 = 0x467. If a b = 2^104 (a = b = 2^52), p = 2^105 has the
//   pattern 0x468 2^52 = 0x467 2^52 + 2^52, and H = 2^52. Rounding to nearest would give H + 1 in half of all
//   cases.
//
// Lemma 2 (low product). s = (2^104 + 2^52) - p is exact in every rounding mode, and fma(a, b, s) is exact:
//   its bit pattern is 0x433 2^52 + D, D = a b mod 2^52.
//   s = 2^52 - 2^52 H is 2^52 times an integer of magnitude below 2^52: a double. 2^104 + 2^52 is a double.
//   The exact a b + s = 2^52 + D is an integer in [2^52, 2^53), hence a double, whose exponent field
//   is 52 + 1023 = 0x433. In no case is an operand or a result subnormal, so FTZ and DAZ change nothing.
//
// Lemma 3 (column sums). Bit patterns may be added as integers modulo 2^64: x high and y low products put
//   (0x467 x + 0x433 y) 2^52 modulo 2^64 into a column besides the sum of their H and D. A column that starts
//   at minus that ends as the sum itself, if the sum is below 2^64. A column of a Montgomery product of L
//   digits takes at most L high and L low products of a b, as many of q n, and one carry of at most 2^12.
//   Each H and D is at most 2^52, so the column is at most
//       4 L 2^52 + 2^12 <= 2^64 - 2^53   for   L <= 1023:
//   no column is folded before its turn, and rounding one up to a multiple of 2^52 does not overflow either.
//   A squaring forms 2 X + (diagonal), with the same total.
//
// Lemma 4 (quotient digit). For 0 <= t < 2^52, fma(t, k0, 2^104 - fma(t, k0, 2^104)) = t k0 mod 2^52: Lemma 2
//   without the offset 2^52.
//
// Lemma 5 (lowest column). If c is a complete column and q = c k0 mod 2^52, k0 = -n^-1 mod 2^52, then the low
//   product of q and n's lowest digit is D = -c mod 2^52, and (c + D) / 2^52 = floor((c + 2^52 - 1) / 2^52):
//   D itself is never computed.
//
// Lemma 6 (two quotient digits at once). Let k = k0 + 2^52 k1 = -n^-1 mod 2^104, c and c' the two lowest
//   columns and t = t0 + 2^52 t1 = c + 2^52 c' mod 2^104: t0 = c mod 2^52, t1 = c' + floor(c / 2^52) mod
//   2^52. The digits of t k mod 2^104 are q0 = t0 k0 mod 2^52 and q1 = floor(t0 k0 / 2^52) + t1 k0 + t0 k1
//   mod 2^52. The exponents in the sum of bit patterns are multiples of 2^52 and vanish in q1.
//
// Range of the result: with R = 2^(52 L), a b < 4 n^2 <= R n and 0 <= q <= R - 1, (a b + q n) / R < 2n. No
// final subtraction is needed (Orup 1995, Walter 1999), if R >= 4n. As 2n <= R / 2, its digits do not
// overflow.
#pragma once

#include <cstddef>

#include "repr/canonical.hpp"

namespace manymod::dpf52 {

inline constexpr unsigned kDigitBits = 52;
inline constexpr std::size_t kMinDigits = 4;     ///< of the kernels, which peel the ends of pairs of rows
inline constexpr std::size_t kMaxDigits = 1023;  ///< Lemma 3

/// The hypotheses of Lemmas 1 and 2 hold for these two doubles.
bool satisfies_bounds(double a, double b);

/// Lemma 3 holds for Montgomery products of this many digits.
bool columns_fit(std::size_t digits);

/// Every one of `count` words is an exact digit, below 2^52: the kernels' precondition.
bool exact_digits(const Limb* words, std::size_t count);

}  // namespace manymod::dpf52
