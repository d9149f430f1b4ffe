// SPDX-License-Identifier: Apache-2.0
// Fractions of half length that stand for scalars: for k < n the kernel finds rho and tau with
//
//   rho = tau k mod h n,   tau odd,   0 < tau < n,   |rho|, tau about sqrt(h n),
//
// in the lanes of vectors, in variable time. For inclusion in instruction-set files only.
//
// Use (Antipa, Brown, Gallant, Lambert, Struik, Vanstone, "Accelerated verification of ECDSA signatures", SAC
// 2005; Pornin, "Optimized lattice basis reduction in dimension 2, and fast Schnorr and EdDSA signature
// verification", 2020): for D = u G + k P - R the point tau D = (tau u mod n) G + rho P - tau R takes half of
// the doublings. On a group of order h n, where h is a power of two, tau is prime to h n, so that tau D = 0
// exactly if D = 0, whatever the orders of P and R are. Modulo n alone, rho P would be another point than
// tau k P where the order of P does not divide n.
//
// Reduction. The vectors (r, t) with r = t k mod h n are a lattice with the basis (h n, 0), (k, 1). Steps
// r0 -= q r1, t0 -= q t1, or with exchanged indices, lead from one basis to another for every integer q; q =
// round(r0 / r1) makes it Euclid's algorithm with least absolute remainders, which stops, up to the names of
// both vectors, with |r1| < S <= |r0|, S = 2^half. |r0 t1 - r1 t0| = h n then gives |t1| < 4/3 h n / S as a
// rule, which is no part of any proof. t0 and t1 are not both even, as the two vectors are a basis and (k, 1)
// is in the lattice. If t1 is odd, the result is (r1, t1); else (r0 - c r1, t0 - c t1) with an integer c that
// makes both about as long. If that is not shorter than (k, 1), the result is (k, 1).
//
// Exactness. Quotients come from approximations, as in Lehmer's algorithm (1938): some steps are collected in
// a matrix, whose rows have a sum of magnitudes of at most E = 2^24, and which is then applied to the digits
// of r and t. All numbers of which these consist are integers below 2^53 in double precision, so that sums
// and products are exact in every rounding mode, with or without fused multiply-add. Wrong quotients
// therefore cost length only.
//   Digits have 24 bits, |digit| <= 2^24: E 2^24 and a carry of at most 2^25 are below 2^49. The highest
//   digit takes what is left over.
//   |t| <= E^passes, and at most E + 1 times that at the end, which is below 2^(order_bits - 1) < n.
//   r does not grow, but for errors of approximations, 2^-20 times as large as r0 was: |r| < 2 h n.
// The result is shorter than n, as it is not longer than (k, 1).
//
// Length. Where the shortest vector has an even t, the shortest of those with an odd t may be longer than
// sqrt(h n), but as the product of both lengths is about h n, it has x bits more in one of some 8 4^x cases.
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
  /// E. A quotient is at most half of it.
  static constexpr double kMaxSum = 0x1p24;
  static constexpr unsigned kMaxPasses = (kOrderBits - 26) / 24;
  /// Quotients of a pass, in pairs: nine quotients have 24 bits on average.
  static constexpr unsigned kPairs = 6;
  static_assert(24 * kMaxPasses + 25 < kOrderBits && kMaxPasses + 2 <= kDigits);

  struct Number {
    Doubles digit[kDigits];
  };
  /// A row of a matrix, and about what it makes of (r0, r1).
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

  /// On input: k < n; modulus = h n, one number. kCount vectors, whose steps take turns: each waits for the
  /// quotient before it.
  template <std::size_t kCount>
  static void split(const Results (&results)[kCount], const Limb* const (&k)[kCount], const Limb* modulus) {
    HalfScalars state[kCount];
    for (std::size_t i = 0; i < kCount; ++i) state[i].enter_basis(k[i], modulus);
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
      state[i].leave(results[i]);
    }
  }

 private:
  Number r0_, r1_, t0_, t1_;

  void enter_basis(const Limb* k, const Limb* modulus) {
    enter(r1_, k);
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

  static void enter(Number& r, const Limb* words) {
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
  /// Added to a number below 2^51, it leaves an integer in the low bits.
  static constexpr double kRounding = 0x1.8p52;
  static Doubles rounded(Doubles x) { return (x + kRounding) - kRounding; }
  /// An integer in two's complement.
  static Vector integer(Doubles x) { return bits_of(x + kRounding) - bits_of(Doubles{} + kRounding); }
  static bool any(Vector mask) {
    Limb all = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) all |= mask[lane];
    return all != 0;
  }

  /// x to about 52 bits, with its sign: no digit outweighs one that is not 0 before it.
  static Doubles approximate(const Number& x) {
    Doubles r = x.digit[kDigits - 1];
    for (std::size_t i = kDigits - 1; i-- > 0;) r = r * kRadix + x.digit[i];
    return r;
  }
  /// Whether steps by this remainder are left.
  static Vector is_long(Doubles r) { return ~less(absolute(r), Doubles{} + kShort); }
  static constexpr double power_of_two(unsigned exponent) {
    return exponent == 0 ? 1 : 2 * power_of_two(exponent - 1);
  }
  /// More than the relative errors of approximations of which one is a combination.
  static constexpr double kError = 0x1p-46;
  static constexpr double kShort = power_of_two((kBits + 1) / 2);

  // ---- steps --------------------------------------------------------------------------------------------

  /// Some steps by approximations.
  struct Steps {
    Row row[2];
    Doubles error0, error1;

    void begin(Doubles r0, Doubles r1) {
      const Doubles one = Doubles{} + 1, zero{};
      row[0] = {one, zero, r0};
      row[1] = {zero, one, r1};
      error0 = absolute(r0) * kError;
      error1 = absolute(r1) * kError;
    }
    /// Takes a multiple of the other row away from a row: 0 where r of the other is short, where it may
    /// consist of errors, as after a large quotient, or where the sum would be too large.
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
  /// x and y become the combinations of both by the rows.
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

  /// (r1, t1) becomes the result.
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
    enter(whole, k);
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
  void leave(const Results& results) const {
    const Vector sign = sign_of(approximate(t1_));
    const Vector sign_of_r = sign_of(approximate(r1_)) ^ sign;
    write(results.tau, t1_, sign);
    write(results.rho, r1_, sign_of(approximate(r1_)));
    Vectors::store(results.negative, 0, Vector{} - (sign_of_r >> 63));
  }
  /// Twice the number, whose sign is given, without it.
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
