// SPDX-License-Identifier: Apache-2.0
// The entries of PointLaneCalls for one curve and one instruction set. For inclusion in instruction-set files
// only.
//
// Exceptional cases. The generator: partial sums S from the lowest digit up are below 2^(w i) in absolute
// value, and the next addend is d 2^(w i), d odd: they differ and are not opposite as integers, and modulo n
// neither, as both sums are below n before the last window. P: before a digit d is added, the multiple 2^w S
// is even and |2^w S| > |d|, and before the last digit |2^w S| + |d| < n. With the endomorphism, S = a + c
// lambda, and a case is a vector (a -+ d, c) or (a, c -+ d) of the lattice of numbers i + j lambda = 0, whose
// shortest has length 2^127.8; |a|, |c| < 2^125 before the last window. So the additions of the last window
// alone are complete.
#pragma once

#include <cstddef>

#include "ecc/lanes/lane_points.hpp"

namespace manymod::ecc::lanes {

/// `Curve`: see lane_curves.hpp. `Arch`: see modmul/special_primes/lane_arithmetic.hpp. `Lookup`: see
/// lookup.*.hpp.
template <class Curve, class Arch, class Lookup>
class PointKernels : LanePoints<Curve, Arch> {
  using Base = LanePoints<Curve, Arch>;
  using Base::kDigits;
  using Base::kField;
  using Base::kLanes;
  using Base::kLimbs;
  using typename Base::Affine;
  using typename Base::Digit;
  using typename Base::Element;
  using typename Base::F;
  using typename Base::Mask;
  using typename Base::Point;
  using typename Base::Vector;
  using Word = typename Lookup::Word;

  // The scalar of P: windows of 5.
  static constexpr unsigned kWidth = 5;
  static constexpr std::size_t kEntries = 16;
  static constexpr std::size_t kTerms = Curve::kEndomorphism ? 2 : 1;
  static constexpr unsigned kTermBits = Curve::kEndomorphism ? kHalfBits : Curve::kOrderBits;
  static constexpr unsigned kWindows = (kTermBits + kWidth - 1) / kWidth;
  static constexpr std::size_t kTermLimbs = limbs_for_bits(kTermBits);
  // The scalar of the generator.
  static constexpr unsigned kBaseWidth = Lookup::kWidth;
  static constexpr std::size_t kBaseEntries = Lookup::kEntries;
  static constexpr unsigned kBaseWindows = (Curve::kOrderBits + kBaseWidth - 1) / kBaseWidth;
  static constexpr std::size_t kBaseLimbs = limbs_for_bits(Curve::kOrderBits);
  static constexpr std::size_t kBaseWindowWords = 2 * kDigits * kBaseEntries;

  /// Odd multiples of one vector of points. With an endomorphism (x, y) -> (beta x, y), also beta x.
  struct Table {
    Affine entry[kEntries];
    Element image_x[Curve::kEndomorphism ? kEntries : 1];
    Element h[kEntries];
  };
  struct Batch {
    Point* sum;
    Element *z, *inverse, *work;
    Mask* exists;
    Table* table;

    Batch(void* memory, std::size_t vectors)
        : sum(static_cast<Point*>(memory)),
          z(reinterpret_cast<Element*>(sum + vectors)),
          inverse(z + vectors),
          work(inverse + vectors),
          exists(reinterpret_cast<Mask*>(work + vectors)),
          table(reinterpret_cast<Table*>(exists + vectors)) {}
  };
  static constexpr std::size_t kVectorBytes = sizeof(Point) + 3 * sizeof(Element) + sizeof(Mask);
  struct FillWork {
    Affine entry[kBaseEntries];
    Element h[kBaseEntries];
  };

 public:
  static constexpr PointLaneCalls calls() {
    return {Curve::kId,
            kLanes,
            kBaseWidth,
            kBaseWindows * kBaseWindowWords * sizeof(Word),
            kBaseWindows,
            kTerms,
            kTermLimbs,
            static_cast<unsigned>(Base::Arithmetic::kMulInstructions),
            static_cast<unsigned>(Base::Arithmetic::kSqrInstructions),
            kVectorBytes,
            kVectorBytes + sizeof(Table),
            sizeof(FillWork),
            multiply_base,
            multiply,
            multiply_two<false>,
            multiply_two<true>,
            add,
            check,
            lift,
            fill_base};
  }

 private:
  static void multiply_base(const PointBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    Affine entry;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      select_base(entry, b, v, 0);
      jacobian::from_affine(kField, sum, entry);
      for (unsigned window = 1; window + 1 < kBaseWindows; ++window) {
        select_base(entry, b, v, window);
        Base::add_mixed(sum, entry);
      }
      select_base(entry, b, v, kBaseWindows - 1);
      Base::add_complete(sum, entry);
    }
    leave(b, batch);
  }

  static void multiply(const PointBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    make_tables(b, batch);
    for (std::size_t v = 0; v < b.vectors; ++v) multiply_windows(b, v, batch, 1);
    leave(b, batch);
  }

  template <bool kComplete>
  static void multiply_two(const PointBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    make_tables(b, batch);
    Affine entry;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      multiply_windows(b, v, batch, kComplete ? kWindows : 0);
      for (unsigned window = 0; window < kBaseWindows; ++window) {
        select_base(entry, b, v, window);
        add_entry(sum, entry, kComplete);
      }
    }
    leave(b, batch);
  }

  static void add(const PointBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    Affine q;
    Element zero;
    F::zero(zero);
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      Base::enter(q, b, v);
      jacobian::from_affine(kField, sum, q);
      F::cmov(sum.z, zero, Base::load(b.p_infinite, v));
      Base::from_limbs(q.x, b.qx + v * kLimbs * kLanes);
      Base::from_limbs(q.y, b.qy + v * kLimbs * kLanes);
      const Point p = sum;
      Base::add_complete(sum, q);
      jacobian::select(kField, sum, p, Base::load(b.q_infinite, v));
    }
    leave(b, batch);
  }

  static void check(const PointBlock& b) {
    Affine p;
    Element right;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::enter(p, b, v);
      right_side(right, b, p.x);
      Base::store(b.infinite, v, ~is_root(p.y, right));
    }
  }

  static void lift(const PointBlock& b) {
    Element x, y, right;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::from_limbs(x, b.px + v * kLimbs * kLanes);
      right_side(right, b, x);
      F::square_root(y, right);
      Base::store(b.infinite, v, ~is_root(y, right));
      Base::to_limbs(b.y + v * kLimbs * kLanes, y);
    }
  }

  static void fill_base(const PointBlock& b, void* table) {
    FillWork& work = *static_cast<FillWork*>(b.scratch);
    Affine p;
    Element z, inverse, scratch;
    Mask exists;
    for (std::size_t v = 0; v * kLanes < kBaseWindows; ++v) {
      Base::enter(p, b, v);
      Base::odd_multiples(work.entry, work.h, z, p, kBaseEntries);
      Base::invert(&inverse, &exists, &z, 1, &scratch);
      Base::normalize(work.entry, work.h, inverse, kBaseEntries);
      for (std::size_t lane = 0; lane < kLanes && v * kLanes + lane < kBaseWindows; ++lane) {
        Word* const window = static_cast<Word*>(table) + (v * kLanes + lane) * kBaseWindowWords;
        for (std::size_t i = 0; i < kBaseEntries; ++i) {
          write_entry(window + i, work.entry[i].x, lane);
          write_entry(window + kDigits * kBaseEntries + i, work.entry[i].y, lane);
        }
      }
    }
  }

  /// The digits of one lane, kBaseEntries words apart.
  static void write_entry(Word* r, const Element& a, std::size_t lane) {
    for (std::size_t i = 0; i < kDigits; ++i) {
      r[i * kBaseEntries] = static_cast<Word>(a.number.digit[i][lane]);
    }
  }

  /// The multiple of the generator for a window of the scalars of vector v.
  static void select_base(Affine& r, const PointBlock& b, std::size_t v, unsigned window) {
    const Limb* const scalar = b.base_scalar + v * (kBaseLimbs + 1) * kLanes;
    const Digit digit =
        Base::digit(scalar, window, kBaseWidth, window + 1 == kBaseWindows, Base::load(b.base_negate, v));
    Base::template select_shared<Lookup>(
        r, static_cast<const Word*>(b.base_table) + window * kBaseWindowWords, digit.index);
    Base::negate(r.y, digit.negative);
  }

  /// All tables, with one inversion.
  static void make_tables(const PointBlock& b, const Batch& batch) {
    Affine p;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Table& table = batch.table[v];
      Base::enter(p, b, v);
      Base::odd_multiples(table.entry, table.h, batch.z[v], p, kEntries);
    }
    Base::invert(batch.inverse, batch.exists, batch.z, b.vectors, batch.work);
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Table& table = batch.table[v];
      Base::normalize(table.entry, table.h, batch.inverse[v], kEntries);
      if constexpr (Curve::kEndomorphism) {
        Element root;
        Base::from_limbs(root, b.cube_root);
        for (std::size_t i = 0; i < kEntries; ++i) F::mul(table.image_x[i], table.entry[i].x, root);
      }
    }
  }

  /// The multiple of P for a window of term `term` of the scalars of vector v.
  [[gnu::noinline]] static void select_point(Affine& r, const PointBlock& b, std::size_t v,
                                             const Table& table, std::size_t term, unsigned window) {
    const std::size_t row = v * kTerms + term;
    const Digit digit = Base::digit(b.scalar + row * (kTermLimbs + 1) * kLanes, window, kWidth,
                                    window + 1 == kWindows, Base::load(b.negate, row));
    constexpr std::size_t kStride = sizeof(Affine) / sizeof(Element);
    static_assert(sizeof(Affine) % sizeof(Element) == 0);
    if (term == 0) {
      Base::template select_own<kEntries>(r.x, &table.entry[0].x, kStride, digit.index);
    } else {
      Base::template select_own<kEntries>(r.x, table.image_x, 1, digit.index);
    }
    Base::template select_own<kEntries>(r.y, &table.entry[0].y, kStride, digit.index);
    Base::negate(r.y, digit.negative);
  }

  static void add_entry(Point& sum, const Affine& entry, bool complete) {
    if (complete) return Base::add_complete(sum, entry);
    Base::add_mixed(sum, entry);
  }

  /// The sum of vector v = k P. Below window `complete`, additions are complete.
  static void multiply_windows(const PointBlock& b, std::size_t v, const Batch& batch, unsigned complete) {
    const Table& table = batch.table[v];
    Point& sum = batch.sum[v];
    Affine entry;
    select_point(entry, b, v, table, 0, kWindows - 1);
    jacobian::from_affine(kField, sum, entry);
    for (unsigned window = kWindows; window-- > 0;) {
      const bool first = window + 1 == kWindows;
      if (!first) Base::twice(sum, kWidth);
      for (std::size_t term = first ? 1 : 0; term < kTerms; ++term) {
        select_point(entry, b, v, table, term, window);
        add_entry(sum, entry, window < complete);
      }
    }
  }

  /// The sums in affine form, with one inversion.
  static void leave(const PointBlock& b, const Batch& batch) {
    for (std::size_t v = 0; v < b.vectors; ++v) batch.z[v] = batch.sum[v].z;
    Base::invert(batch.inverse, batch.exists, batch.z, b.vectors, batch.work);
    Affine affine;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::to_affine(affine, batch.sum[v], batch.inverse[v]);
      Base::to_limbs(b.x + v * kLimbs * kLanes, affine.x);
      if (b.y != nullptr) Base::to_limbs(b.y + v * kLimbs * kLanes, affine.y);
      Base::store(b.infinite, v, ~batch.exists[v]);
    }
  }

  /// r = x^3 + a x + b = (x^2 + a) x + b.
  [[gnu::noinline]] static void right_side(Element& r, const PointBlock& b, const Element& x) {
    Element a, constant;
    Base::from_limbs(a, b.a);
    Base::from_limbs(constant, b.b);
    F::sqr(r, x);
    F::add(r, r, a);
    F::mul(r, r, x);
    F::add(r, r, constant);
    F::template normalize_weak<2>(r, r);
  }
  [[gnu::noinline]] static Mask is_root(const Element& y, const Element& right) {
    Element square;
    F::sqr(square, y);
    return F::equal(square, right);
  }
};

}  // namespace manymod::ecc::lanes
