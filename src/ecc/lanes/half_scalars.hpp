// SPDX-License-Identifier: Apache-2.0
// Fractions of half length that stand for scalars: for a scalar k < n the kernel finds integers rho and tau
// with
//
//   rho = tau k mod h n,   tau odd,   0 < tau < n,   |rho| and tau of the order of sqrt(h n),
//
// in the lanes of vectors, in variable time. For inclusion in instruction-set files only.
//
// Use (Antipa, Brown, Gallant, Lambert, Struik, Vanstone, "Accelerated verification of ECDSA signatures", SAC
// 2005; Pornin, "Optimized lattice basis reduction in dimension 2, and fast Schnorr and EdDSA signature
// verification", 2020). Whether the point D = u G + k P - R is 0 is seen from tau D = (tau u mod n) G + rho P
// - tau R, which takes half of the doublings. The group has h n points, where h is a power of two and n a
// prime, and tau is prime to h n. Therefore tau D = 0 if and only if D = 0, whatever the orders of P and R
// are. A congruence modulo n alone would not do: rho P and tau k P could be different points where the order
// of P does not divide n.
//
// Reduction. The vectors (r, t) with r = t k mod h n form a lattice with the basis (h n, 0), (k, 1). From a
// basis (r0, t0), (r1, t1), a step r0 -= q r1, t0 -= q t1, or the same with the indices exchanged, leads to
// another basis, for every integer q. With q = round(r0 / r1) the steps are Euclid's algorithm with least
// absolute remainders. It stops when one of the remainders, say r1, is short: |r1| < S <= |r0|, where S =
// 2^ceil(b / 2) for h n of b bits. As |r0 t1 - r1 t0| = h n in every basis, |t1| < 4/3 h n / S as a rule; no
// proof uses this. t0 and t1 are not both even, as (k, 1) is in the lattice. If t1 is odd, the result is
// (r1, t1); else it is (r0 - c r1, t0 - c t1), with an integer c for which both numbers have about the same
// length. If that is not shorter than (k, 1), the result is (k, 1).
//
// Exactness. Quotients come from approximations in double precision, as in Lehmer's algorithm (1938): a pass
// collects some steps in a matrix of two rows, and then applies it to the digits of r0, r1, t0 and t1. The
// absolute values in a row have a sum of at most E = 2^24. Entries and digits are integers in double
// precision, and their products and sums are below 2^53, so that they are exact in every rounding mode, with
// or without fused multiply-add. Therefore a wrong quotient makes the result longer, but not wrong.
//   Digits have 24 bits: |digit| <= 2^24, except that the highest digit has no carry out. With |carry| <=
//   2^25, |digit before its carry out| <= E 2^24 + 2^25 < 2^49.
//   |t0|, |t1| <= E^passes, and |tau| <= (E + 1) E^passes < 2^(b_n - 1) < n for n of b_n bits.
//   |r0|, |r1| < 2 h n: a pass makes none of them larger than the larger one was before, except for errors of
//   the approximations, which are at most 2^-20 times as large.
// |rho| < n and tau < n, as the result is not longer than (k, 1).
//
// Length. Where t is even in the shortest vector, the shortest one of those with an odd t may be longer than
// sqrt(h n). As the product of the lengths of both is about h n, it is x bits longer in about one of 8 4^x
// cases.
#pragma once

#include <cstddef>

#include "arch/unaligned_vectors.hpp"
#include "core/limb.hpp"

namespace manymod::ecc::lanes {

/// `Arch`: see modmul/special_primes/lane_arithmetic.hpp. Numbers have kLimbs limbs, n has kOrderBits bits,
/// and h is 2^kCofactorBits.
template <class Arch, std::size_t kLimbs, unsigned kOrderBits, unsigned kCofactorBits>
class HalfScalars {
  using Vector = typename Arch::Vector;
  using Vectors = UnalignedVectors<Arch>;
  typedef double Doubles __attribute__((vector_size(sizeof(Vector))));
  typedef long long Integers __attribute__((vector_size(sizeof(Vector))));
  static constexpr std::size_t kLanes = Arch::kLanes;
  static constexpr unsigned kBits = kOrderBits + kCofactorBits;
  static constexpr unsigned kDigitBits = 24;
  static constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;
  static constexpr double kRadix = 0x1p24;
  static constexpr std::size_t kDigits = (kBits + kDigitBits - 1) / kDigitBits;
  /// E. Quotients have |q| <= E / 2.
  static constexpr double kMaxSum = 0x1p24;
  static constexpr unsigned kMaxPasses = (kOrderBits - 26) / 24;
  /// A pass has 2 kPairs quotients; on average nine fill the 24 bits of E.
  static constexpr unsigned kPairs = 6;
  static_assert(24 * kMaxPasses + 25 < kOrderBits && kMaxPasses + 2 <= kDigits);

  struct Number {
    Doubles digit[kDigits];
  };
  /// A row (u, w) of a matrix, and an approximation of r = u r0 + w r1.
  struct Row {
    Doubles u, w, r;
  };

 public:
  /// The numbers of a vector, limb i of lane l at [i kLanes + l].
  struct Results {
    Limb* rho;       ///< twice |rho|
    Limb* tau;       ///< twice tau
    Limb* negative;  ///< all ones where rho < 0, else 0
  };

  /// On input: k < n; modulus = h n, one number for all lanes. The steps of kCount vectors are interleaved,
  /// as each step of a vector waits for the division in the step before it.
  template <std::size_t kCount>
  static void split(const Results (&results)[kCount], const Limb* const (&k)[kCount], const Limb* modulus) {
    HalfScalars state[kCount];
    for (std::size_t i = 0; i < kCount; ++i) state[i].set_basis(k[i], modulus);
    Steps steps[kCount];
    for (unsigned pass = 0; pass < kMaxPasses; ++pass) {
      Vector is_unfinished{};
      for (std::size_t i = 0; i < kCount; ++i) {
        steps[i].begin(approximate(state[i].r0_), approximate(state[i].r1_));
        is_unfinished |= is_long(steps[i].row[0].r) & is_long(steps[i].row[1].r);
      }
      if (!any(is_unfinished)) break;
      for (unsigned half = 0; half < 2 * kPairs; ++half) {
        for (std::size_t i = 0; i < kCount; ++i) steps[i].reduce(half % 2);
      }
      for (std::size_t i = 0; i < kCount; ++i) {
        apply(state[i].r0_, state[i].r1_, steps[i].row, kDigits);
        apply(state[i].t0_, state[i].t1_, steps[i].row, pass + 3 < kDigits ? pass + 3 : kDigits);
      }
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      state[i].choose(k[i]);
      state[i].store(results[i]);
    }
  }

 private:
  Number r0_, r1_, t0_, t1_;

  /// (r0, t0) = (h n, 0) and (r1, t1) = (k, 1).
  void set_basis(const Limb* k, const Limb* modulus) {
    from_limbs(r1_, k);
    t0_ = t1_ = {};
    t1_.digit[0] = Doubles{} + 1;
    for (std::size_t i = 0; i < kDigits; ++i) {
      const std::size_t limb = i * kDigitBits / kLimbBits, shift = i * kDigitBits % kLimbBits;
      Limb bits = modulus[limb] >> shift;
      if (shift > kLimbBits - kDigitBits && limb + 1 < kLimbs)
        bits |= modulus[limb + 1] << (kLimbBits - shift);
      r0_.digit[i] = Doubles{} + static_cast<double>(bits & kDigitMask);
    }
  }

  /// r = the numbers of a vector, whose limbs are in `words`. 0x4330000000000000 is 2^52 in double precision;
  /// its lowest bit counts 1.
  static void from_limbs(Number& r, const Limb* words) {
    for (std::size_t i = 0; i < kDigits; ++i) {
      const std::size_t limb = i * kDigitBits / kLimbBits, shift = i * kDigitBits % kLimbBits;
      Vector bits = Vectors::load(words, limb) >> shift;
      if (shift > kLimbBits - kDigitBits && limb + 1 < kLimbs)
        bits |= Vectors::load(words, limb + 1) << (kLimbBits - shift);
      r.digit[i] = reinterpret_cast<Doubles>((bits & kDigitMask) | Limb{0x4330000000000000}) - 0x1p52;
    }
  }

  // ---- numbers in double precision ----------------------------------------------------------------------

  static Vector bits_of(Doubles x) { return reinterpret_cast<Vector>(x); }
  static Doubles select(Vector mask, Doubles x, Doubles y) {
    return reinterpret_cast<Doubles>((bits_of(x) & mask) | (bits_of(y) & ~mask));
  }
  static Doubles absolute(Doubles x) { return reinterpret_cast<Doubles>(bits_of(x) & (~Limb{0} >> 1)); }
  static Vector sign_of(Doubles x) { return bits_of(x) & (Limb{1} << 63); }
  static Doubles with_sign(Doubles x, Vector sign) { return reinterpret_cast<Doubles>(bits_of(x) ^ sign); }
  static Vector less(Doubles x, Doubles y) { return reinterpret_cast<Vector>(x < y); }
  static Doubles larger(Doubles x, Doubles y) { return select(less(x, y), y, x); }
  /// For |x| < 2^51, x + kRounding is rounded to an integer, which is in its low bits.
  static constexpr double kRounding = 0x1.8p52;
  static Doubles rounded(Doubles x) { return (x + kRounding) - kRounding; }
  /// The integer x in two's complement. On input: |x| < 2^51.
  static Vector integer(Doubles x) { return bits_of(x + kRounding) - bits_of(Doubles{} + kRounding); }
  static bool any(Vector mask) {
    Limb all = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) all |= mask[lane];
    return all != 0;
  }

  /// x with about 52 bits of precision. Its sign is right, as the digits below one that is not 0 do not
  /// outweigh it.
  static Doubles approximate(const Number& x) {
    Doubles r = x.digit[kDigits - 1];
    for (std::size_t i = kDigits - 1; i-- > 0;) r = r * kRadix + x.digit[i];
    return r;
  }
  /// Whether |r| >= S.
  static Vector is_long(Doubles r) { return ~less(absolute(r), Doubles{} + kShort); }
  static constexpr double power_of_two(unsigned exponent) {
    return exponent == 0 ? 1 : 2 * power_of_two(exponent - 1);
  }
  /// More than the relative errors of the approximations of r0 and r1, also where a row combines them.
  static constexpr double kError = 0x1p-46;
  /// S.
  static constexpr double kShort = power_of_two((kBits + 1) / 2);

  // ---- steps --------------------------------------------------------------------------------------------

  /// The steps of a pass, computed with approximations.
  struct Steps {
    Row row[2];
    Doubles error0, error1;  ///< upper bounds of the errors of r0 and r1 at the beginning of the pass

    void begin(Doubles r0, Doubles r1) {
      const Doubles one = Doubles{} + 1, zero{};
      row[0] = {one, zero, r0};
      row[1] = {zero, one, r1};
      error0 = absolute(r0) * kError;
      error1 = absolute(r1) * kError;
    }
    /// row[index] -= q row[1 - index], where q is the rounded quotient of their r, limited to |q| <= E / 2.
    /// It is 0 where r of the other row is below S, where that may consist of errors alone, as after a large
    /// quotient, and where the sum of absolute values in row[index] would exceed E.
    void reduce(unsigned index) {
      Row& x = row[index];
      const Row& y = row[1 - index];
      const Doubles error = absolute(y.u) * error0 + absolute(y.w) * error1;
      const Vector is_useful = is_long(y.r) & ~less(absolute(y.r), error);
      Doubles q = x.r / select(is_useful, y.r, Doubles{} + 1);
      const Vector is_small = less(absolute(q), Doubles{} + kMaxSum / 2);
      q = rounded(select(is_small, q, with_sign(Doubles{} + kMaxSum / 2, sign_of(q))));
      const Doubles sum = absolute(x.u - q * y.u) + absolute(x.w - q * y.w);
      q = select(is_useful & ~less(Doubles{} + kMaxSum, sum), q, Doubles{});
      x.u -= q * y.u;
      x.w -= q * y.w;
      x.r -= q * y.r;
    }
  };
  /// (x, y) = (u x + w y, u' x + w' y) for the rows (u, w) and (u', w'). On input: the digits of x and y from
  /// `digits` on are 0, and stay so.
  static void apply(Number& x, Number& y, const Row (&row)[2], std::size_t digits) {
    Doubles carry_x{}, carry_y{};
    for (std::size_t i = 0; i + 1 < digits; ++i) {
      const Doubles a = row[0].u * x.digit[i] + row[0].w * y.digit[i] + carry_x;
      const Doubles b = row[1].u * x.digit[i] + row[1].w * y.digit[i] + carry_y;
      carry_x = rounded(a / kRadix);
      carry_y = rounded(b / kRadix);
      x.digit[i] = a - carry_x * kRadix;
      y.digit[i] = b - carry_y * kRadix;
    }
    const Doubles top = x.digit[digits - 1];
    x.digit[digits - 1] = row[0].u * top + row[0].w * y.digit[digits - 1] + carry_x;
    y.digit[digits - 1] = row[1].u * top + row[1].w * y.digit[digits - 1] + carry_y;
  }

  // ---- the result ---------------------------------------------------------------------------------------

  /// Makes (r1, t1) the result, up to the sign.
  void choose(const Limb* k) {
    const Vector is_reversed = less(absolute(approximate(r0_)), absolute(approximate(r1_)));
    exchange_where(is_reversed, r0_, r1_);
    exchange_where(is_reversed, t0_, t1_);
    const Doubles r0 = approximate(r0_), r1 = approximate(r1_), t1 = approximate(t1_);
    Doubles c = r0 / (r1 + with_sign(absolute(t1), sign_of(r1)));
    const Vector is_small = less(absolute(c), Doubles{} + kMaxSum);
    c = rounded(select(is_small, c, with_sign(Doubles{} + kMaxSum, sign_of(c))));
    const Vector is_odd = Vector{} - (integer(t1_.digit[0]) & 1);
    const Doubles one = Doubles{} + 1, zero{};
    const Row row[2] = {{one, zero, zero}, {select(is_odd, zero, one), select(is_odd, one, -c), zero}};
    apply(r0_, r1_, row, kDigits);
    apply(t0_, t1_, row, kDigits);
    Number whole;
    from_limbs(whole, k);
    const Vector is_shorter =
        less(larger(absolute(approximate(r1_)), absolute(approximate(t1_))), approximate(whole));
    for (std::size_t i = 0; i < kDigits; ++i) {
      r1_.digit[i] = select(is_shorter, r1_.digit[i], whole.digit[i]);
      t1_.digit[i] = select(is_shorter, t1_.digit[i], i == 0 ? one : zero);
    }
  }
  static void exchange_where(Vector mask, Number& x, Number& y) {
    for (std::size_t i = 0; i < kDigits; ++i) {
      const Doubles digit = x.digit[i];
      x.digit[i] = select(mask, y.digit[i], digit);
      y.digit[i] = select(mask, digit, y.digit[i]);
    }
  }
  /// Writes the result: (r1, t1) where t1 > 0, (-r1, -t1) where t1 < 0.
  void store(const Results& results) const {
    const Vector sign = sign_of(approximate(t1_));
    const Vector sign_of_r = sign_of(approximate(r1_)) ^ sign;
    write(results.tau, t1_, sign);
    write(results.rho, r1_, sign_of(approximate(r1_)));
    Vectors::store(results.negative, 0, Vector{} - (sign_of_r >> 63));
  }
  /// words = 2 |x|, where `sign` is the sign bit of x.
  static void write(Limb* words, const Number& x, Vector sign) {
    Vector word[kLimbs] = {};
    Integers carry{};
    for (std::size_t i = 0; i < kDigits; ++i) {
      carry += reinterpret_cast<Integers>(integer(with_sign(x.digit[i], sign)));
      const Vector digit = reinterpret_cast<Vector>(carry) & kDigitMask;
      carry >>= kDigitBits;
      const std::size_t bit = i * kDigitBits + 1, limb = bit / kLimbBits, shift = bit % kLimbBits;
      word[limb] |= digit << shift;
      if (shift > kLimbBits - kDigitBits && limb + 1 < kLimbs) word[limb + 1] |= digit >> (kLimbBits - shift);
    }
    for (std::size_t i = 0; i < kLimbs; ++i) Vectors::store(words, i, word[i]);
  }
};

}  // namespace manymod::ecc::lanes
