// SPDX-License-Identifier: Apache-2.0
// A field on instances in the lanes of vectors (field/field.hpp), to be inlined into kernels of point
// arithmetic, over arithmetic of one number of digits. For inclusion in instruction-set files only.
//
// Ranges: B = 2 p, and digits of Elements are exact. An element of magnitude m is below 2 m p <= 16 p <= W^L.
//   half: (2 m p + p) / 2 <= (floor(m / 2) + 1) 2 p, and 2 m p + p < 16 p for m < 8.
//   neg<k>: 2 k p - a <= 2 k p < (k + 1) 2 p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "field/field.hpp"

namespace manymod::field {

/// Arithmetic in kLanes lanes at once. Functions: see field/field.hpp. `OfDigits` is
/// special_primes::LaneArithmetic or montgomery_lanes::LaneArithmetic, `Powers` has inverse(f, r, a) and
/// square_root(f, r, a). Threads may share an object.
template <class OfDigits, class Powers>
class InlinedLaneField {
 public:
  using Arithmetic = OfDigits;
  using Vector = typename Arithmetic::Vector;
  static constexpr std::size_t kLanes = Arithmetic::kLanes;
  static constexpr std::size_t kDigits = Arithmetic::kDigits;

  template <class Number>
  struct Form : Carried {
    Number number;
  };
  using Element = Form<typename Arithmetic::Number>;
  // See field/uncarried.hpp. Where the arithmetic has no such numbers, these are Elements.
  using Uncarried = Form<typename Arithmetic::Uncarried>;
  using Unmasked = Form<typename Arithmetic::Unmasked>;
  using Mask = Vector;
  /// limbs() limbs of each instance, below 2 p where p is known at run time: limb i of lane l at [i kLanes +
  /// l]. No alignment is needed.
  using Source = const Limb*;
  using Sink = Limb*;

  constexpr InlinedLaneField() = default;
  explicit InlinedLaneField(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  [[nodiscard]] const Arithmetic& arithmetic() const { return arithmetic_; }
  [[nodiscard]] constexpr std::size_t limbs() const { return arithmetic_.limbs(); }

  void zero(auto& r) const {
    Rules::set(r, 1);
    arithmetic_.set_zero(r.number);
  }
  void one(auto& r) const {
    Rules::set(r, 1);
    arithmetic_.set_one(r.number);
  }
  void from_limbs(Element& r, Source x) const {
    Rules::set(r, 1);
    arithmetic_.from_limbs(r.number, x);
    check(r);
  }
  void to_limbs(Sink x, const Element& a) const {
    check(a);
    Rules::read(a);
    arithmetic_.to_limbs(x, a.number);
  }

  // Which forms results, factors and summands may have: field/uncarried.hpp. Others do not compile.
  void mul(auto& r, const auto& a, const auto& b) const {
    check_factors(a, b);
    Rules::mul(r, a, b);
    arithmetic_.mul(r.number, a.number, b.number);
    check(r);
  }
  void sqr(auto& r, const auto& a) const {
    check_factors(a);
    Rules::sqr(r, a);
    arithmetic_.sqr(r.number, a.number);
    check(r);
  }
  void add(auto& r, const auto& a, const auto& b) const {
    check_summands(a, b);
    Rules::add(r, a, b);
    arithmetic_.add(r.number, a.number, b.number);
    check(r);
  }
  template <unsigned kOfB = 1>
  void sub(auto& r, const auto& a, const auto& b) const {
    check_summands(a, b);
    Rules::sub<kOfB>(r, a, b);
    arithmetic_.template sub<2 * kOfB>(r.number, a.number, b.number);
    check(r);
  }
  template <unsigned kOfA = 1>
  void neg(Element& r, const Element& a) const {
    check(a);
    Rules::neg<kOfA>(r, a);
    arithmetic_.template neg<2 * kOfA>(r.number, a.number);
    check(r);
  }
  void half(Element& r, const Element& a) const {
    check(a);
    Rules::half(r, a);
    arithmetic_.half(r.number, a.number);
    check(r);
  }
  template <unsigned kOfA = kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    check(a);
    Rules::normalize_weak<kOfA>(r, a);
    arithmetic_.reduce_weakly(r.number, a.number);
    check(r);
  }
  // The combinations of field/fused.hpp.
  void three_halves(Element& r, const auto& a) const {
    check_summands(a);
    Rules::read_reduced(a);
    arithmetic_.three_halves(r.number, a.number);
    Rules::set(r, 2);
    check(r);
  }
  void mul_sub(Element& r, const auto& a, const auto& b, const auto& c, const auto& d) const
    requires(Arithmetic::kHasMulSub)
  {
    check_factors(a, b, c, d);
    Rules::mul_sub(r, a, b, c, d);
    arithmetic_.mul_sub(r.number, a.number, b.number, c.number, d.number);
    check(r);
  }
  void mul_sub_sqr(Element& r, const auto& a, const auto& b, const auto& c) const
    requires(Arithmetic::kHasMulSub)
  {
    check_factors(a, b, c);
    Rules::mul_sub(r, a, b, c, c);
    arithmetic_.mul_sub_sqr(r.number, a.number, b.number, c.number);
    check(r);
  }
  /// r = k a, m(a) <= 2, m(r) = 1, for a public k < 2^20.
  void mul_small(auto& r, const auto& a, Limb k) const
    requires(Arithmetic::kHasMulSmall)
  {
    check_factors(a);
    Rules::sqr(r, a);
    arithmetic_.mul_small(r.number, a.number, k);
    check(r);
  }
  /// r = the sum of kFactor x, m(x) = 1, m(r) = 1.
  template <int... kFactor>
  void combine(auto& r, const auto&... x) const {
    check_summands(x...);
    (Rules::read_reduced(x), ...);
    arithmetic_.template combine<kFactor...>(r.number, x.number...);
    Rules::set(r, 1);
    check(r);
  }

  /// r = a in another form (field/uncarried.hpp).
  void convert(auto& r, const auto& a) const {
    check_summands(a);
    Rules::set(r, a.magnitude());
    arithmetic_.convert(r.number, a.number);
    check(r);
  }
  template <class N>
  void cmov(N& r, const N& a, Mask mask) const {
    check(a), check(r);
    Rules::cmov(r, a);
    arithmetic_.cmov(r.number, a.number, mask);
  }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    check(a);
    Rules::read_reduced(a);
    return arithmetic_.is_zero(a.number);
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    Rules::read_reduced(a), Rules::read_reduced(b);
    Element difference;
    sub<1>(difference, a, b);
    normalize_weak<2>(difference, difference);
    return is_zero(difference);
  }
  /// By Fermat, some 1.05 products or more a bit of p in all lanes: for many elements, see
  /// field/batch_inverse.hpp.
  Mask inverse(Element& r, const Element& a) const {
    Rules::read(a);
    Element base;
    normalize_weak(base, a);
    const Mask exists = ~is_zero(base);
    Powers::inverse(*this, r, base);
    return exists;
  }
  /// Modulo p = 3 mod 4: r = a^((p+1)/4), a square root of a if a is a square, m(r) = 1, for any m(a).
  void square_root(Element& r, const Element& a) const {
    Rules::read(a);
    Element base;
    normalize_weak(base, a);
    Powers::square_root(*this, r, base);
  }
  /// Modulo special primes p = 3 mod 4: r = a^((p-3)/4), an inverse square root of a if a is a square,
  /// likewise.
  void inverse_square_root(Element& r, const Element& a) const {
    Rules::read(a);
    Element base;
    normalize_weak(base, a);
    Powers::inverse_square_root(*this, r, base);
  }
  /// r = a^(2^exponent), exponent >= 1, which is public. m(a) <= 2.
  void power_of_two_power(Element& r, const Element& a, unsigned exponent) const {
    sqr(r, a);
    for (unsigned i = 1; i < exponent; ++i) sqr(r, r);
  }

 private:
  [[no_unique_address]] Arithmetic arithmetic_;

  template <class N>
  static constexpr bool kIsFactor = std::is_same_v<N, Element> || std::is_same_v<N, Unmasked>;
  template <class N>
  static constexpr bool kIsSummand = std::is_same_v<N, Element> || std::is_same_v<N, Uncarried>;
  template <class... N>
  void check_factors(const N&... a) const {
    static_assert((kIsFactor<N> && ...));
    (check(a), ...);
  }
  template <class... N>
  void check_summands(const N&... a) const {
    static_assert((kIsSummand<N> && ...));
    (check(a), ...);
  }
  /// In VERIFY builds: a < m(a) 2 p in every lane, and its digits are those of its form.
  template <class N>
  void check([[maybe_unused]] const N& a) const {
#if MANYMOD_VERIFY
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::int64_t rest = -1;  // of m 2 p - a - 1
      for (std::size_t i = 0; i < kDigits; ++i) {
        Limb digit = a.number.digit[i][lane];
        if constexpr (std::is_same_v<N, Element>) {
          MANYMOD_VERIFY_RANGE(digit >> Arithmetic::w == 0);
        } else if constexpr (std::is_same_v<N, Uncarried>) {
          const Limb lent = i + 1 == kDigits ? Limb{1} << Arithmetic::w : 0;
          MANYMOD_VERIFY_RANGE((digit + lent) >> Arithmetic::kUncarriedBits == 0);
        } else {
          digit &= (Limb{1} << Arithmetic::w) - 1;
        }
        rest = (rest >> Arithmetic::w) + static_cast<std::int64_t>(a.magnitude() * arithmetic_.bound(i)) -
               static_cast<std::int64_t>(digit);
      }
      MANYMOD_VERIFY_RANGE(rest >= 0);
    }
#endif
  }
};

}  // namespace manymod::field
