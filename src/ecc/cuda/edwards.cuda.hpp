// SPDX-License-Identifier: Apache-2.0
// Scalar multiplications on edwards25519 and Montgomery's ladder on curve25519, by one thread for each item.
// The formulas have no exceptional cases.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/block_step.cuda.hpp"
#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/digits.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/shuffled_words.cuda.hpp"
#include "ecc/cuda/single_thread.cuda.hpp"
#include "ecc/formulas/edwards.hpp"
#include "ecc/formulas/ladder.hpp"
#include "field/device.cuda.hpp"
#include "field/special.cuda.hpp"

namespace manymod::ecc::cuda {

/// -x^2 + y^2 = 1 + d x^2 y^2 modulo 2^255 - 19, and v^2 = u^3 + 486662 u^2 + u.
struct Edwards25519 {
  using Prime = special_primes::Curve25519;
  using Field = field::SpecialField<Prime>;
  using Element = Field::Element;
  using Point = edwards::Extended<Field>;
  using Prepared = edwards::Prepared<Field>;
  using Cached = edwards::Cached<Field>;
  using InlineScalars = field::DeviceField<253, 1, field::Row32, SingleThread>;
  using Scalars = InlineScalars;
  static constexpr unsigned kWords = Field::kWords;
  static constexpr unsigned kRowWords = kWords;
  static constexpr unsigned kOrderBits = 253;
  static constexpr unsigned kOrderWords = 8;
  static constexpr std::uint32_t kA24 = 121665;
};

/// Loads the three elements of a prepared point.
template <class C, class Words>
MM_DEVICE void load_prepared(typename C::Prepared& r, const Words& entry) {
  const typename C::Field f;
  struct From {
    const Words& entry;
    unsigned first;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return entry[first + j]; }
  };
  f.load(r.plus, From{entry, 0});
  f.load(r.minus, From{entry, C::kWords});
  f.load(r.t, From{entry, 2 * C::kWords});
}

/// k B, constant-time. On input: k < n; all threads of a warp together, surplus ones with any item and
/// `stores` false. Entries of a window: word j of all from table[(window 3 kWords + j) 64].
template <class C>
MM_DEVICE void multiply_base_edwards(const PointJob& job, std::uint32_t item, bool stores) {
  struct Entry {
    const std::uint32_t* words;
    unsigned index;
    MM_DEVICE std::uint32_t operator[](unsigned j) const {
      return shuffled_word(words + std::size_t{j} * kBaseEntries, index);
    }
  };
  const typename C::Field f;
  std::uint32_t k[C::kOrderWords], n[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  load_words(n, job.curve.order);
  OddDigits<C::kOrderBits, FixedWindow<kBaseWindow>> digits(k, n, {});
  typename C::Prepared entry;
  typename C::Point sum;
  edwards::set_neutral(f, sum);
  MM_ROLLED
  for (unsigned window = 0; window < digits.count(); ++window) {
    const OddDigit digit = digits.next_up();
    load_prepared<C>(entry,
                     Entry{job.table + std::size_t{window} * (3 * C::kWords * kBaseEntries), digit.index});
    edwards::negate_where(f, entry, digit.negative);
    edwards::add(f, sum, sum, entry);
  }
  typename C::Point opposite;
  edwards::negate(f, opposite, sum);
  f.cmov(sum.x, opposite.x, digits.negate());
  if (own_item_is_inside(job.count, stores)) store_point<C::kWords>(f, job, own_item(item), sum);
}

inline constexpr unsigned kCachedEntries = 1u << (kPointWindow - 1);

/// entry = table[index]. kSecret: constant-time, all entries are read.
template <bool kSecret, class C>
MM_DEVICE void select_cached(typename C::Cached& entry, const typename C::Cached (&table)[kCachedEntries],
                             unsigned index) {
  if constexpr (kSecret) {
    const typename C::Field f;
    entry = table[0];
    MM_ROLLED
    for (unsigned i = 1; i < kCachedEntries; ++i) {
      const std::uint32_t mask = manymod::cuda::opaque(~integers::mask_if_not_zero(index ^ i));
      f.cmov(entry.plus, table[i].plus, mask);
      f.cmov(entry.minus, table[i].minus, mask);
      f.cmov(entry.z, table[i].z, mask);
      f.cmov(entry.t, table[i].t, mask);
    }
  } else {
    entry = table[index];
  }
}

/// sum = k P for a point of any order: (k | 1) P, from which P is subtracted where k is even.
template <bool kSecret, class C>
MM_DEVICE void multiply_extended(typename C::Point& sum, const PointJob& job, std::uint32_t item) {
  const typename C::Field f;
  std::uint32_t k[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  const std::uint32_t even = manymod::cuda::opaque((k[0] & 1) - 1);
  k[0] |= 1;
  OddDigits<C::kOrderBits, FixedWindow<kPointWindow>> digits(k, k, {});
  typename C::Cached table[kCachedEntries], entry;
  typename C::Point p;
  typename C::Element d2;
  f.from_limbs(p.x, row_words<C::kWords>(job.x.at(item)));
  f.from_limbs(p.y, row_words<C::kWords>(job.y.at(item)));
  edwards::set_affine(f, sum, p.x, p.y);
  f.from_limbs(d2, row_words<C::kWords>(job.curve.b));
  f.add(d2, d2, d2);
  f.template normalize_weak<2>(d2, d2);
  edwards::cache(f, table[0], sum, d2);
  edwards::double_point(f, p, sum);
  edwards::cache(f, entry, p, d2);
  MM_ROLLED
  for (unsigned i = 1; i < kCachedEntries; ++i) {
    edwards::add(f, sum, sum, entry);
    edwards::cache(f, table[i], sum, d2);
  }
  digits.align_down();
  edwards::set_neutral(f, sum);
  MM_ROLLED
  for (unsigned left = digits.count(); left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < kPointWindow; ++i) {
      manymod::cuda::keep_block_together();
      edwards::double_point(f, sum, sum);
    }
    manymod::cuda::keep_block_together();
    const OddDigit digit = digits.next_down();
    select_cached<kSecret, C>(entry, table, digit.index);
    edwards::negate_where(f, entry, digit.negative);
    edwards::add(f, sum, sum, entry);
  }
  entry = table[0];
  edwards::negate_where(f, entry, ~std::uint32_t{0});
  edwards::add(f, p, sum, entry);
  edwards::select(f, sum, p, even);
}

/// Constant-time. On input: item < job.count; job.curve.b is d.
template <class C>
MM_DEVICE void multiply_edwards(const PointJob& job, std::uint32_t item) {
  typename C::Point sum;
  multiply_extended<true, C>(sum, job, item);
  store_point<C::kWords>(typename C::Field(), job, own_item(item), sum);
}

/// u B + v P, public. Entry i of a window of w = job.window bits: the words from
/// job.table[(2^(w-1) window + i) 3 kWords].
template <class C>
MM_DEVICE void multiply_two_edwards(const PointJob& job, std::uint32_t item) {
  const typename C::Field f;
  typename C::Point sum, opposite;
  multiply_extended<false, C>(sum, job, item);
  std::uint32_t u[C::kOrderWords], n[C::kOrderWords];
  load_words(u, job.base_scalar.at(item));
  load_words(n, job.curve.order);
  OddDigits<C::kOrderBits, WindowUpTo<kWideWindow>> digits(u, n, {job.window});
  edwards::negate(f, opposite, sum);
  edwards::select(f, sum, opposite, digits.negate());
  MM_ROLLED
  for (unsigned window = 0; window < digits.count(); ++window) {
    manymod::cuda::keep_block_together();
    const OddDigit digit = digits.next_up();
    typename C::Prepared entry;
    load_prepared<C>(entry,
                     job.table + ((std::size_t{window} << (job.window - 1)) + digit.index) * (3 * C::kWords));
    edwards::negate_where(f, entry, digit.negative);
    edwards::add(f, sum, sum, entry);
  }
  edwards::negate(f, opposite, sum);
  f.cmov(sum.x, opposite.x, digits.negate());
  store_point<C::kWords>(f, job, item, sum);
}

/// The u coordinate of k (u, .) for a scalar of 255 bits; X and Z to the columns X and Z. Constant-time.
template <class C>
MM_DEVICE void ladder25519(const PointJob& job, std::uint32_t item) {
  const typename C::Field f;
  std::uint32_t k[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  typename C::Element u, a24;
  f.from_limbs(u, row_words<C::kWords>(job.x.at(item)));
  f.load(a24, integers::SmallWord{C::kA24});
  ladder::Pair<typename C::Field> pair;
  ladder::start(f, pair, u);
  std::uint32_t swapped = 0;
  MM_ROLLED
  for (unsigned left = kLadderBits; left > 0; --left) {
    // The highest bit of the 255 to the highest bit of the words.
    MM_UNROLL
    for (unsigned j = C::kOrderWords - 1; j > 0; --j) k[j] = manymod::cuda::shift_left(k[j - 1], k[j], 1);
    k[0] <<= 1;
    const std::uint32_t bit = manymod::cuda::opaque(0 - (k[C::kOrderWords - 1] >> 31));
    ladder::step(f, pair, bit ^ swapped, u, a24);
    swapped = bit;
  }
  ladder::swap_where(f, pair, swapped);
  const std::size_t column = std::size_t{C::kWords} * job.count;
  store_element(f, Column{job.result, job.count, item}, pair.low.x);
  store_element(f, Column{job.result + 2 * column, job.count, item}, pair.low.z);
}

/// X / Z, 0 where Z is 0, and Y / Z where job.y.words is not null; or prepared points as entries of a table.
template <class C, class Block>
MM_DEVICE void normalise_projective(const Block& block, const AffineJob& job, std::uint32_t thread) {
  const typename C::Field f;
  const std::size_t count = job.count, column = C::kWords * count;
  const auto load_z = [&](std::uint32_t item, typename C::Element& z) {
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    typename C::Element one;
    f.one(one);
    f.cmov(z, one, f.is_zero(z));
  };
  const auto use = [&](std::uint32_t item, const typename C::Element& inverse) {
    typename C::Element x, y, z, zero;
    load_element(f, x, ConstColumn{job.point, count, item});
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    f.zero(zero);
    f.cmov(x, zero, f.is_zero(z));
    f.mul(x, x, inverse);
    if (job.entries != nullptr || job.y.words != nullptr) {
      load_element(f, y, ConstColumn{job.point + column, count, item});
      f.mul(y, y, inverse);
    }
    if (job.entries != nullptr) {
      typename C::Prepared prepared;
      f.from_limbs(z, row_words<C::kWords>(job.curve.b));
      edwards::prepare(f, prepared, x, y, z);
      std::uint32_t* const entry = job.entries + item * std::size_t{3 * C::kWords};
      store_element(f, entry, prepared.plus);
      store_element(f, entry + C::kWords, prepared.minus);
      store_element(f, entry + 2 * C::kWords, prepared.t);
      return;
    }
    f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
    if (job.y.words != nullptr) f.to_limbs(row_out<C::kWords>(job.y.at(item)), y);
  };
  invert_chain(block, f, chain_of(job, thread), job.scratch, count, load_z, use);
}

}  // namespace manymod::ecc::cuda
