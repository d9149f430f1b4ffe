// SPDX-License-Identifier: Apache-2.0
// Points and signatures on curves modulo any prime (any_group.cuda.hpp), by one thread for each item.
//
// There are no exceptional cases on curves of odd order, and no points of the curve for which results are
// wrong, whatever their order. Digits of scalars are signed, of kPointWindow bits (Booth 1951), so that the
// multiples 1 to 8 of a point are its table. Multiples of the generator, whose order is n, are sums of
// windows of odd digits, by incomplete additions of Jacobian coordinates up to the last one (points.cuda.hpp
// says why).
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/any_group.cuda.hpp"
#include "ecc/cuda/decoding.cuda.hpp"
#include "ecc/cuda/digits.cuda.hpp"
#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/formulas/jacobian.hpp"

namespace manymod::ecc::cuda {

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
  group.negate_where(r.y, digit.negative);
}

/// sum = k P, constant-time where kSecret.
template <bool kSecret, class C>
MM_DEVICE void multiply_point_any(const AnyGroup<C>& group, typename C::Point& sum, const PointJob& job,
                                  std::uint32_t item) {
  typename C::Point table[kAnyEntries], entry;
  group.set_affine(entry, coordinate(job.curve, job.x.at(item)), coordinate(job.curve, job.y.at(item)));
  multiples<C>(group, table, entry);
  group.set_infinity(sum);
  MM_ROLLED
  for (unsigned left = job.curve.order_bits / kPointWindow + 1; left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < kPointWindow; ++i) group.twice(sum);
    const SignedDigit digit = booth_digit(job.scalar.at(own_item(item)), job.curve.scalar_words, left - 1);
    table_multiple<kSecret, C>(group, entry, table, digit);
    group.add(sum, entry);
  }
}

/// k P. Constant-time. On input: item < job.count.
template <class C>
MM_DEVICE void multiply_any(const PointJob& job, std::uint32_t item) {
  const AnyNumbers<C> numbers(job.curve);
  const AnyGroup<C> group(numbers, job.curve.a_is_zero != 0);
  typename C::Point sum;
  multiply_point_any<true, C>(group, sum, job, item);
  store_point<C::kWords>(group.field(), job, own_item(item), sum);
}

// ---- multiples of the generator ---------------------------------------------------------------------------

/// The digits of a scalar of the generator.
template <class C, class Window>
using BaseDigits = OddDigits<C::kMostOrderBits, Window, ScalarLength>;

template <class C, class Window>
MM_DEVICE BaseDigits<C, Window> base_digits(const CurveNumbers& curve, const std::uint32_t* scalar,
                                            Window window) {
  std::uint32_t k[C::kMostOrderWords], n[C::kMostOrderWords];
  const integers::Words number(scalar, curve.scalar_words), order(curve.order, curve.scalar_words);
  MM_UNROLL
  for (unsigned j = 0; j < C::kMostOrderWords; ++j) {
    k[j] = number[j];
    n[j] = order[j];
  }
  return {k, n, window, ScalarLength{curve.order_bits}};
}

/// Sums of multiples of the generator but for the last one, in Jacobian coordinates.
template <class C>
struct BaseSums {
  using Field = typename C::Field;
  using Point = jacobian::Point<Field>;
  using Affine = jacobian::AffinePoint<Field>;

  MM_DEVICE_CALL static void add(const Field& f, Point& r, const Affine& q) {
    jacobian::add_mixed(f, r, r, q);
  }
};

/// k G. Constant-time. On input: item < job.count; all threads of a warp together, surplus ones with any item
/// and `stores` false; 2^kBaseWindow < n, so that there are two windows at least.
template <class C>
MM_DEVICE void multiply_base_any(const PointJob& job, std::uint32_t item, bool stores) {
  using Sums = BaseSums<C>;
  const AnyNumbers<C> numbers(job.curve);
  const AnyGroup<C> group(numbers, job.curve.a_is_zero != 0);
  const typename C::Field& f = group.field();
  auto digits = base_digits<C>(job.curve, job.scalar.at(item), FixedWindow<kBaseWindow>{});
  typename Sums::Point sum;
  typename Sums::Affine entry;
  const auto next_entry = [&](unsigned window) {
    const OddDigit digit = digits.next_up();
    load_base_entry<C::kWords>(f, entry.x, entry.y, job.table, window, digit.index);
    group.negate_where(entry.y, digit.negative);
  };
  next_entry(0);
  jacobian::from_affine(f, sum, entry);
  const unsigned windows = digits.count();
  MM_ROLLED
  for (unsigned window = 1; window + 1 < windows; ++window) {
    next_entry(window);
    Sums::add(f, sum, entry);
  }
  next_entry(windows - 1);
  // The last addition may be of equal or opposite points: (X Z, Y, Z^3) is the sum in homogeneous
  // coordinates.
  typename C::Point result;
  f.mul(result.x, sum.x, sum.z);
  result.y = sum.y;
  f.sqr(result.z, sum.z);
  f.mul(result.z, result.z, sum.z);
  group.add(result, typename C::Affine{entry.x, entry.y});
  group.negate_where(result.y, digits.negate());
  if (own_item_is_inside(job.count, stores))
    store_point<C::kWords>(group.field(), job, own_item(item), result);
}

/// sum += u G, public, with the table of windows that add_base_public (points.cuda.hpp) has as well.
template <class C>
MM_DEVICE void add_base_any(const AnyGroup<C>& group, typename C::Point& sum, const PointJob& job,
                            std::uint32_t item) {
  auto digits = base_digits<C>(job.curve, job.base_scalar.at(item), WindowUpTo<kWideWindow>{job.window});
  group.negate_where(sum.y, digits.negate());
  MM_ROLLED
  for (unsigned window = 0; window < digits.count(); ++window) {
    const OddDigit digit = digits.next_up();
    const std::uint32_t* const entry = wide_entry<C>(job, window, digit.index);
    typename C::Affine q;
    load_element(group.field(), q.x, entry);
    load_element(group.field(), q.y, entry + C::kWords);
    group.negate_where(q.y, digit.negative);
    group.add(sum, q);
  }
  group.negate_where(sum.y, digits.negate());
}

/// u G + v P, public. On input: item < job.count.
template <class C>
MM_DEVICE void multiply_two_any(const PointJob& job, std::uint32_t item) {
  const AnyNumbers<C> numbers(job.curve);
  const AnyGroup<C> group(numbers, job.curve.a_is_zero != 0);
  typename C::Point sum;
  multiply_point_any<false, C>(group, sum, job, item);
  add_base_any<C>(group, sum, job, item);
  store_point<C::kWords>(group.field(), job, item, sum);
}

// ---- membership and affine form ---------------------------------------------------------------------------

/// Whether the number is below p.
template <class C>
MM_DEVICE bool below(const CurveNumbers& curve, const integers::Words& number) {
  const integers::Words p = number_row<C>(curve, CurveNumbers::kPrime);
  static_cast<void>(manymod::cuda::sub_cc(number[0], p[0]));
  MM_UNROLL
  for (unsigned j = 1; j < C::kWords; ++j) static_cast<void>(manymod::cuda::subc_cc(number[j], p[j]));
  return manymod::cuda::subc(0, 0) != 0;
}

/// Whether the point is on the curve, with coordinates below p: 3 (y^2 - x^3 - a x) = 3 b.
template <class C>
MM_DEVICE void check_point_any(const PointJob& job, std::uint32_t item) {
  using Element = typename C::Element;
  const typename C::RareField f = rare_field<C>(job.curve);
  Element x, y, left, right, a;
  const integers::Words given_x = coordinate(job.curve, job.x.at(item));
  const integers::Words given_y = coordinate(job.curve, job.y.at(item));
  f.from_limbs(x, given_x);
  f.from_limbs(y, given_y);
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
  const bool in_range = below<C>(job.curve, given_x) && below<C>(job.curve, given_y);
  if (f.equal(left, right) == 0 || !in_range) job.valid[item] = 0;
}

/// X / Z and Y / Z, or 0 where Z is 0. The items of thread `thread`.
template <class C, class Block>
MM_DEVICE void normalise_any(const Block& block, const AffineJob& job, std::uint32_t thread) {
  using Element = typename C::Element;
  const typename C::RareField f = rare_field<C>(job.curve);
  const std::size_t count = job.count, column = C::kWords * count;
  const auto load_z = [&](std::uint32_t item, Element& z) {
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    Element one;
    f.one(one);
    f.cmov(z, one, f.is_zero(z));
  };
  const auto use = [&](std::uint32_t item, const Element& inverse) {
    Element quotient, z, zero;
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    const std::uint32_t infinite = f.is_zero(z);
    f.zero(zero);
    const auto store_coordinate = [&](unsigned index, const RowsOut& to) {
      load_element(f, quotient, ConstColumn{job.point + index * column, count, item});
      f.mul(quotient, quotient, inverse);
      if (job.entries != nullptr) {
        store_element(f, job.entries + (2 * std::size_t{item} + index) * C::kWords, quotient);
        return;
      }
      f.cmov(quotient, zero, infinite);
      f.to_limbs(coordinate_out(job.curve, to.at(item)), quotient);
    };
    store_coordinate(0, job.x);
    if (job.y.words != nullptr || job.entries != nullptr) store_coordinate(1, job.y);
    if (job.infinity != nullptr) job.infinity[item] = static_cast<std::uint8_t>(infinite & 1);
  };
  // A second field, used for the inversion alone: functions that are called get the address of f, and the
  // check of secrets (tests/cmake/check_device_secrets.py) could not follow through its memory what the
  // inversion's branches depend on.
  const typename C::Inline inverter = any_field<C>(job.curve);
  invert_chain(block, f, inverter, chain_of(job, thread), job.scratch, count, load_z, use);
}

/// r Z = X or (r + n) Z = X, and Z is not 0. On input: item < job.count.
template <class C>
MM_DEVICE void compare_x_any(const VerifyCompareJob& job, std::uint32_t item) {
  const typename C::RareField f = rare_field<C>(job.curve);
  const std::size_t count = job.count, column = C::kWords * count;
  typename C::Element x, z;
  load_element(f, x, ConstColumn{job.point, count, item});
  load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
  const auto below_p = [&job](const std::uint32_t* number) {
    return below<C>(job.curve, row_words<C::kWords>(number));
  };
  const bool same = is_x_modulo_order<C>(job, item, f, x, z, below_p);
  const bool on_curve = job.on_curve == nullptr || job.on_curve[item] != 0;
  if (!same || f.is_zero(z) != 0 || !on_curve) job.valid[item] = 0;
}

/// As decode_compressed. If p is not 3 modulo 4, the power that is computed is no square root, and the item
/// is not good.
template <class C>
MM_DEVICE void decode_compressed_any(const DecodeJob& job, std::uint32_t item) {
  using Element = typename C::Element;
  const typename C::Field f(any_field<C>(job.curve));
  const integers::Words p = number_row<C>(job.curve, CurveNumbers::kPrime);
  std::uint32_t words[C::kWords];
  const std::uint32_t tag = compressed_words(words, job.from.at(item), job.from.size, job.coordinate_bytes);
  // As variables of their own nvcc 13.0 gives y the memory of temporaries that are written while y is needed.
  Element elements[4];
  Element &x = elements[0], &y = elements[1], &right = elements[2], &term = elements[3];
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
  const bool is_point = below<C>(job.curve, row_words<C::kWords>(words)) && f.equal(term, right) != 0;
  std::uint32_t* const row = job.y.at(item);
  f.to_limbs(row_out<C::kWords>(row), y);
  f.template neg<1>(term, y);
  f.template normalize_weak<2>(term, term);
  f.cmov(y, term, 0 - ((row[0] ^ tag) & 1));
  f.to_limbs(row_out<C::kWords>(row), y);
  f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
  if (!is_point || (tag & 0xfe) != 2) job.good[item] = 0;
}

}  // namespace manymod::ecc::cuda
