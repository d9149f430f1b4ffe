// SPDX-License-Identifier: Apache-2.0
// Scalar multiplications, by one thread for each item.
//
// Exceptional cases of additions (equal and opposite points, infinity). Sums over windows of odd digits
// (digits.cuda.hpp) meet none before the last addition. From the lowest window up, the partial sum has a
// factor |S| < 2^(w i) and the next term one of |d| 2^(w i) >= 2^(w i); from the highest down, 2^w |S| >
// |d|. The two factors differ, and the sum of their absolute values is below n, so that the points are
// neither equal nor opposite. In the last addition the points may be equal, for one scalar of each curve, or
// opposite, for k = 0, which is computed as n: so it is complete. In a sum of multiples of a point and of
// the generator every addition may be exceptional.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/block_step.cuda.hpp"
#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/digits.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/endomorphism.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/shuffled_words.cuda.hpp"

namespace manymod::ecc::cuda {

/// Functions that are called instead of inlined: in loops those for wide fields, and all that run rarely,
/// whose products are called as well.
template <class C>
struct Calls {
  using Rare = typename C::RareField;
  using RarePoint = jacobian::Point<Rare>;

  MM_DEVICE_CALL static void twice(typename C::Point& r) {
    const typename C::Field f;
    jacobian::twice(f, C::coefficient(), r, r);
  }
  MM_DEVICE_CALL static void add_mixed(typename C::Point& r, const typename C::Affine& q) {
    const typename C::Field f;
    jacobian::add_mixed(f, r, r, q);
  }
  MM_DEVICE_CALL static void twice_rarely(typename C::Point& r) {
    RarePoint p{r.x, r.y, r.z};
    jacobian::twice(Rare(), C::template coefficient<Rare>(), p, p);
    r = {p.x, p.y, p.z};
  }
  MM_DEVICE_CALL static void add(typename C::Point& r, const typename C::Point& q) {
    RarePoint p{r.x, r.y, r.z};
    jacobian::add(Rare(), p, p, RarePoint{q.x, q.y, q.z});
    r = {p.x, p.y, p.z};
  }
  MM_DEVICE_CALL static void add_complete(typename C::Point& r, const typename C::Affine& q) {
    RarePoint p{r.x, r.y, r.z};
    jacobian::add_complete(Rare(), C::template coefficient<Rare>(), p, p,
                           jacobian::AffinePoint<Rare>{q.x, q.y});
    r = {p.x, p.y, p.z};
  }
  MM_DEVICE_CALL static void add_complete(typename C::Point& r, const typename C::Point& q) {
    RarePoint p{r.x, r.y, r.z};
    jacobian::add_complete(Rare(), C::template coefficient<Rare>(), p, p, RarePoint{q.x, q.y, q.z});
    r = {p.x, p.y, p.z};
  }
  MM_DEVICE static void to_affine(typename C::Affine& r, const typename C::Point& p,
                                  const typename C::Element& inverse) {
    jacobian::AffinePoint<Rare> affine;
    jacobian::to_affine(Rare(), affine, RarePoint{p.x, p.y, p.z}, inverse);
    r = {affine.x, affine.y};
  }
  MM_DEVICE_CALL static void invert(typename C::Element& r) {
    static_cast<void>(field::SpecialField<typename C::Prime>().inverse(r, r));
  }
};

/// Before each addition and doubling of a loop that all threads of a block run equally often.
template <class C>
MM_DEVICE void begin_step() {
  if constexpr (!C::kCallsProducts) manymod::cuda::keep_block_together();
}
template <class C>
MM_DEVICE void add_in_loop(typename C::Point& r, const typename C::Affine& q) {
  if constexpr (C::kHotInline) {
    const typename C::Field f;
    jacobian::add_mixed(f, r, r, q);
  } else {
    Calls<C>::add_mixed(r, q);
  }
}
template <class C>
MM_DEVICE void twice_in_loop(typename C::Point& r) {
  if constexpr (C::kHotInline) {
    const typename C::Field f;
    jacobian::twice(f, C::coefficient(), r, r);
  } else {
    Calls<C>::twice(r);
  }
}

/// y = -y where the mask is set.
template <class C>
MM_DEVICE void negate_where(typename C::Element& y, std::uint32_t mask) {
  const typename C::Field f;
  typename C::Element negative;
  f.template neg<2>(negative, y);
  f.template normalize_weak<4>(negative, negative);
  f.cmov(y, negative, mask);
}

// ---- k G, constant-time -----------------------------------------------------------------------------------

/// The coordinates of an entry: those of window i, word j from table[(i kEntryWords + j) 64]. kWords: of an
/// element.
template <unsigned kWords, class F>
MM_DEVICE void load_base_entry(const F& f, typename F::Element& x, typename F::Element& y,
                               const std::uint32_t* table, unsigned window, unsigned index) {
  struct Entry {
    const std::uint32_t* words;
    unsigned index;
    MM_DEVICE std::uint32_t operator[](unsigned j) const {
      return shuffled_word(words + std::size_t{j} * kBaseEntries, index);
    }
  };
  const std::uint32_t* const words = table + std::size_t{window} * (2 * kWords * kBaseEntries);
  f.load(x, Entry{words, index});
  f.load(y, Entry{words + kWords * kBaseEntries, index});
}

template <class C>
MM_DEVICE void base_entry(typename C::Affine& r, const std::uint32_t* table, unsigned window,
                          const OddDigit& digit) {
  load_base_entry<C::kWords>(typename C::Field(), r.x, r.y, table, window, digit.index);
  negate_where<C>(r.y, digit.negative);
}

/// On input: item < job.count; all threads of a warp together, surplus ones with any item and `stores` false.
template <class C>
MM_DEVICE void multiply_base(const PointJob& job, std::uint32_t item, bool stores) {
  const typename C::Field f;
  std::uint32_t k[C::kOrderWords], n[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  load_words(n, job.curve.order);
  OddDigits<C::kOrderBits, FixedWindow<kBaseWindow>> digits(k, n, {});
  constexpr unsigned kWindows = window_count(C::kOrderBits, kBaseWindow);
  typename C::Affine entry;
  typename C::Point sum;
  base_entry<C>(entry, job.table, 0, digits.next_up());
  jacobian::from_affine(f, sum, entry);
  MM_ROLLED
  for (unsigned window = 1; window + 1 < kWindows; ++window) {
    begin_step<C>();
    base_entry<C>(entry, job.table, window, digits.next_up());
    add_in_loop<C>(sum, entry);
  }
  base_entry<C>(entry, job.table, kWindows - 1, digits.next_up());
  Calls<C>::add_complete(sum, entry);
  negate_where<C>(sum.y, digits.negate());
  if (own_item_is_inside(job.count, stores)) store_point<C::kWords>(f, job, own_item(item), sum);
}

// ---- k P --------------------------------------------------------------------------------------------------

inline constexpr unsigned kPointEntries = 1u << (kPointWindow - 1);

/// P, 3 P, .., (2 kPointEntries - 1) P in affine form.
template <class C>
MM_DEVICE void odd_multiples(typename C::Affine (&table)[kPointEntries], const typename C::Affine& p) {
  using Element = typename C::Element;
  const typename C::RareField f;
  Element z[kPointEntries], product[kPointEntries], inverse, single;  // product[i] = z[1] .. z[i]
  typename C::Point sum, twice;
  table[0] = p;
  jacobian::from_affine(typename C::Field(), sum, p);
  twice = sum;
  Calls<C>::twice_rarely(twice);
  MM_ROLLED
  for (unsigned i = 1; i < kPointEntries; ++i) {
    Calls<C>::add(sum, twice);
    table[i].x = sum.x;
    table[i].y = sum.y;
    z[i] = sum.z;
    product[i] = sum.z;
    if (i > 1) f.mul(product[i], product[i - 1], sum.z);
  }
  inverse = product[kPointEntries - 1];
  Calls<C>::invert(inverse);
  MM_ROLLED
  for (unsigned i = kPointEntries - 1; i > 0; --i) {
    single = inverse;
    if (i > 1) f.mul(single, inverse, product[i - 1]);
    f.mul(inverse, inverse, z[i]);
    sum.x = table[i].x;
    sum.y = table[i].y;
    Calls<C>::to_affine(table[i], sum, single);
  }
}

/// r = entry `index`, from a scan of all entries where kSecret. So are public entries of wide fields: the
/// threads of a warp read different entries from different lines of local memory, and the few warps that wide
/// fields leave room for cannot hide that. On an H200 verification on P-521 is 9 % faster so.
template <bool kSecret, class C>
MM_DEVICE void table_entry(typename C::Affine& r, const typename C::Affine (&table)[kPointEntries],
                           const OddDigit& digit) {
  if constexpr (kSecret || C::kCallsProducts) {
    const typename C::Field f;
    r = table[0];
    MM_ROLLED
    for (unsigned i = 1; i < kPointEntries; ++i) {
      const std::uint32_t mask = manymod::cuda::opaque(~integers::mask_if_not_zero(digit.index ^ i));
      f.cmov(r.x, table[i].x, mask);
      f.cmov(r.y, table[i].y, mask);
    }
  } else {
    r = table[digit.index];
  }
  negate_where<C>(r.y, digit.negative);
}

/// sum = k P = k1 P + k2 phi(P), with the digits of k1 and k2 in turn and half of the doublings. Before the
/// last digits of both, partial sums i P + j phi(P) and the term that follows have i, j < 2^127 in absolute
/// value, so that they are equal or opposite in no case but (i, j) = (+-d, 0) or (0, +-d)
/// (ecc/endomorphism.hpp); there is none, as i and j are sums of windows of odd digits, or j = 0 before the
/// first digit of k2. The last two additions are complete.
template <bool kSecret, class C>
MM_DEVICE void multiply_halves(typename C::Point& sum, typename C::Affine p, const std::uint32_t* k) {
  using Digits = OddDigits<kHalfBits, FixedWindow<kPointWindow>>;
  constexpr EndomorphismNumbers kNumbers = kSecp256k1Endomorphism;
  constexpr NumberWords<C::kWords> kBeta(kNumbers.beta);
  constexpr unsigned kTerms = 2 * window_count(kHalfBits, kPointWindow);
  const typename C::Field f;
  typename C::Affine table[kPointEntries], entry;
  HalfScalar k1, k2;
  split_odd(k1, k2, k);
  // |k1| (+-P) and +-|k2| phi(+-P).
  negate_where<C>(p.y, k1.negative);
  const std::uint32_t second_negative = k1.negative ^ k2.negative;
  odd_multiples<C>(table, p);
  Digits digits(k1.words, k1.words, {}), others(k2.words, k2.words, {});
  digits.align_down();
  others.align_down();
  table_entry<kSecret, C>(entry, table, digits.next_down());
  jacobian::from_affine(f, sum, entry);
  MM_ROLLED
  for (unsigned term = 1; term < kTerms; ++term) {
    const Digits before = digits;
    digits = others;
    others = before;
    MM_ROLLED
    for (unsigned i = term % 2 * kPointWindow; i < kPointWindow; ++i) {
      begin_step<C>();
      twice_in_loop<C>(sum);
    }
    begin_step<C>();
    OddDigit digit = digits.next_down();
    digit.negative ^= second_negative & (0 - term % 2);
    table_entry<kSecret, C>(entry, table, digit);
    if (term % 2 != 0) {
      typename C::Element beta;
      f.load(beta, kBeta.words);
      f.mul(entry.x, entry.x, beta);
    }
    if (term + 2 < kTerms) {
      add_in_loop<C>(sum, entry);
    } else {
      Calls<C>::add_complete(sum, entry);
    }
  }
}

/// sum = k P, with the digits of k.
template <bool kSecret, class C>
MM_DEVICE void multiply_whole(typename C::Point& sum, const typename C::Affine& p, const std::uint32_t* k,
                              const std::uint32_t* n) {
  const typename C::Field f;
  typename C::Affine table[kPointEntries], entry;
  odd_multiples<C>(table, p);
  OddDigits<C::kOrderBits, FixedWindow<kPointWindow>> digits(k, n, {});
  digits.align_down();
  table_entry<kSecret, C>(entry, table, digits.next_down());
  jacobian::from_affine(f, sum, entry);
  MM_ROLLED
  for (unsigned left = digits.count() - 1; left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < kPointWindow; ++i) {
      begin_step<C>();
      twice_in_loop<C>(sum);
    }
    begin_step<C>();
    table_entry<kSecret, C>(entry, table, digits.next_down());
    if (left > 1) {
      add_in_loop<C>(sum, entry);
    } else {
      Calls<C>::add_complete(sum, entry);
    }
  }
  negate_where<C>(sum.y, digits.negate());
}

/// sum = k P for a point of order n, 0 <= k < n.
template <bool kSecret, class C>
MM_DEVICE void multiply_point(typename C::Point& sum, const typename C::Affine& p, const std::uint32_t* k,
                              const std::uint32_t* n) {
  if constexpr (C::kEndomorphism) {
    multiply_halves<kSecret, C>(sum, p, k);
  } else {
    multiply_whole<kSecret, C>(sum, p, k, n);
  }
}

template <class C>
MM_DEVICE void load_affine(typename C::Affine& p, const PointJob& job, std::uint32_t item) {
  const typename C::Field f;
  f.from_limbs(p.x, row_words<C::kWords>(job.x.at(item)));
  f.from_limbs(p.y, row_words<C::kWords>(job.y.at(item)));
}

/// Constant-time. On input: item < job.count.
template <class C>
MM_DEVICE void multiply(const PointJob& job, std::uint32_t item) {
  std::uint32_t k[C::kOrderWords], n[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  load_words(n, job.curve.order);
  typename C::Affine p;
  typename C::Point sum;
  load_affine<C>(p, job, item);
  multiply_point<true, C>(sum, p, k, n);
  store_point<C::kWords>(typename C::Field(), job, own_item(item), sum);
}

// ---- u G + v P, public ------------------------------------------------------------------------------------

/// sum += q, for public operands in all cases.
template <class C>
MM_DEVICE void add_public(typename C::Point& sum, const typename C::Affine& q) {
  const typename C::Field f;
  if (f.is_zero(sum.z) != 0) {
    jacobian::from_affine(f, sum, q);
    return;
  }
  const typename C::Point before = sum;
  add_in_loop<C>(sum, q);
  // Equal or opposite points.
  if (f.is_zero(sum.z) != 0) {
    sum = before;
    Calls<C>::add_complete(sum, q);
  }
}

/// Entry i of a window of w = job.window bits in the table of u G.
template <class C>
MM_DEVICE const std::uint32_t* wide_entry(const PointJob& job, unsigned window, unsigned i) {
  return job.table + ((std::size_t{window} << (job.window - 1)) + i) * (2 * C::kWords);
}

/// sum += u G.
template <class C>
MM_DEVICE void add_base_public(typename C::Point& sum, const PointJob& job, const std::uint32_t* u,
                               const std::uint32_t* n) {
  const typename C::Field f;
  OddDigits<C::kOrderBits, WindowUpTo<kWideWindow>> digits(u, n, {job.window});
  negate_where<C>(sum.y, digits.negate());
  MM_ROLLED
  for (unsigned window = 0; window < digits.count(); ++window) {
    begin_step<C>();
    const OddDigit digit = digits.next_up();
    const std::uint32_t* const entry = wide_entry<C>(job, window, digit.index);
    typename C::Affine q;
    f.load(q.x, entry);
    f.load(q.y, entry + C::kWords);
    negate_where<C>(q.y, digit.negative);
    add_public<C>(sum, q);
  }
  negate_where<C>(sum.y, digits.negate());
}

/// On input: item < job.count.
template <class C>
MM_DEVICE void multiply_two(const PointJob& job, std::uint32_t item) {
  std::uint32_t k[C::kOrderWords], n[C::kOrderWords];
  load_words(k, job.scalar.at(item));
  load_words(n, job.curve.order);
  typename C::Affine p;
  typename C::Point sum;
  load_affine<C>(p, job, item);
  multiply_point<false, C>(sum, p, k, n);
  load_words(k, job.base_scalar.at(item));
  add_base_public<C>(sum, job, k, n);
  store_point<C::kWords>(typename C::Field(), job, item, sum);
}

template <class C>
MM_DEVICE bool below_prime(const std::uint32_t* row) {
  std::uint32_t borrow = 0;
  MM_UNROLL
  for (unsigned j = 0; j < C::kWords; ++j) {
    const std::uint64_t difference = std::uint64_t{row[j]} - C::Prime::word(j) - borrow;
    borrow = static_cast<std::uint32_t>(difference >> 63);
  }
  if constexpr (C::kRowWords > C::kWords) return borrow != 0 && row[C::kWords] == 0;
  return borrow != 0;
}

/// r = x^3 + a x + b.
template <class C>
MM_DEVICE void y_squared(typename C::Element& r, const typename C::Element& x, const CurveNumbers& curve) {
  const typename C::Field f;
  typename C::Element term;
  f.sqr(r, x);
  if constexpr (C::kA == jacobian::CoefficientA::minus_three) {
    f.one(term);
    f.sub(r, r, term);
    f.sub(r, r, term);
    f.sub(r, r, term);
    f.template normalize_weak<4>(r, r);
  }
  f.mul(r, r, x);
  f.from_limbs(term, row_words<C::kWords>(curve.b));
  f.add(r, r, term);
  f.template normalize_weak<2>(r, r);
}

/// Whether the point is on the curve, with coordinates below p. Public.
template <class C>
MM_DEVICE void check_point(const PointJob& job, std::uint32_t item) {
  const typename C::Field f;
  typename C::Affine p;
  load_affine<C>(p, job, item);
  typename C::Element left, right;
  f.sqr(left, p.y);
  y_squared<C>(right, p.x, job.curve);
  const bool below = below_prime<C>(job.x.at(item)) && below_prime<C>(job.y.at(item));
  if (f.equal(left, right) == 0 || !below) job.valid[item] = 0;
}

// ---- affine form ------------------------------------------------------------------------------------------

/// The items of thread `thread`.
template <class C, class Block>
MM_DEVICE void normalise(const Block& block, const AffineJob& job, std::uint32_t thread) {
  const typename C::Field f;
  const std::size_t count = job.count, column = C::kWords * count;
  const auto load_z = [&](std::uint32_t item, typename C::Element& z) {
    load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
    typename C::Element one;
    f.one(one);
    f.cmov(z, one, f.is_zero(z));
  };
  const auto use = [&](std::uint32_t item, const typename C::Element& inverse) {
    typename C::Point p;
    typename C::Affine r;
    typename C::Element zero;
    load_element(f, p.x, ConstColumn{job.point, count, item});
    load_element(f, p.y, ConstColumn{job.point + column, count, item});
    load_element(f, p.z, ConstColumn{job.point + 2 * column, count, item});
    jacobian::to_affine(f, r, p, inverse);
    if (job.entries != nullptr) {
      std::uint32_t* const entry = job.entries + item * std::size_t{2 * C::kWords};
      store_element(f, entry, r.x);
      store_element(f, entry + C::kWords, r.y);
      return;
    }
    const std::uint32_t infinite = f.is_zero(p.z);
    f.zero(zero);
    f.cmov(r.x, zero, infinite);
    f.cmov(r.y, zero, infinite);
    f.to_limbs(row_out<C::kWords>(job.x.at(item)), r.x);
    if (job.y.words != nullptr) f.to_limbs(row_out<C::kWords>(job.y.at(item)), r.y);
    if (job.infinity != nullptr) job.infinity[item] = static_cast<std::uint8_t>(infinite & 1);
  };
  invert_chain(block, f, chain_of(job, thread), job.scratch, count, load_z, use);
}

}  // namespace manymod::ecc::cuda
