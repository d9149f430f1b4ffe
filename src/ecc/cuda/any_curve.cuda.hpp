// SPDX-License-Identifier: Apache-2.0
// Points and signatures on curves y^2 = x^3 + a x + b modulo any prime, by one thread for each item.
//
// The formulas are complete (ecc/formulas/complete.hpp) on curves of odd order: there are no exceptional
// cases, and no points of the curve for which results are wrong, whatever their order. Digits of scalars are
// signed, of kPointWindow bits (Booth 1951), so that the multiples 1 to 8 of a point are its table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/device_call.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/decoding.cuda.hpp"
#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/single_thread.cuda.hpp"
#include "ecc/formulas/complete.hpp"

namespace manymod::ecc::cuda {

/// Curves modulo primes of at most kFieldBits bits, in rows of as many.
template <unsigned kFieldBits>
struct AnyWeierstrass {
  using Inline = field::DeviceField<kFieldBits, 1, field::Row32, SingleThread>;
  // The check of secrets would lose the address of a field's working memory in a call.
  static_assert(Inline::kSharedWords == 0, "too wide: the field needs working memory");
  using Field = CalledScalars<Inline>;
  using Element = typename Field::Element;
  using Point = ProjectivePoint<Field>;
  using Coefficients = WeierstrassCoefficients<Field>;
  static constexpr unsigned kWords = Field::kWords;
  static_assert(Field::kElementWords == kWords);

  // Of curves with a cofactor of 1, whose orders are as long as their primes. As Weierstrass
  // (curves.cuda.hpp) has them:
  using InlineScalars = Inline;
  using Scalars = std::conditional_t<(kWords > 8), Field, Inline>;
  static constexpr unsigned kRowWords = kWords;
  static constexpr unsigned kOrderWords = kWords;
  static constexpr unsigned kScalarBytes = 4 * kWords;
  static constexpr unsigned kNonceRounds = 16;
  MM_DEVICE static unsigned surplus_bits(const CurveNumbers& curve) { return curve.surplus_bits; }
};

/// Row `index` of those that CurveNumbers::rows lists.
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

/// The points of one curve. What branches depend on is not in AnyNumbers, whose address calls get: the check
/// of secrets would not know it from what they write.
template <class C>
class AnyGroup {
 public:
  using Field = typename C::Field;
  using Element = typename C::Element;
  using Point = typename C::Point;

  MM_DEVICE AnyGroup(const AnyNumbers<C>& numbers, bool a_is_zero)
      : field_(numbers.field), numbers_(numbers.coefficients), a_is_zero_(a_is_zero) {}

  MM_DEVICE const Field& field() const { return field_; }

  MM_DEVICE void set_infinity(Point& r) const {
    field_.zero(r.x);
    field_.one(r.y);
    field_.zero(r.z);
  }
  MM_DEVICE void enter(Point& r, const std::uint32_t* x, const std::uint32_t* y) const {
    field_.from_limbs(r.x, row_words<C::kWords>(x));
    field_.from_limbs(r.y, row_words<C::kWords>(y));
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
  /// y = -y where the mask is set.
  MM_DEVICE void negate_where(Point& r, std::uint32_t mask) const {
    Element negative;
    field_.template neg<1>(negative, r.y);
    field_.template normalize_weak<2>(negative, negative);
    field_.cmov(r.y, negative, mask);
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
};

inline constexpr unsigned kAnyEntries = 1u << (kPointWindow - 1);

/// P, 2 P, .., kAnyEntries P.
template <class C>
MM_DEVICE void multiples(const AnyGroup<C>& group, typename C::Point (&table)[kAnyEntries],
                         const typename C::Point& p) {
  table[0] = p;
  MM_ROLLED
  for (unsigned i = 1; i < kAnyEntries; ++i) {
    table[i] = table[i - 1];
    group.add(table[i], p);
  }
}

/// A digit d = +-index, 0 <= index <= kAnyEntries.
struct SignedDigit {
  unsigned index;
  std::uint32_t negative;  ///< a mask
};

/// Digit i of k = sum of d_i 2^(w i), w = kPointWindow, 0 <= i <= 32 words / w: from the bits b of k at w i -
/// 1 to w i + w - 1, d = floor((b + 1) / 2) - 2^w (the highest bit of b).
MM_DEVICE SignedDigit booth_digit(const std::uint32_t* k, unsigned words, unsigned i) {
  constexpr unsigned kMask = (2u << kPointWindow) - 1;
  const unsigned at = i * kPointWindow + 31;  // 32 bits above that of the lowest bit: a word of 0 is below k
  const unsigned word = at / 32;
  const std::uint32_t low = word == 0 ? 0 : k[word - 1], high = word < words ? k[word] : 0;
  const std::uint32_t bits = manymod::cuda::shift_right(low, high, at % 32) & kMask;
  const std::uint32_t negative = manymod::cuda::opaque(0 - (bits >> kPointWindow));
  // floor((b + 1) / 2), or 2^w less that, which is floor((2^(w+1) - b) / 2).
  return {((bits ^ (negative & kMask)) + 1) / 2, negative};
}

/// r = the multiple of a digit, from a scan of all entries where kSecret.
template <bool kSecret, class C>
MM_DEVICE void table_multiple(const AnyGroup<C>& group, typename C::Point& r,
                              const typename C::Point (&table)[kAnyEntries], const SignedDigit& digit) {
  group.set_infinity(r);
  if constexpr (kSecret) {
    MM_ROLLED
    for (unsigned i = 0; i < kAnyEntries; ++i) {
      const std::uint32_t other = integers::mask_if_not_zero(digit.index ^ (i + 1));
      group.select(r, table[i], manymod::cuda::opaque(~other));
    }
  } else {
    if (digit.index != 0) r = table[digit.index - 1];
  }
  group.negate_where(r, digit.negative);
}

template <class C>
MM_DEVICE void store_projective(const PointJob& job, std::uint32_t item, const AnyGroup<C>& group,
                                const typename C::Point& p) {
  const std::size_t column = std::size_t{C::kWords} * job.count;
  store_element(group.field(), Column{job.result, job.count, item}, p.x);
  store_element(group.field(), Column{job.result + column, job.count, item}, p.y);
  store_element(group.field(), Column{job.result + 2 * column, job.count, item}, p.z);
}

/// k P. Constant-time. On input: item < job.count.
template <class C>
MM_DEVICE void multiply_any(const PointJob& job, std::uint32_t item) {
  const AnyNumbers<C> numbers(job.curve);
  const AnyGroup<C> group(numbers, job.curve.a_is_zero != 0);
  typename C::Point table[kAnyEntries], sum, entry;
  group.enter(entry, job.x.at(item), job.y.at(item));
  multiples<C>(group, table, entry);
  group.set_infinity(sum);
  const unsigned words = job.curve.scalar_words;
  MM_ROLLED
  for (unsigned left = 32 * words / kPointWindow + 1; left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < kPointWindow; ++i) group.twice(sum);
    const SignedDigit digit = booth_digit(job.scalar.at(own_item(item)), words, left - 1);
    table_multiple<true, C>(group, entry, table, digit);
    group.add(sum, entry);
  }
  store_projective<C>(job, own_item(item), group, sum);
}

/// u G + v P, public. On input: item < job.count.
template <class C>
MM_DEVICE void multiply_two_any(const PointJob& job, std::uint32_t item) {
  const AnyNumbers<C> numbers(job.curve);
  const AnyGroup<C> group(numbers, job.curve.a_is_zero != 0);
  typename C::Point table[kAnyEntries], base_table[kAnyEntries], sum, entry;
  group.enter(entry, job.x.at(item), job.y.at(item));
  multiples<C>(group, table, entry);
  const std::uint32_t* const rows = job.curve.rows;
  group.enter(entry, rows + CurveNumbers::kBaseX * C::kWords, rows + CurveNumbers::kBaseY * C::kWords);
  multiples<C>(group, base_table, entry);
  group.set_infinity(sum);
  const unsigned words = job.curve.scalar_words;
  MM_ROLLED
  for (unsigned left = 32 * words / kPointWindow + 1; left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < kPointWindow; ++i) group.twice(sum);
    table_multiple<false, C>(group, entry, table, booth_digit(job.scalar.at(item), words, left - 1));
    group.add(sum, entry);
    table_multiple<false, C>(group, entry, base_table,
                             booth_digit(job.base_scalar.at(item), words, left - 1));
    group.add(sum, entry);
  }
  store_projective<C>(job, item, group, sum);
}

/// Whether the number is below p.
template <class C>
MM_DEVICE bool below(const std::uint32_t* row, const std::uint32_t* p) {
  static_cast<void>(manymod::cuda::sub_cc(row[0], p[0]));
  MM_UNROLL
  for (unsigned j = 1; j < C::kWords; ++j) static_cast<void>(manymod::cuda::subc_cc(row[j], p[j]));
  return manymod::cuda::subc(0, 0) != 0;
}

/// Whether the point is on the curve, with coordinates below p: 3 (y^2 - x^3 - a x) = 3 b.
template <class C>
MM_DEVICE void check_point_any(const PointJob& job, std::uint32_t item) {
  using Element = typename C::Element;
  const typename C::Inline f = any_field<C>(job.curve);
  Element x, y, left, right, a;
  f.from_limbs(x, row_words<C::kWords>(job.x.at(item)));
  f.from_limbs(y, row_words<C::kWords>(job.y.at(item)));
  f.from_limbs(a, number_row<C>(job.curve, CurveNumbers::kA));
  f.sqr(left, y);
  f.sqr(right, x);
  f.add(right, right, a);
  f.mul(right, right, x);
  f.sub(left, left, right);
  f.template normalize_weak<2>(left, left);
  f.add(right, left, left);
  f.add(left, right, left);
  f.template normalize_weak<4>(left, left);
  f.from_limbs(right, number_row<C>(job.curve, CurveNumbers::kB3));
  const std::uint32_t* const p = job.curve.rows + CurveNumbers::kPrime * C::kWords;
  const bool in_range = below<C>(job.x.at(item), p) && below<C>(job.y.at(item), p);
  if (f.equal(left, right) == 0 || !in_range) job.valid[item] = 0;
}

/// X / Z and Y / Z, or 0 where Z is 0. The items of thread `thread` < job.threads.
template <class C>
MM_DEVICE void normalise_any(const AffineJob& job, std::uint32_t thread) {
  using Element = typename C::Element;
  const typename C::Inline f = any_field<C>(job.curve);
  const std::size_t count = job.count, column = C::kWords * count;
  const auto load_z = [&](std::uint32_t item, Element& z) {
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    Element one;
    f.one(one);
    f.cmov(z, one, f.is_zero(z));
  };
  const auto use = [&](std::uint32_t item, const Element& inverse) {
    Element coordinate, z, zero;
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    const std::uint32_t infinite = f.is_zero(z);
    f.zero(zero);
    const auto leave = [&](const std::uint32_t* from, const RowsOut& to) {
      load_element(f, coordinate, ConstColumn{from, count, item});
      f.mul(coordinate, coordinate, inverse);
      f.cmov(coordinate, zero, infinite);
      f.to_limbs(row_out<C::kWords>(to.at(item)), coordinate);
    };
    leave(job.point, job.x);
    if (job.y.words != nullptr) leave(job.point + column, job.y);
    if (job.infinity != nullptr) job.infinity[item] = static_cast<std::uint8_t>(infinite & 1);
  };
  invert_chain(f, Chain{thread, job.threads, job.count}, job.scratch, count, load_z, use);
}

/// r Z = X or (r + n) Z = X, and Z is not 0. On input: item < job.count.
template <class C>
MM_DEVICE void compare_x_any(const VerifyCompareJob& job, std::uint32_t item) {
  const typename C::Inline f = any_field<C>(job.curve);
  const std::size_t count = job.count, column = C::kWords * count;
  typename C::Element x, z;
  load_element(f, x, ConstColumn{job.point, count, item});
  load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
  const std::uint32_t* const p = job.curve.rows + CurveNumbers::kPrime * C::kWords;
  const auto below_p = [p](const std::uint32_t* number) { return below<C>(number, p); };
  const bool same = is_x_modulo_order<C>(job, item, f, x, z, below_p);
  const bool on_curve = job.on_curve == nullptr || job.on_curve[item] != 0;
  if (!same || f.is_zero(z) != 0 || !on_curve) job.valid[item] = 0;
}

/// As decode_compressed. Where p is not 3 modulo 4, what is found is no root: the item is not good.
template <class C>
MM_DEVICE void decode_compressed_any(const DecodeJob& job, std::uint32_t item) {
  using Element = typename C::Element;
  const typename C::Field f(any_field<C>(job.curve));
  const std::uint32_t* const p = job.curve.rows + CurveNumbers::kPrime * C::kWords;
  std::uint32_t words[C::kWords];
  const std::uint32_t tag = compressed_words(words, job.from.at(item), job.from.size, job.coordinate_bytes);
  Element x, y, right, term;
  f.from_limbs(x, row_words<C::kWords>(words));
  f.sqr(right, x);
  f.from_limbs(term, number_row<C>(job.curve, CurveNumbers::kA));
  f.add(right, right, term);
  f.mul(right, right, x);
  f.from_limbs(term, row_words<C::kWords>(job.curve.b));
  f.add(right, right, term);
  f.template normalize_weak<2>(right, right);
  square_root(f, y, right, RootExponent<C::kWords>::make([p](unsigned j) { return p[j]; }));
  f.sqr(term, y);
  const bool is_point = below<C>(words, p) && f.equal(term, right) != 0;
  std::uint32_t* const row = job.y.at(item);
  f.to_limbs(row_out<C::kWords>(row), y);
  f.template neg<1>(term, y);
  f.template normalize_weak<2>(term, term);
  f.cmov(y, term, 0 - ((row[0] ^ tag) & 1));
  f.to_limbs(row_out<C::kWords>(row), y);
  f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
  if (!is_point || (tag & 0xfe) != 2) job.good[item] = 0;
}

using Any256 = AnyWeierstrass<256>;
using Any384 = AnyWeierstrass<384>;

}  // namespace manymod::ecc::cuda
