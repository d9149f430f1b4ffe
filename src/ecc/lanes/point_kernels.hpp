// SPDX-License-Identifier: Apache-2.0
// The entries of PointLaneCalls for one curve and one instruction set. For inclusion in instruction-set files
// only.
//
// Exceptional cases: equal or opposite points in an addition. Multiples of G: a partial sum is S G with |S|
// < 2^(w i), the next term d 2^(w i) G with odd d. These integers are neither equal nor opposite, nor are
// they modulo n, as |S| + |d| 2^(w i) < n before the last window. Multiples of P: before a digit d is added,
// 2^w S is even and |2^w S| > |d|, and |2^w S| + |d| < n before the last digit. With the endomorphism S = a
// + c lambda, and in an exceptional case (a -+ d, c) or (a, c -+ d) is in the lattice of all (i, j) with i +
// j lambda = 0, whose shortest vector has length 2^127.8; but |a|, |c| < 2^125 before the last window. So
// only the additions of the last window need to be complete.
#pragma once

#include <cstddef>

#include "ecc/lanes/lane_points.hpp"
#include "ecc/lanes/point_sums.hpp"

namespace manymod::ecc::lanes {

/// `Curve`: see lane_curves.hpp. `Arch`: see modmul/special_primes/lane_arithmetic.hpp. `Lookup`: see
/// lookup.*.hpp.
template <class Curve, class Arch, class Lookup>
class PointKernels : LanePoints<Curve, Arch> {
  using Base = LanePoints<Curve, Arch>;
  using Base::kDigits;
  using Base::kLanes;
  using typename Base::Affine;
  using typename Base::Digit;
  using typename Base::Element;
  using typename Base::F;
  using typename Base::Mask;
  using typename Base::Point;
  using typename Base::Vector;
  using typename Base::Vectors;
  using Word = typename Lookup::Word;

  // The scalar of P: windows of 5.
  static constexpr unsigned kWidth = 5;
  static constexpr std::size_t kEntries = 16;
  static constexpr std::size_t kTerms = Curve::kEndomorphism ? 2 : 1;
  // The scalar of the generator.
  static constexpr unsigned kBaseWidth = Lookup::kWidth;
  static constexpr std::size_t kBaseEntries = Lookup::kEntries;
  static constexpr std::size_t kBaseWindowWords = 2 * kDigits * kBaseEntries;
  // On curves for which this is set, points of small order may be multiplied.
  static constexpr bool kAnyOrder = Curve::kAnyOrder;

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
    // For complete tables: Z of all entries, and whether it has an inverse.
    Element *entry_z, *entry_z_work;
    Mask* finite;

    Batch(void* memory, std::size_t vectors)
        : sum(static_cast<Point*>(memory)),
          z(reinterpret_cast<Element*>(sum + vectors)),
          inverse(z + vectors),
          work(inverse + vectors),
          exists(reinterpret_cast<Mask*>(work + vectors)),
          table(reinterpret_cast<Table*>(exists + vectors)),
          entry_z(reinterpret_cast<Element*>(table + vectors)),
          entry_z_work(entry_z + vectors * kEntries),
          finite(reinterpret_cast<Mask*>(entry_z_work + vectors * kEntries)) {}
  };
  static constexpr std::size_t kVectorBytes = sizeof(Point) + 3 * sizeof(Element) + sizeof(Mask);
  static constexpr std::size_t kTableBytes =
      sizeof(Table) + (kAnyOrder ? kEntries * (2 * sizeof(Element) + sizeof(Mask)) : 0);
  struct FillWork {
    Affine entry[kBaseEntries];
    Element h[kBaseEntries];
  };

 public:
  static constexpr PointLaneCalls calls() {
    using Arithmetic = typename F::Arithmetic;
    return {Curve::kId,
            max_field_bits(),
            kLanes,
            kDigits,
            Arithmetic::w,
            kBaseWidth,
            kBaseWindowWords * sizeof(Word),
            kTerms,
            static_cast<unsigned>(Arithmetic::kMulInstructions),
            static_cast<unsigned>(Arithmetic::kSqrInstructions),
            kVectorBytes,
            kVectorBytes + kTableBytes,
            sizeof(FillWork),
            call<&PointKernels::multiply_base>,
            call<&PointKernels::template multiply<false>>,
            kAnyOrder ? call<&PointKernels::template multiply<true>> : nullptr,
            call<&PointKernels::template multiply_two<false>>,
            call<&PointKernels::template multiply_two<true>>,
            call<&PointKernels::add>,
            call<&PointKernels::check>,
            call<&PointKernels::lift>,
            [](const PointBlock& block, void* table) { PointKernels(block).fill_base(table); },
            PointSums<Curve, Arch>::calls()};
  }

 private:
  using Base::b;
  using Base::Base;
  using Base::f;

  static constexpr unsigned max_field_bits() {
    if constexpr (kAnyOrder) return montgomery_lanes::most_bits(kDigits, F::Arithmetic::w);
    if constexpr (!kAnyOrder) return Curve::kMaxFieldBits;
  }
  template <auto kMember>
  static void call(const PointBlock& block) {
    (PointKernels(block).*kMember)();
  }

  [[nodiscard]] unsigned order_bits() const { return Curve::template order_bits<Arch>(b); }
  [[nodiscard]] unsigned term_bits() const { return Curve::kEndomorphism ? kHalfBits : order_bits(); }
  [[nodiscard]] unsigned windows() const { return (term_bits() + kWidth - 1) / kWidth; }
  [[nodiscard]] unsigned base_windows() const { return (order_bits() + kBaseWidth - 1) / kBaseWidth; }
  /// Words of a scalar of one vector, with the limb of 0 above.
  [[nodiscard]] std::size_t term_words() const { return (limbs_for_bits(term_bits()) + 1) * kLanes; }
  [[nodiscard]] std::size_t base_words() const { return (limbs_for_bits(order_bits()) + 1) * kLanes; }

  void multiply_base() const {
    const Batch batch(b.scratch, b.vectors);
    Affine entry;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      select_base(entry, v, 0);
      jacobian::from_affine(f, sum, entry);
      for (unsigned window = 1; window + 1 < base_windows(); ++window) {
        select_base(entry, v, window);
        Base::add_mixed(sum, entry);
      }
      select_base(entry, v, base_windows() - 1);
      Base::add_complete(sum, entry);
    }
    store_affine(batch);
  }

  template <bool kComplete>
  void multiply() const {
    const Batch batch(b.scratch, b.vectors);
    make_tables<kComplete>(batch);
    for (std::size_t v = 0; v < b.vectors; ++v) multiply_windows<kComplete>(v, batch, 1);
    store_affine(batch);
  }

  template <bool kComplete>
  void multiply_two() const {
    const Batch batch(b.scratch, b.vectors);
    make_tables<kComplete>(batch);
    Affine entry;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      multiply_windows<kComplete>(v, batch, 0);
      for (unsigned window = 0; window < base_windows(); ++window) {
        select_base(entry, v, window);
        add_entry<kComplete>(sum, entry);
      }
    }
    store_affine(batch);
  }

  void add() const {
    const Batch batch(b.scratch, b.vectors);
    Affine q;
    Element zero;
    f.zero(zero);
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Point& sum = batch.sum[v];
      Base::load_point(q, v);
      jacobian::from_affine(f, sum, q);
      f.cmov(sum.z, zero, Vectors::load(b.p_infinite, v));
      Base::from_limbs(q.x, b.qx + v * Base::words());
      Base::from_limbs(q.y, b.qy + v * Base::words());
      const Point p = sum;
      Base::add_complete(sum, q);
      jacobian::select(f, sum, p, Vectors::load(b.q_infinite, v));
    }
    store_affine(batch);
  }

  void check() const {
    Affine p;
    Element right;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::load_point(p, v);
      right_side(right, p.x);
      Vectors::store(b.no_point, v, ~is_root(p.y, right));
    }
  }

  void lift() const {
    Element x, y, right;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::from_limbs(x, b.px + v * Base::words());
      right_side(right, x);
      f.square_root(y, right);
      Vectors::store(b.no_point, v, ~is_root(y, right));
      Base::to_limbs(b.y + v * Base::words(), y);
    }
  }

  void fill_base(void* table) const {
    FillWork& work = *static_cast<FillWork*>(b.scratch);
    Affine p;
    Element z, inverse, scratch;
    Mask exists;
    for (std::size_t v = 0; v * kLanes < base_windows(); ++v) {
      Base::load_point(p, v);
      Base::odd_multiples(work.entry, work.h, z, p, kBaseEntries);
      Base::invert(&inverse, &exists, &z, 1, &scratch);
      Base::normalize(work.entry, work.h, inverse, kBaseEntries);
      for (std::size_t lane = 0; lane < kLanes && v * kLanes + lane < base_windows(); ++lane) {
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
  void select_base(Affine& r, std::size_t v, unsigned window) const {
    const Limb* const scalar = b.base_scalar + v * base_words();
    const Digit digit = Base::digit(scalar, window, kBaseWidth, window + 1 == base_windows(),
                                    Vectors::load(b.base_negate, v));
    Base::template select_shared<Lookup>(
        r, static_cast<const Word*>(b.base_table) + window * kBaseWindowWords, digit.index);
    Base::negate(r.y, digit.negative);
  }

  /// Fills the tables of all vectors, with one shared inversion. With kComplete, P may have any order, and a
  /// second inversion is needed.
  template <bool kComplete>
  void make_tables(const Batch& batch) const {
    if constexpr (kComplete && kAnyOrder) return make_complete_tables(batch);
    Affine p;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Table& table = batch.table[v];
      Base::load_point(p, v);
      Base::odd_multiples(table.entry, table.h, batch.z[v], p, kEntries);
    }
    Base::invert(batch.inverse, batch.exists, batch.z, b.vectors, batch.work);
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Table& table = batch.table[v];
      Base::normalize(table.entry, table.h, batch.inverse[v], kEntries);
      if constexpr (Curve::kEndomorphism) {
        Element root;
        Base::from_limbs(root, b.cube_root);
        for (std::size_t i = 0; i < kEntries; ++i) f.mul(table.image_x[i], table.entry[i].x, root);
      }
    }
  }

  /// Each entry is the one before it plus 2 P, by a complete addition: 2 P and any entry may be infinity.
  void make_complete_tables(const Batch& batch) const {
    Affine p, two;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::load_point(p, v);
      jacobian::from_affine(f, batch.sum[v], p);
      Base::twice(batch.sum[v], 1);
      batch.z[v] = batch.sum[v].z;
    }
    Base::invert(batch.inverse, batch.exists, batch.z, b.vectors, batch.work);
    Point sum;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::to_affine(two, batch.sum[v], batch.inverse[v]);
      Base::load_point(p, v);
      jacobian::from_affine(f, sum, p);
      for (std::size_t i = 0; i < kEntries; ++i) {
        if (i > 0) add_any(sum, two, ~batch.exists[v]);
        batch.table[v].entry[i] = {sum.x, sum.y};
        batch.entry_z[v * kEntries + i] = sum.z;
      }
    }
    Base::invert(batch.entry_z, batch.finite, batch.entry_z, b.vectors * kEntries, batch.entry_z_work);
    for (std::size_t i = 0; i < b.vectors * kEntries; ++i) {
      Affine& entry = batch.table[i / kEntries].entry[i % kEntries];
      sum.x = entry.x;
      sum.y = entry.y;
      Base::to_affine(entry, sum, batch.entry_z[i]);
    }
  }

  /// The multiple of P for a window of term `term` of the scalars of vector v.
  [[gnu::noinline]] void select_point(Affine& r, std::size_t v, const Table& table, std::size_t term,
                                      unsigned window) const {
    const Digit digit = point_digit(v, term, window);
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

  [[nodiscard]] Digit point_digit(std::size_t v, std::size_t term, unsigned window) const {
    const std::size_t row = v * kTerms + term;
    return Base::digit(b.scalar + row * term_words(), window, kWidth, window + 1 == windows(),
                       kAnyOrder ? Mask{} : Vectors::load(b.negate, row));
  }
  /// Where the entry that select_point reads is infinity, in complete tables.
  [[nodiscard]] Mask infinite_entry(std::size_t v, const Batch& batch, unsigned window) const {
    const Vector index = point_digit(v, 0, window).index;
    Mask finite{};
    for (std::size_t i = 0; i < kEntries; ++i) {
      finite |= batch.finite[v * kEntries + i] & reinterpret_cast<Vector>(index == Vector{} + i);
    }
    return ~finite;
  }

  /// sum = sum + q, for q that is infinity where the mask is set.
  void add_any(Point& sum, const Affine& q, Mask infinite) const {
    const Point before = sum;
    Base::add_complete(sum, q);
    jacobian::select(f, sum, before, infinite);
  }
  template <bool kComplete>
  void add_entry(Point& sum, const Affine& entry) const {
    if constexpr (kComplete) {
      Base::add_complete(sum, entry);
    } else {
      Base::add_mixed(sum, entry);
    }
  }

  /// The sum of vector v = k P. Additions are complete if kComplete, or below window `complete`. Otherwise
  /// the sum has Z = 0 once an exception is met, in the table or later.
  template <bool kComplete>
  void multiply_windows(std::size_t v, const Batch& batch, unsigned complete) const {
    const Table& table = batch.table[v];
    Point& sum = batch.sum[v];
    Affine entry;
    Element zero;
    f.zero(zero);
    for (unsigned window = windows(); window-- > 0;) {
      const bool first = window + 1 == windows();
      if (!first) Base::twice(sum, kWidth);
      for (std::size_t term = 0; term < kTerms; ++term) {
        select_point(entry, v, table, term, window);
        if (first && term == 0) {
          jacobian::from_affine(f, sum, entry);
          if constexpr (kAnyOrder) {
            f.cmov(sum.z, zero, kComplete ? infinite_entry(v, batch, window) : ~batch.exists[v]);
          }
        } else if constexpr (kComplete && kAnyOrder) {
          add_any(sum, entry, infinite_entry(v, batch, window));
        } else if (kComplete || window < complete) {
          Base::add_complete(sum, entry);
        } else {
          Base::add_mixed(sum, entry);
        }
      }
    }
    if constexpr (kAnyOrder) subtract_point(sum, v, kComplete || complete > 0);
  }
  /// sum = sum - P where the scalar was rounded up.
  void subtract_point(Point& sum, std::size_t v, bool complete) const {
    Affine p;
    Base::load_point(p, v);
    Base::negate(p.y, ~Mask{});
    const Point before = sum;
    if (complete) {
      Base::add_complete(sum, p);
    } else {
      Base::add_mixed(sum, p);
    }
    jacobian::select(f, sum, before, ~Vectors::load(b.negate, v));
  }

  /// The sums in affine form, with one inversion.
  void store_affine(const Batch& batch) const {
    for (std::size_t v = 0; v < b.vectors; ++v) batch.z[v] = batch.sum[v].z;
    Base::invert(batch.inverse, batch.exists, batch.z, b.vectors, batch.work);
    Affine affine;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Base::to_affine(affine, batch.sum[v], batch.inverse[v]);
      Base::to_limbs(b.x + v * Base::words(), affine.x);
      if (b.y != nullptr) Base::to_limbs(b.y + v * Base::words(), affine.y);
      Vectors::store(b.no_point, v, ~batch.exists[v]);
    }
  }

  /// r = x^3 + a x + b = (x^2 + a) x + b.
  [[gnu::noinline]] void right_side(Element& r, const Element& x) const {
    Element a, constant;
    Base::from_limbs(a, b.a);
    Base::from_limbs(constant, b.b);
    f.sqr(r, x);
    f.add(r, r, a);
    f.mul(r, r, x);
    f.add(r, r, constant);
    f.template normalize_weak<2>(r, r);
  }
  [[gnu::noinline]] Mask is_root(const Element& y, const Element& right) const {
    Element square;
    f.sqr(square, y);
    return f.equal(square, right);
  }
};

}  // namespace manymod::ecc::lanes
