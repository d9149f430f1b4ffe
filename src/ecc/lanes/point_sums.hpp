// SPDX-License-Identifier: Apache-2.0
// Additions of many pairs of affine points with shared inversions (Montgomery 1987), for public sums: the
// entries of PointLaneCalls for bucket_sums.hpp. For inclusion in instruction-set files only.
//
// A row has the digits of x and of y; infinity has kInfinityWord as its first word, which no digit is. With
// l = (y2 - y1) / (x2 - x1), or (3 x^2 + a) / (2 y) for equal points, x3 = l^2 - x1 - x2 and y3 = l (x1 - x3)
// - y1: 5 M + 1 S and the inversion's share. Exceptional cases are found by x2 - x1 = 0 and computed besides;
// with them, time depends on points.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ecc/lanes/lane_points.hpp"
#include "ecc/lanes/transposition.hpp"

namespace manymod::ecc::lanes {

/// `Curve`: see lane_curves.hpp. `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <class Curve, class Arch>
class PointSums : LanePoints<Curve, Arch> {
  using Base = LanePoints<Curve, Arch>;
  using Base::b;
  using Base::f;
  using typename Base::Affine;
  using typename Base::Element;
  using typename Base::F;
  using typename Base::Mask;
  using typename Base::Point;
  using typename Base::Vector;
  using typename Base::Vectors;
  static constexpr std::size_t kLanes = F::kLanes;
  static constexpr std::size_t kDigits = F::kDigits;
  static constexpr std::size_t kWords = 2 * kDigits;
  static constexpr std::size_t kRowWords = (kWords + kLanes - 1) / kLanes * kLanes;
  /// Vectors that share an inversion, which takes some 1.3 products a bit. Their pairs stay in the
  /// second-level cache.
  static constexpr std::size_t kVectors = 256;
  /// Vectors from a request for rows to their use.
  static constexpr std::size_t kAhead = 2;

  /// A vector of pairs on its way to their sums.
  struct Pair {
    Affine p, q;
    Element difference, before;  ///< the denominator, and the product of those before it in its chain
    Mask doubled, none, p_infinite, q_infinite;
    bool special;  ///< whether any mask is set
  };

 public:
  static constexpr PointSumCalls calls() {
    return {
        kRowWords, kVectors * sizeof(Pair),
        [](const PointBlock& block, Limb* rows, Limb* images) { PointSums(block).write_rows(rows, images); },
        [](const PointBlock& block, Limb* rows, const RowReference* left, const RowReference* right,
           std::size_t count,
           std::size_t result) { PointSums(block).add_rows(rows, left, right, count, result); },
        [](const PointBlock& block, const Limb* rows, const RowReference* terms, std::size_t count) {
          PointSums(block).sum_by_bits(rows, terms, count);
        }};
  }

 private:
  using Base::Base;

  void write_rows(Limb* rows, [[maybe_unused]] Limb* images) const {
    Affine p;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      const std::size_t at = v * kLanes * kRowWords;
      const Mask infinite = Vectors::load(b.p_infinite, v);
      Base::load_point(p, v);
      store_rows(rows + at, p, infinite);
      if constexpr (Curve::kEndomorphism) {
        Element root;
        Base::from_limbs(root, b.cube_root);
        f.mul(p.x, p.x, root);
        store_rows(images + at, p, infinite);
      }
    }
  }

  void add_rows(Limb* rows, const RowReference* left, const RowReference* right, std::size_t count,
                std::size_t result) const {
    auto* const work = static_cast<Pair*>(b.scratch);
    for (std::size_t first = 0; first < count; first += kVectors * kLanes) {
      const std::size_t vectors = (count - first + kLanes - 1) / kLanes;
      add_batch(work, rows, left + first, right + first, vectors < kVectors ? vectors : kVectors,
                rows + (result + first) * kRowWords);
    }
  }

  /// The sum of 2^i times the point of term i: acc = 2 acc + the next in all lanes.
  void sum_by_bits(const Limb* rows, const RowReference* terms, std::size_t count) const {
    Point sum;
    f.zero(sum.x);
    f.zero(sum.y);
    f.zero(sum.z);
    Affine term;
    Mask infinite;
    for (std::size_t i = count; i-- > 0;) {
      Base::twice(sum, 1);
      RowReference same[kLanes];
      for (RowReference& reference : same) reference = terms[i];
      load_rows(term, infinite, rows, same);
      const Point before = sum;
      Base::add_complete(sum, term);
      jacobian::select(f, sum, before, infinite);
    }
    Element inverse;
    const Mask finite = f.inverse(inverse, sum.z);
    Affine affine;
    Base::to_affine(affine, sum, inverse);
    Base::to_limbs(b.x, affine.x);
    Base::to_limbs(b.y, affine.y);
    Vectors::store(b.no_point, 0, ~finite);
  }

  void add_batch(Pair* work, const Limb* rows, const RowReference* left, const RowReference* right,
                 std::size_t vectors, Limb* to) const {
    Element chain[field::kInverseChains];
    for (Element& product : chain) f.one(product);
    for (std::size_t v = 0; v < vectors; ++v) {
      if (v + kAhead < vectors) {
        prefetch(rows, left + (v + kAhead) * kLanes);
        prefetch(rows, right + (v + kAhead) * kLanes);
      }
      begin_pair(work[v], chain[v % field::kInverseChains], rows, left + v * kLanes, right + v * kLanes);
    }
    field::invert_few(f, chain);
    for (std::size_t v = vectors; v-- > 0;) {
      Affine sum;
      Mask infinite{};
      finish_pair(sum, infinite, work[v], chain[v % field::kInverseChains]);
      store_rows(to + v * kLanes * kRowWords, sum, infinite);
    }
  }

  [[gnu::noinline]] void begin_pair(Pair& w, Element& chain, const Limb* rows, const RowReference* left,
                                    const RowReference* right) const {
    load_rows(w.p, w.p_infinite, rows, left);
    load_rows(w.q, w.q_infinite, rows, right);
    f.template combine<1, -1>(w.difference, w.q.x, w.p.x);
    const Mask same = f.is_zero(w.difference);
    w.special = any(same | w.p_infinite | w.q_infinite);
    if (w.special) mend(w, same);
    w.before = chain;
    f.mul(chain, chain, w.difference);
  }
  /// The denominator of equal points, and 1 where none is needed.
  void mend(Pair& w, Mask same) const {
    Element one, twice;
    const Mask infinite = w.p_infinite | w.q_infinite;
    f.template normalize_weak<2>(w.p.y, w.p.y);
    f.template normalize_weak<2>(w.q.y, w.q.y);
    f.add(twice, w.p.y, w.p.y);
    f.template normalize_weak<2>(twice, twice);
    w.doubled = same & f.equal(w.p.y, w.q.y) & ~f.is_zero(twice) & ~infinite;
    w.none = same & ~w.doubled & ~infinite;
    f.one(one);
    f.cmov(w.difference, twice, w.doubled);
    f.cmov(w.difference, one, w.none | infinite);
  }

  [[gnu::noinline]] void finish_pair(Affine& r, Mask& infinite, const Pair& w, Element& chain) const {
    Element inverse, slope, t;
    f.mul(inverse, chain, w.before);
    f.mul(chain, chain, w.difference);
    f.template sub<2>(slope, w.q.y, w.p.y);
    if (w.special) tangent(slope, w);
    f.mul(slope, slope, inverse);
    f.sqr(t, slope);
    f.template combine<1, -1, -1>(r.x, t, w.p.x, w.q.x);
    f.sub(t, w.p.x, r.x);
    f.mul(t, t, slope);
    f.template sub<2>(t, t, w.p.y);
    f.template normalize_weak<4>(r.y, t);
    if (!w.special) return;
    f.cmov(r.x, w.q.x, w.p_infinite);
    f.cmov(r.y, w.q.y, w.p_infinite);
    f.cmov(r.x, w.p.x, w.q_infinite);
    f.cmov(r.y, w.p.y, w.q_infinite);
    infinite = w.none | (w.p_infinite & w.q_infinite);
  }
  /// slope = 3 x^2 + a for equal points.
  void tangent(Element& slope, const Pair& w) const {
    Element t, twice, a;
    f.sqr(t, w.p.x);
    f.add(twice, t, t);
    f.add(t, twice, t);
    Base::from_limbs(a, b.a);
    f.add(t, t, a);
    f.template normalize_weak<4>(t, t);
    f.cmov(slope, t, w.doubled);
  }

  static bool any(Mask mask) {
    Limb words = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) words |= mask[lane];
    return words != 0;
  }

  static const Limb* row_of(const Limb* rows, RowReference reference) {
    return rows + std::size_t{reference >> 1} * kRowWords;
  }
  static void prefetch(const Limb* rows, const RowReference* references) {
    constexpr std::size_t kLineWords = 64 / sizeof(Limb);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t word = 0; word < kRowWords; word += kLineWords) {
        __builtin_prefetch(row_of(rows, references[lane]) + word);
      }
    }
  }
  /// The points that the references name, one a lane. m(y) <= 2. Infinity has coordinates 0.
  void load_rows(Affine& r, Mask& infinite, const Limb* rows, const RowReference* references) const {
    typedef RowReference References __attribute__((vector_size(kLanes * sizeof(RowReference))));
    struct __attribute__((packed, may_alias)) Packed {
      References vector;
    };
    const Vector named = __builtin_convertvector(reinterpret_cast<const Packed*>(references)->vector, Vector);
    const Mask negative = Vector{} - (named & 1);
    const Limb* row[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) row[lane] = row_of(rows, references[lane]);
    for (std::size_t first = 0; first < kRowWords; first += kLanes) {
      Vector m[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) m[lane] = Vectors::load(row[lane] + first, 0);
      transpose<kLanes>(m);
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::size_t word = first + i;
        if (word < kDigits) r.x.number.digit[word] = m[i];
        if (word >= kDigits && word < kWords) r.y.number.digit[word - kDigits] = m[i];
      }
    }
    infinite = reinterpret_cast<Vector>(r.x.number.digit[0] == Vector{} + kInfinityWord);
    r.x.number.digit[0] &= ~infinite;
    r.x.set_magnitude(1);
    r.y.set_magnitude(1);
    Base::negate(r.y, negative);
  }
  void store_rows(Limb* rows, const Affine& p, Mask infinite) const {
    for (std::size_t first = 0; first < kRowWords; first += kLanes) {
      Vector m[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::size_t word = first + i;
        m[i] = word < kDigits  ? p.x.number.digit[word] & ~infinite
               : word < kWords ? p.y.number.digit[word - kDigits] & ~infinite
                               : Vector{};
        if (word == 0) m[i] |= infinite & kInfinityWord;
      }
      transpose<kLanes>(m);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        Vectors::store(rows + lane * kRowWords + first, 0, m[lane]);
    }
  }
};

}  // namespace manymod::ecc::lanes
