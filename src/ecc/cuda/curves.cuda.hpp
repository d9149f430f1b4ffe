// SPDX-License-Identifier: Apache-2.0
// The curves that the kernels are compiled for: y^2 = x^3 + a x + b over special primes, of prime order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/single_thread.cuda.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "field/device.cuda.hpp"
#include "field/special.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"

namespace manymod::ecc::cuda {

/// A field whose products are called instead of inlined: for code that runs rarely, and for the widest
/// fields, where the instruction cache could not hold a formula with all of its products.
template <class Prime>
class CalledField : public field::SpecialField<Prime> {
  using Base = field::SpecialField<Prime>;

 public:
  using Element = typename Base::Element;

  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) const { call_mul(r, a, b); }
  MM_DEVICE void sqr(Element& r, const Element& a) const { call_sqr(r, a); }
  MM_DEVICE void mul_sub(Element& r, const Element& a, const Element& b, const Element& c,
                         const Element& d) const
    requires Base::kSettlesTop
  {
    call_mul_sub(r, a, b, c, d);
  }
  MM_DEVICE void mul_sub_sqr(Element& r, const Element& a, const Element& b, const Element& c) const
    requires Base::kSettlesTop
  {
    call_mul_sub_sqr(r, a, b, c);
  }

 private:
  MM_DEVICE_CALL static void call_mul_sub(Element& r, const Element& a, const Element& b, const Element& c,
                                          const Element& d) {
    Base().mul_sub(r, a, b, c, d);
  }
  MM_DEVICE_CALL static void call_mul_sub_sqr(Element& r, const Element& a, const Element& b,
                                              const Element& c) {
    Base().mul_sub_sqr(r, a, b, c);
  }
  MM_DEVICE_CALL static void call_mul(Element& r, const Element& a, const Element& b) { Base().mul(r, a, b); }
  MM_DEVICE_CALL static void call_sqr(Element& r, const Element& a) { Base().sqr(r, a); }
};

/// A field modulo any prime, field::DeviceField, whose products are calls: that of scalars, or of
/// coordinates. So are sums of wide fields, whose operands are in memory anyway.
template <class Base>
class CalledScalars : public Base {
  static constexpr bool kCallsSums = Base::kWords >= 16;

 public:
  using Element = typename Base::Element;
  using Mask = typename Base::Mask;

  MM_DEVICE explicit CalledScalars(const Base& base) : Base(base) {}

  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) const { call_mul(*this, r, a, b); }
  MM_DEVICE void sqr(Element& r, const Element& a) const { call_sqr(*this, r, a); }
  MM_DEVICE void add(Element& r, const Element& a, const Element& b) const {
    if constexpr (kCallsSums) {
      call_add(*this, r, a, b);
    } else {
      Base::add(r, a, b);
    }
  }
  template <unsigned kOfB = 1>
  MM_DEVICE void sub(Element& r, const Element& a, const Element& b) const {
    if constexpr (kCallsSums) {
      call_sub<kOfB>(*this, r, a, b);
    } else {
      Base::template sub<kOfB>(r, a, b);
    }
  }
  MM_DEVICE void to_montgomery(Element& r, const Element& a) const { mul(r, a, this->squared_radix()); }
  MM_DEVICE void from_montgomery(Element& r, const Element& a) const { call_from_montgomery(*this, r, a); }
  MM_DEVICE void from_limbs(Element& r, const integers::Words& x) const {
    this->load(r, x);
    to_montgomery(r, r);
  }
  MM_DEVICE void to_limbs(const integers::WordsOut& x, const Element& a) const {
    Element number;
    from_montgomery(number, a);
    this->store(x, number);
  }
  [[nodiscard]] MM_DEVICE Mask is_zero(const Element& a) const {
    Element number, nothing;
    from_montgomery(number, a);
    this->zero(nothing);
    return this->same(number, nothing);
  }
  [[nodiscard]] MM_DEVICE Mask equal(const Element& a, const Element& b) const {
    Element difference;
    sub(difference, a, b);
    this->template normalize_weak<2>(difference, difference);
    return is_zero(difference);
  }

 private:
  MM_DEVICE_CALL static void call_mul(const Base& f, Element& r, const Element& a, const Element& b) {
    f.mul(r, a, b);
  }
  MM_DEVICE_CALL static void call_sqr(const Base& f, Element& r, const Element& a) { f.sqr(r, a); }
  MM_DEVICE_CALL static void call_add(const Base& f, Element& r, const Element& a, const Element& b) {
    f.add(r, a, b);
  }
  template <unsigned kOfB>
  MM_DEVICE_CALL static void call_sub(const Base& f, Element& r, const Element& a, const Element& b) {
    f.template sub<kOfB>(r, a, b);
  }
  MM_DEVICE_CALL static void call_from_montgomery(const Base& f, Element& r, const Element& a) {
    f.from_montgomery(r, a);
  }
};

/// kHotInline: whether additions and doublings are part of the loops around them; else they are called. On an
/// H100 P-256 loses a third where its products are calls, and P-384 an eighth.
/// kHalves: whether it is secp256k1, whose endomorphism halves scalars.
template <class PrimeClass, unsigned kBits, jacobian::CoefficientA kCoefficientA, bool kHalves = false>
struct Weierstrass {
  using Prime = PrimeClass;
  using RareField = CalledField<Prime>;
  static constexpr bool kHotInline = Prime::kWords <= 8;
  static constexpr bool kCallsProducts = Prime::kWords > 12;
  // nvcc 13.0 miscompiles a doubling that is inlined into a loop while its products are called: it stores
  // alpha over X, which the next product reads. A doubling that is a function of its own is compiled
  // correctly.
  static_assert(!(kHotInline && kCallsProducts), "products may be calls only in formulas that are called");
  using Field = std::conditional_t<kCallsProducts, RareField, field::SpecialField<Prime>>;
  using Element = typename Field::Element;
  using Point = jacobian::Point<Field>;
  using Affine = jacobian::AffinePoint<Field>;
  using InlineScalars = field::DeviceField<kBits, 1, field::Row32, SingleThread>;
  // tests/cmake/check_device_secrets.py could not follow the address of a field's working memory through a
  // call.
  static constexpr bool kCallsScalars = Prime::kWords > 8 && InlineScalars::kSharedWords == 0;
  using Scalars = std::conditional_t<kCallsScalars, CalledScalars<InlineScalars>, InlineScalars>;
  static constexpr jacobian::CoefficientA kA = kCoefficientA;
  static constexpr unsigned kWords = Field::kWords;
  static constexpr unsigned kRowWords = (kWords + 1) / 2 * 2;  ///< of a coordinate or scalar in memory
  static constexpr unsigned kOrderBits = kBits;
  static constexpr bool kEndomorphism = kHalves;
  static constexpr unsigned kOrderWords = (kBits + 31) / 32;
  static constexpr unsigned kScalarBytes = (kBits + 7) / 8;
  static constexpr unsigned kNonceRounds = 1;  ///< candidates of RFC 6979: 2^bits - n is small

  /// By how many bits kScalarBytes bytes are longer than n.
  MM_DEVICE static constexpr unsigned surplus_bits(const CurveNumbers& /*curve*/) {
    return 8 * kScalarBytes - kBits;
  }
  template <class F = Field>
  MM_DEVICE static jacobian::Coefficient<F, kA> coefficient() {
    return {};
  }
};

using P256 = Weierstrass<special_primes::P256, 256, jacobian::CoefficientA::minus_three>;
using Sm2 = Weierstrass<special_primes::Sm2, 256, jacobian::CoefficientA::minus_three>;
using Secp256k1 = Weierstrass<special_primes::Secp256k1, 256, jacobian::CoefficientA::zero, true>;
using P384 = Weierstrass<special_primes::P384, 384, jacobian::CoefficientA::minus_three>;
using P521 = Weierstrass<special_primes::P521, 521, jacobian::CoefficientA::minus_three>;

}  // namespace manymod::ecc::cuda
