// SPDX-License-Identifier: Apache-2.0
// Products and long division from the top down in digits of 52 bits, W = 2^52, by doubles whose products are
// exact: dpf52/bounds.hpp proves Lemmas 1 to 3. Rounding toward zero is in force. Included by
// kernels.avx2.cpp alone.
//
// The division is that of division.avx512ifma.hpp: a row takes the next digit down and subtracts q D, by
// adding q M - q W^L, M = W^L - D. A row of a product and a row of the division are the same: columns += a
// digit times factors, from the top down, so that the top columns, of which the next quotient digit is
// estimated, are complete first. Columns are in memory, since 16 registers do not hold them; what is loaded
// and stored for a product of digits are instructions for ports that its five of arithmetic leave free.
//
// Columns start at minus the exponents that they take (Lemma 3), so that each is the plain sum when it is
// read: column c of t = x y takes c + 1 low and c high products for c < L, and 2 L - 1 - c low and 2 L - c
// high ones for c >= L. Row r of the division adds low products to columns r to r + L - 1 and high ones to
// r + 1 to r + L. So columns c < L end with twice as many as a product has. A column c >= L is read as the
// top one, T1, by row r = c - L, before which the 2 L - 1 - c rows from L - 1 down to r + 1 have added one of
// each. In the row before, where it is the second one, T0, one low and one high product are missing. A column
// is a sum of at most 4 L halves of products and a part of an addend: below 2^63.
//
// Quotient digits are estimated from the reciprocal V = W^L / D as the sum of two doubles, v1 + v0 <= V < v1
// + v0 + 2^-94, |v0| < 2^-48, and the top two columns as floor((T1 + T0 / W) (v1 + v0)), after T0's carry is
// passed on to T1. T1 v1 is taken apart into its floor and a rest below 1, both exact. Everything is rounded
// down: V, by 2^-42 in the product; one product and two sums, each below 2^5, by less than 2^-46 in all; T0,
// of which a carry from further below is left out, by less than 4 L + 1, so by 2^-39 in the product. So q is
// too small by less than 1 + 2^-38, after which R < (1 + 2^-38) D. The next q then is below 2^52 unless R is
// at least D, as one of 2^38 remainders is. Bits of T1 or q from 2^52 on show such an R, and also one whose
// T1 is negative because a carry is still pending below T0. Such lanes are given up.
#pragma once

#include "modmul/division52/lanes.avx2.hpp"
#include "modmul/division52/products.hpp"

namespace manymod::division52 {
namespace {

/// Eight doubles.
struct Reals {
  __m256d lower, upper;
};

inline Reals real(double x) {
  const __m256d v = _mm256_set1_pd(x);
  return {v, v};
}
inline Reals reals_at(const Limb* p) {
  return {_mm256_castsi256_pd(half_at(p)), _mm256_castsi256_pd(half_at(p + kHalf))};
}
inline Words bits_of(Reals x) { return {_mm256_castpd_si256(x.lower), _mm256_castpd_si256(x.upper)}; }
inline Reals sum(Reals x, Reals y) {
  return {_mm256_add_pd(x.lower, y.lower), _mm256_add_pd(x.upper, y.upper)};
}
inline Reals difference(Reals x, Reals y) {
  return {_mm256_sub_pd(x.lower, y.lower), _mm256_sub_pd(x.upper, y.upper)};
}
inline Reals product(Reals x, Reals y) {
  return {_mm256_mul_pd(x.lower, y.lower), _mm256_mul_pd(x.upper, y.upper)};
}
inline Reals quotient(Reals x, Reals y) {
  return {_mm256_div_pd(x.lower, y.lower), _mm256_div_pd(x.upper, y.upper)};
}
/// x y + z, and z - x y.
inline Reals fused(Reals x, Reals y, Reals z) {
  return {_mm256_fmadd_pd(x.lower, y.lower, z.lower), _mm256_fmadd_pd(x.upper, y.upper, z.upper)};
}
inline Reals fused_negative(Reals x, Reals y, Reals z) {
  return {_mm256_fnmadd_pd(x.lower, y.lower, z.lower), _mm256_fnmadd_pd(x.upper, y.upper, z.upper)};
}

using PW = PairedWords;

constexpr double kDigitOffset = 0x1p52;
constexpr double kHighOffset = 0x1p104;
constexpr double kBothOffsets = 0x1p104 + 0x1p52;
constexpr Limb kLowExponent = Limb{0x433} << kDigitBits;
constexpr Limb kHighExponent = Limb{0x467} << kDigitBits;
constexpr Limb kPairExponent = kHighExponent + kLowExponent;  // modulo 2^64
static_assert(4 * digits_for(kMaxLimbs) + 2 < Limb{1} << (63 - kDigitBits));

/// On input: words of at most 2^52.
inline Reals to_reals(Words x) {
  const Words pattern = PW::add(x, PW::broadcast(kLowExponent));
  return difference({_mm256_castsi256_pd(pattern.lower), _mm256_castsi256_pd(pattern.upper)},
                    real(kDigitOffset));
}

/// The bit patterns of a high and a low half (Lemmas 1 and 2). On input: integers, 0 <= a, b <= 2^52.
struct Halves {
  Words high, low;
};
[[gnu::always_inline]] inline Halves halves(Reals a, Reals b) {
  const Reals high = fused(a, b, real(kHighOffset));
  const Reals low = fused(a, b, difference(real(kBothOffsets), high));
  return {bits_of(high), bits_of(low)};
}

/// The lower digits of a row: columns[0 .. digits - 1) += a factors[0 .. digits - 1), and the top one of
/// them, columns[digits - 1], becomes `pending` and the last high half.
[[gnu::always_inline]] inline void finish_row(Limb* columns, const Limb* factors, std::size_t digits, Reals a,
                                              Words pending) {
#pragma GCC unroll 4
  for (std::size_t j = digits - 1; j > 0; --j) {
    const Halves h = halves(a, reals_at(factors + (j - 1) * kLanes));
    PW::store(columns + j * kLanes, PW::add(pending, h.high));
    pending = PW::add(PW::load(columns + (j - 1) * kLanes), h.low);
  }
  PW::store(columns, pending);
}

/// A division: its columns, its divisor and reciprocal, and the lanes that are out of range.
struct Division {
  Limb* t;
  const Limb* m;
  Reals v1, v0;
  Reals v1_below;  ///< v1 / W
  Words out_of_range = PW::zero();

  Division(Limb* columns, const Divisors& divisors)
      : t(columns),
        m(divisors.negated()),
        v1(reals_at(divisors.reciprocal(0))),
        v0(reals_at(divisors.reciprocal(1))),
        v1_below(product(v1, real(0x1p-52))) {}

  /// A quotient digit, as 2^52 + q.
  [[gnu::always_inline]] inline Reals quotient_digit(const Limb* top) {
    const Words second = PW::add(PW::load(top - kLanes), PW::broadcast(kPairExponent));
    const Words first = PW::add(PW::load(top), PW::shift_right(second, kDigitBits));
    const Reals t1 = to_reals(first);
    const Reals t0 = to_reals(digit_of<PW>(second));
    const Reals offset = real(kDigitOffset);
    const Reals whole = fused(t1, v1, offset);
    const Reals rest = fused(t1, v1, difference(offset, whole));
    const Reals q = sum(whole, sum(rest, fused(t0, v1_below, product(t1, v0))));
    out_of_range = PW::either(out_of_range, first);
    return q;
  }

  /// Row r: takes digit r down and subtracts q D. q: 2^52 + the quotient digit.
  [[gnu::always_inline]] inline void subtract(std::size_t row, std::size_t digits, Reals q) {
    Limb* const columns = t + row * kLanes;
    const Reals digit = difference(q, real(kDigitOffset));
    const Words word = PW::subtract(bits_of(q), PW::broadcast(kLowExponent));
    out_of_range = PW::either(out_of_range, word);
    const Halves h = halves(digit, reals_at(m + (digits - 1) * kLanes));
    // The rest above the top column is the negative of its carry. The shift drops the exponent.
    const Words above = PW::subtract(PW::add(PW::load(columns + digits * kLanes), h.high), word);
    const Words below = PW::add(PW::load(columns + (digits - 1) * kLanes), h.low);
    finish_row(columns, m, digits, digit, PW::add(below, PW::shift_left(above, kDigitBits)));
  }
};

/// What products.hpp asks for.
struct PairedDoubles : PairedWords {
  struct Reciprocal {
    Words v1, v0;
  };

  /// V = 1 / (a + b), where a + b <= 1 is D / W^L from its top two digits, rounded up.
  static Reciprocal reciprocal_of(Words d1, Words d0) {
    const Reals a = product(to_reals(d1), real(0x1p-52));
    const Reals b = product(to_reals(add(d0, broadcast(1))), real(0x1p-104));
    // a + b is rounded down by less than 2^-53, so that v1 <= 1 / (a + b), too small by less than 2^-49.
    const Reals v1 = quotient(real(1), sum(sum(a, b), real(0x1p-52)));
    // E = 1 - (a + b) v1, 0 <= E < 2^-49, is rounded down by less than 2^-100. E v1 instead of E / (a + b) is
    // less than 2^-98 too small.
    const Reals missing = fused_negative(b, v1, fused_negative(a, v1, real(1)));
    return {bits_of(v1), bits_of(product(missing, v1))};
  }

  static void to_factors(Limb* digits, std::size_t count) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < count; ++j) {
      store(digits + j * kLanes, bits_of(to_reals(load(digits + j * kLanes))));
    }
  }

  template <class Count>
  static void multiply(Limb* t, const Limb* x, const Limb* y, Count limbs) {
    const std::size_t digits = digits_for(limbs);
    start_columns(t, digits);
    for (std::size_t i = 0; i < digits; ++i) {
      Limb* const columns = t + i * kLanes;
      const Reals digit = to_reals(load(x + i * kLanes));
      const Halves h = halves(digit, reals_at(y + (digits - 1) * kLanes));
      Limb* const top = columns + digits * kLanes;
      store(top, add(load(top), h.high));
      finish_row(columns, y, digits, digit, add(load(top - kLanes), h.low));
    }
  }

  /// The rows of N divisions in turn: a short row ends before its quotient digit is through the pipeline.
  template <std::size_t N, class Count>
  static void divide(Limb* const (&t)[N], const Divisors (&divisors)[N], Words (&out_of_range)[N], Limb*,
                     Count limbs) {
    const std::size_t digits = digits_for(limbs);
    Division division[]{Division(t[0], divisors[0]), Division(t[N - 1], divisors[N - 1])};
    for (std::size_t row = digits; row-- > 0;) {
      Reals q[N];
      for (std::size_t i = 0; i < N; ++i) q[i] = division[i].quotient_digit(t[i] + (row + digits) * kLanes);
      for (std::size_t i = 0; i < N; ++i) division[i].subtract(row, digits, q[i]);
    }
    for (std::size_t i = 0; i < N; ++i) out_of_range[i] = division[i].out_of_range;
  }

 private:
  /// Minus the exponents of a product and a division.
  static void start_columns(Limb* t, std::size_t digits) {
    const Words two_pairs = broadcast(2 * kPairExponent);
    Words lower = broadcast(0 - 2 * kLowExponent);
    Words upper = broadcast(0 - kHighExponent);
    for (std::size_t j = 0; j < digits; ++j) {
      store(t + j * kLanes, lower);
      store(t + (2 * digits - 1 - j) * kLanes, upper);
      lower = subtract(lower, two_pairs);
      upper = subtract(upper, two_pairs);
    }
  }
};

}  // namespace
}  // namespace manymod::division52
