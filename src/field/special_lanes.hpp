// SPDX-License-Identifier: Apache-2.0
// A field modulo a special prime on instances in the lanes of vectors (field/field.hpp), to be inlined into
// kernels of point arithmetic: everything about the prime is known at compile time. For inclusion in
// instruction-set files only; special_lane_calls.hpp has the same functions for other code.
//
// Ranges: B = 2 p, R = 2^radix_bits(), and digits are always exact
// (modmul/special_primes/lane_arithmetic.hpp). An element of magnitude m is below 2 m p <= 16 p <= W^L.
//   half: (2 m p + p) / 2 <= (floor(m / 2) + 1) 2 p, and 2 m p + p < 16 p for m < 8.
//   neg<k>: 2 k p - a <= 2 k p < (k + 1) 2 p.
#pragma once

#include <cstddef>
#include <cstdint>

#include "field/field.hpp"
#include "modmul/special_primes/inversion_chain.hpp"
#include "modmul/special_primes/lane_arithmetic.hpp"

namespace manymod::field {

/// Arithmetic in kLanes lanes at once. Functions: see field/field.hpp. `Arch`: see lane_arithmetic.hpp. An
/// object has no members, and threads may share it.
template <class Prime, class Arch>
class SpecialLaneField {
  using Arithmetic = special_primes::LaneArithmetic<Prime, Arch>;
  using C = typename Arithmetic::C;

 public:
  using Vector = typename Arch::Vector;
  static constexpr std::size_t kLanes = Arch::kLanes;
  static constexpr std::size_t kDigits = Arithmetic::kDigits;
  static constexpr std::size_t kLimbs = Prime::kLimbs;

  struct Element : Carried {
    typename Arithmetic::Number number;
  };
  using Mask = Vector;
  /// kLimbs limbs of each instance: limb i of lane l at [i kLanes + l]. No alignment is needed.
  using Source = const Limb*;
  using Sink = Limb*;

  static constexpr unsigned radix_bits() { return C::kRadixBits; }

  static void zero(Element& r) {
    Rules::set(r, 1);
    Arithmetic::set_constant(r.number, typename C::Digits{});
  }
  static void one(Element& r) {
    Rules::set(r, 1);
    Arithmetic::set_constant(r.number, kOne);
  }
  static void from_limbs(Element& r, Source x) {
    Rules::set(r, 1);
    Arithmetic::load(r.number, x);
    Arithmetic::enter(r.number, r.number);
    check(r);
  }
  static void to_limbs(Sink x, const Element& a) {
    check(a);
    Rules::read(a);
    typename Arithmetic::Number residue;
    Arithmetic::leave(residue, a.number);
    Arithmetic::canonical(residue, residue);
    Arithmetic::store(x, residue);
  }

  static void mul(Element& r, const Element& a, const Element& b) {
    check(a), check(b);
    Rules::mul(r, a, b);
    Arithmetic::mul(r.number, a.number, b.number);
    check(r);
  }
  static void sqr(Element& r, const Element& a) {
    check(a);
    Rules::sqr(r, a);
    Arithmetic::sqr(r.number, a.number);
    check(r);
  }
  static void add(Element& r, const Element& a, const Element& b) {
    check(a), check(b);
    Rules::add(r, a, b);
    Arithmetic::add(r.number, a.number, b.number);
    check(r);
  }
  template <unsigned kOfB = 1>
  static void sub(Element& r, const Element& a, const Element& b) {
    check(a), check(b);
    Rules::sub<kOfB>(r, a, b);
    Arithmetic::template sub<2 * kOfB>(r.number, a.number, b.number);
    check(r);
  }
  template <unsigned kOfA = 1>
  static void neg(Element& r, const Element& a) {
    check(a);
    Rules::neg<kOfA>(r, a);
    Arithmetic::template neg<2 * kOfA>(r.number, a.number);
    check(r);
  }
  static void half(Element& r, const Element& a) {
    check(a);
    Rules::half(r, a);
    Arithmetic::half(r.number, a.number);
    check(r);
  }
  template <unsigned kOfA = kMaxMagnitude>
  static void normalize_weak(Element& r, const Element& a) {
    check(a);
    Rules::normalize_weak<kOfA>(r, a);
    Arithmetic::reduce_weakly(r.number, a.number);
    check(r);
  }
  // The combinations of field/fused.hpp.
  static void three_halves(Element& r, const Element& a) {
    check(a);
    Rules::read_reduced(a);
    Arithmetic::three_halves(r.number, a.number);
    Rules::set(r, 2);
    check(r);
  }
  static void mul_sub(Element& r, const Element& a, const Element& b, const Element& c, const Element& d)
    requires(Arithmetic::kHasMulSub)
  {
    check(a), check(b), check(c), check(d);
    Rules::mul_sub(r, a, b, c, d);
    Arithmetic::mul_sub(r.number, a.number, b.number, c.number, d.number);
    check(r);
  }
  static void mul_sub_sqr(Element& r, const Element& a, const Element& b, const Element& c)
    requires(Arithmetic::kHasMulSub)
  {
    check(a), check(b), check(c);
    Rules::mul_sub(r, a, b, c, c);
    Arithmetic::mul_sub_sqr(r.number, a.number, b.number, c.number);
    check(r);
  }
  /// r = k a, m(a) <= 2, m(r) = 1, for a public k < 2^20.
  static void mul_small(Element& r, const Element& a, Limb k)
    requires(Arithmetic::kHasMulSmall)
  {
    check(a);
    Rules::sqr(r, a);
    Arithmetic::mul_small(r.number, a.number, k);
    check(r);
  }
  /// r = the sum of kFactor x, m(x) = 1, m(r) = 1.
  template <int... kFactor>
  static void combine(Element& r, const auto&... x) {
    (check(x), ...);
    (Rules::read_reduced(x), ...);
    Arithmetic::template combine<kFactor...>(r.number, x.number...);
    Rules::set(r, 1);
    check(r);
  }

  static void cmov(Element& r, const Element& a, Mask mask) {
    check(a), check(r);
    Rules::cmov(r, a);
    Arithmetic::cmov(r.number, a.number, mask);
  }
  [[nodiscard]] static Mask is_zero(const Element& a) {
    check(a);
    Rules::read_reduced(a);
    return Arithmetic::is_zero(a.number);
  }
  [[nodiscard]] static Mask equal(const Element& a, const Element& b) {
    Rules::read_reduced(a), Rules::read_reduced(b);
    Element difference;
    sub(difference, a, b);
    normalize_weak<2>(difference, difference);
    return is_zero(difference);
  }
  /// By Fermat, some 1.05 kBits products in all lanes: for many elements, see field/batch_inverse.hpp.
  static Mask inverse(Element& r, const Element& a) {
    Rules::read(a);
    Element base;
    normalize_weak(base, a);
    const Mask exists = ~is_zero(base);
    power<Inversion>(r, base);
    return exists;
  }
  /// Modulo p = 3 mod 4: r = a^((p+1)/4), a square root of a if a is a square, m(r) = 1, for any m(a).
  static void square_root(Element& r, const Element& a) {
    Rules::read(a);
    Element base;
    normalize_weak(base, a);
    power<SquareRoot>(r, base);
  }

 private:
  static constexpr typename C::Digits kOne = C::power_of_two(C::kRadixBits);

  struct Inversion {
    static constexpr special_primes::PowerChain kChain = special_primes::inversion_chain<Prime>();
  };
  struct SquareRoot {
    static constexpr special_primes::PowerChain kChain = special_primes::square_root_chain<Prime>();
  };
  /// r = a^e for the exponent of the chain. r must not be a.
  template <class Exponent>
  static void power(Element& r, const Element& a) {
    constexpr const special_primes::PowerChain& kChain = Exponent::kChain;
    Element piece[kChain.pieces];
    piece[0] = a;
    for (unsigned i = 1; i < kChain.pieces; ++i) {
      power_of_two_power(piece[i], piece[i - 1], 1U << (i - 1));
      mul(piece[i], piece[i], piece[i - 1]);
    }
    r = piece[kChain.pieces - 1];
    for (std::size_t i = 0; i < kChain.count; ++i) {
      power_of_two_power(r, r, kChain.step[i].squarings);
      mul(r, r, piece[kChain.step[i].piece]);
    }
    if constexpr (kChain.last_squarings > 0) power_of_two_power(r, r, kChain.last_squarings);
  }

  /// r = a^(2^exponent), exponent >= 1, which is public.
  static void power_of_two_power(Element& r, const Element& a, unsigned exponent) {
    sqr(r, a);
    for (unsigned i = 1; i < exponent; ++i) sqr(r, r);
  }

  /// In VERIFY builds: digits are exact, and a < m(a) 2 p in every lane.
  static void check([[maybe_unused]] const Element& a) {
#if MANYMOD_VERIFY
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1);
    const typename C::Digits bound = C::multiple(2);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::int64_t rest = -1;  // of m 2 p - a - 1
      for (std::size_t i = 0; i < kDigits; ++i) {
        const Limb digit = a.number.digit[i][lane];
        MANYMOD_VERIFY_RANGE(digit <= C::kMask);
        rest = (rest >> Arithmetic::w) + static_cast<std::int64_t>(a.magnitude() * bound[i]) -
               static_cast<std::int64_t>(digit);
      }
      MANYMOD_VERIFY_RANGE(rest >= 0);
    }
#endif
  }
};

}  // namespace manymod::field
