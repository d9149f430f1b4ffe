// SPDX-License-Identifier: Apache-2.0
// Curves y^2 = x^3 + a x + b modulo any prime, whose numbers kernels read from memory, and their points in
// homogeneous coordinates. The formulas are complete (ecc/formulas/complete.hpp) on curves of odd order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/portable.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/single_thread.cuda.hpp"
#include "ecc/formulas/complete.hpp"

namespace manymod::ecc::cuda {

/// Curves modulo primes of at most kFieldBits bits. Rows of coordinates have curve.row_words words, kWords at
/// most; those of scalars curve.scalar_words, as the order may have a bit more than the prime.
template <unsigned kFieldBits>
struct AnyWeierstrass {
  static constexpr unsigned kWords = kFieldBits / 32;
  // From 16 words on with operands in the local memory of called products.
  using Inline =
      field::DeviceField<kFieldBits, 1, std::conditional_t<(kWords < 16), field::Row32, field::Row32Called>,
                         SingleThread>;
  // tests/cmake/check_device_secrets.py could not follow the address of a field's working memory through a
  // call.
  static_assert(Inline::kSharedWords == 0);
  using Field = CalledScalars<Inline>;
  /// The field for code that takes a small part of the time: compact rather than fast.
  using RareField = std::conditional_t<(kWords > 8), Field, Inline>;
  using Element = typename Field::Element;
  using Point = ProjectivePoint<Field>;
  using Affine = AffinePoint<Field>;
  using Coefficients = WeierstrassCoefficients<Field>;
  static_assert(Field::kElementWords == kWords);
  static constexpr unsigned kMostOrderBits = kFieldBits + 1;
  static constexpr unsigned kMostOrderWords = kWords + 1;

  // Only for curves with a cofactor of 1, whose orders are as long as their primes; the meanings are those in
  // Weierstrass (curves.cuda.hpp):
  using InlineScalars = Inline;
  using Scalars = RareField;
  static constexpr unsigned kRowWords = kWords;
  static constexpr unsigned kOrderWords = kWords;
  static constexpr unsigned kScalarBytes = 4 * kWords;
  static constexpr unsigned kNonceRounds = 16;
  /// By how many bits kScalarBytes bytes are longer than n.
  MM_DEVICE static unsigned surplus_bits(const CurveNumbers& curve) {
    return 8 * kScalarBytes - curve.order_bits;
  }
};

/// A coordinate in memory.
MM_DEVICE integers::Words coordinate(const CurveNumbers& curve, const std::uint32_t* row) {
  return {row, curve.row_words};
}
MM_DEVICE integers::WordsOut coordinate_out(const CurveNumbers& curve, std::uint32_t* row) {
  return {row, curve.row_words};
}

/// Row `index` of those that CurveNumbers::rows lists, which have kWords words each.
template <class C>
MM_DEVICE integers::Words number_row(const CurveNumbers& curve, unsigned index) {
  return row_words<C::kWords>(curve.rows + std::size_t{index} * C::kWords);
}

/// The field of coordinates.
template <class C>
MM_DEVICE typename C::Inline any_field(const CurveNumbers& curve) {
  return C::Inline::with_radix_squared(number_row<C>(curve, CurveNumbers::kPrime),
                                       number_row<C>(curve, CurveNumbers::kRadixSquared), LaneMemory{},
                                       SingleThread{});
}
/// The same for what takes a small part of the time.
template <class C>
MM_DEVICE typename C::RareField rare_field(const CurveNumbers& curve) {
  return typename C::RareField(any_field<C>(curve));
}

/// What functions that are called read of a curve.
template <class C>
struct AnyNumbers {
  typename C::Field field;
  typename C::Coefficients coefficients;

  MM_DEVICE explicit AnyNumbers(const CurveNumbers& curve) : field(any_field<C>(curve)) {
    field.from_limbs(coefficients.a, number_row<C>(curve, CurveNumbers::kA));
    field.from_limbs(coefficients.b3, number_row<C>(curve, CurveNumbers::kB3));
  }
};

/// The points of one curve. Numbers that branches depend on are members of this class and not of AnyNumbers:
/// functions that are called get the address of AnyNumbers, and tests/cmake/check_device_secrets.py could
/// not tell these numbers from secrets that the functions may have written there.
template <class C>
class AnyGroup {
 public:
  using Field = typename C::Field;
  using Element = typename C::Element;
  using Point = typename C::Point;
  using Affine = typename C::Affine;

  MM_DEVICE AnyGroup(const AnyNumbers<C>& numbers, bool a_is_zero)
      : field_(numbers.field), numbers_(numbers.coefficients), a_is_zero_(a_is_zero) {}

  MM_DEVICE const Field& field() const { return field_; }

  MM_DEVICE void set_infinity(Point& r) const {
    field_.zero(r.x);
    field_.one(r.y);
    field_.zero(r.z);
  }
  MM_DEVICE void set_affine(Point& r, const integers::Words& x, const integers::Words& y) const {
    field_.from_limbs(r.x, x);
    field_.from_limbs(r.y, y);
    field_.one(r.z);
  }
  MM_DEVICE void twice(Point& r) const {
    if (a_is_zero_) {
      twice_on<CoefficientA::zero>(field_, numbers_, r);
    } else {
      twice_on<CoefficientA::any>(field_, numbers_, r);
    }
  }
  MM_DEVICE void add(Point& r, const Point& q) const {
    if (a_is_zero_) {
      add_on<CoefficientA::zero>(field_, numbers_, r, q);
    } else {
      add_on<CoefficientA::any>(field_, numbers_, r, q);
    }
  }
  MM_DEVICE void add(Point& r, const Affine& q) const {
    if (a_is_zero_) {
      add_affine_on<CoefficientA::zero>(field_, numbers_, r, q);
    } else {
      add_affine_on<CoefficientA::any>(field_, numbers_, r, q);
    }
  }
  /// y = -y where the mask is set.
  MM_DEVICE void negate_where(Element& y, std::uint32_t mask) const {
    Element negative;
    field_.template neg<1>(negative, y);
    field_.template normalize_weak<2>(negative, negative);
    field_.cmov(y, negative, mask);
  }
  /// r = p where the mask is set.
  MM_DEVICE void select(Point& r, const Point& p, std::uint32_t mask) const {
    field_.cmov(r.x, p.x, mask);
    field_.cmov(r.y, p.y, mask);
    field_.cmov(r.z, p.z, mask);
  }

 private:
  const Field& field_;
  const typename C::Coefficients& numbers_;
  bool a_is_zero_;

  template <CoefficientA kA>
  MM_DEVICE_CALL static void twice_on(const Field& f, const typename C::Coefficients& numbers, Point& r) {
    complete::twice<kA>(f, numbers, r, r);
  }
  template <CoefficientA kA>
  MM_DEVICE_CALL static void add_on(const Field& f, const typename C::Coefficients& numbers, Point& r,
                                    const Point& q) {
    complete::add<kA>(f, numbers, r, r, q);
  }
  template <CoefficientA kA>
  MM_DEVICE_CALL static void add_affine_on(const Field& f, const typename C::Coefficients& numbers, Point& r,
                                           const Affine& q) {
    complete::add_affine<kA>(f, numbers, r, r, q);
  }
};

using Any256 = AnyWeierstrass<256>;
using Any384 = AnyWeierstrass<384>;
using Any512 = AnyWeierstrass<512>;
using Any640 = AnyWeierstrass<640>;

}  // namespace manymod::ecc::cuda
