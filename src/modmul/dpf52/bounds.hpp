// SPDX-License-Identifier: Apache-2.0
// The proof that technique dpf52 is exact, and predicates that test its hypotheses.
//
// Source: Emmart, Zheng, Weems, "Faster Modular Exponentiation using Double Precision Floating Point
// Arithmetic on the GPU" (2018), section I.
//
// rz(x) is x rounded toward zero to a double; fma(a, b, c) = rz(a b + c) is rounded once. Doubles are IEEE
// 754 binary64 with 52 explicit significand bits. The bit pattern of a value in [2^e, 2^(e+1)], where doubles
// have spacing u = 2^(e-52), is (1023 + e) 2^52 + (value - 2^e) / u. This holds at the upper end too, where
// the carry runs into the exponent field.
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
// Lemma 3 (column sums). Bit patterns may be added as integers modulo 2^64: besides the sum of their H and D,
// x high and y low products add (0x467 x + 0x433 y) 2^52 mod 2^64 to a column. A column whose initial value
// is minus that therefore ends as the plain sum, if the sum is below 2^64.
//   A column of a Montgomery product of L digits takes at most L high and L low products of a b, as many of q
//   n, and one carry of at most 2^12. Each H and D is at most 2^52, so the column is at most
//       4 L 2^52 + 2^12 <= 2^64 - 2^53   for   L <= 1023:
//   no column has to be reduced before its carry is taken, and rounding a column up to a multiple of 2^52
//   (Lemma 5) does not overflow either. A squaring forms 2 X + (diagonal), with the same total.
//
// Lemma 4 (quotient digit). For 0 <= t < 2^52, fma(t, k0, 2^104 - fma(t, k0, 2^104)) = t k0 mod 2^52: Lemma 2
//   without the offset 2^52.
//
// Lemma 5 (lowest column). Let c be a complete column and q = c k0 mod 2^52 with k0 = -n^-1 mod 2^52. The low
// product of q and n's lowest digit is then D = -c mod 2^52, and (c + D) / 2^52 = floor((c + 2^52 - 1) /
// 2^52). So D need not be computed.
//
// Lemma 6 (two quotient digits at once). Let k = k0 + 2^52 k1 = -n^-1 mod 2^104, and let c and c' be the two
// lowest columns: t = t0 + 2^52 t1 = c + 2^52 c' mod 2^104, that is t0 = c mod 2^52 and t1 = c' + floor(c /
// 2^52) mod 2^52. The digits of t k mod 2^104 are q0 = t0 k0 mod 2^52 and q1 = floor(t0 k0 / 2^52) + t1 k0 +
// t0 k1 mod 2^52. The exponents in the sum of bit patterns are multiples of 2^52 and vanish in q1.
//
// Range of the result. With R = 2^(52 L), R >= 4 n, a, b < 2 n and 0 <= q <= R - 1: a b < 4 n^2 <= R n, so (a
// b + q n) / R < 2 n. No final subtraction is needed (Orup 1995, Walter 1999). As 2 n <= R / 2, the result
// fits L digits.
#pragma once

#include <cstddef>

#include "repr/canonical.hpp"

namespace manymod::dpf52 {

inline constexpr unsigned kDigitBits = 52;
inline constexpr std::size_t kMinDigits =
    4;  ///< lower limit of the CPU kernels, which unroll the first and last steps of pairs of rows
inline constexpr std::size_t kMaxDigits = 1023;  ///< Lemma 3

/// True if the hypotheses of Lemmas 1 and 2 hold for a and b: integers, 0 <= a, b <= 2^52.
bool satisfies_bounds(double a, double b);

/// True if Lemma 3 holds for Montgomery products of this many digits.
bool columns_fit(std::size_t digits);

/// True if each of `count` words is an exact digit, that is below 2^52. Precondition and postcondition of the
/// CPU kernels.
bool exact_digits(const Limb* words, std::size_t count);

}  // namespace manymod::dpf52
