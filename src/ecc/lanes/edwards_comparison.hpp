// SPDX-License-Identifier: Apache-2.0
// Whether u G + k P = R on Edwards curves in lanes, for public operands: (tau u) G + rho P - tau R is
// compared with the neutral element (half_scalars.hpp). For inclusion in instruction-set files only.
//
// All scalars are recoded into signed windows (EdwardsKernels::signed_digits), and the multiples of all
// points are computed with the same doublings. Windows of the scalars of P and R have kWidth bits, as in
// EdwardsKernels; a vector has as many as its longest scalar, which may have any length. The scalar of G has
// wider windows, of kBaseWidth bits, and is cut into two halves of kHalfBits bits: its table has the
// multiples of G and of 2^kHalfBits G.
//
// As digits are public, the entry of a digit is read by its address, without a scan of the table: each lane
// reads its row, and the rows of a vector are transposed. Row 0 is the neutral element.
#pragma once

#include <cstddef>

#include "ecc/formulas/edwards.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"
#include "ecc/lanes/half_scalars.hpp"
#include "ecc/lanes/lane_rows.hpp"

namespace manymod::ecc::lanes {

/// `Kernels`: EdwardsKernels of the curve and the instruction set.
template <class Kernels>
class EdwardsComparison {
  using Cached = typename Kernels::Cached;
  using Curves = typename Kernels::Curve;
  using Element = typename Kernels::Element;
  using Extended = typename Kernels::Extended;
  using Forms = typename Kernels::Forms;
  using Mask = typename Kernels::Mask;
  using Prepared = typename Kernels::Prepared;
  using Vector = typename Kernels::Vector;
  using Vectors = typename Kernels::Vectors;
  using WithT = edwards::WithT;
  static constexpr std::size_t kLanes = Kernels::kLanes;
  static constexpr std::size_t kDigits = Kernels::kDigits;
  static constexpr std::size_t kLimbs = Kernels::kLimbs;

  static constexpr unsigned kOrderBits = Kernels::kOrderBits;
  static constexpr unsigned kWidth = Kernels::kWidth;
  static constexpr std::size_t kEntries = Kernels::kEntries + 1;
  using PointRows = LaneRows<typename Kernels::InstructionSet, 4 * kDigits>;
  using BaseRows = LaneRows<typename Kernels::InstructionSet, 3 * kDigits>;

 public:
  /// Bits of a window of the generator's scalar, and the number of windows of a half of it.
  static constexpr unsigned kBaseWidth = 11;
  static constexpr unsigned kBaseWindows = (kOrderBits / 2 + kBaseWidth) / kBaseWidth;
  static constexpr unsigned kHalfBits = kBaseWindows * kBaseWidth;
  static_assert(2 * kHalfBits > kOrderBits);
  static constexpr std::size_t kBaseEntries = (std::size_t{1} << (kBaseWidth - 1)) + 1;
  static constexpr std::size_t kBaseBytes = 2 * kBaseEntries * BaseRows::kRowWords * sizeof(Limb);
  /// Products and squares of a comparison, for scalars of half length.
  static constexpr unsigned kProducts = 2 * (kHalfBits / kWidth * Forms::kCachedProducts + kEntries * 7) +
                                        kHalfBits * 3 + 2 * kBaseWindows * Forms::kPreparedProducts;
  static constexpr unsigned kSquares = kHalfBits * 4;

  static void split(const EdwardsBlock& b) {
    std::size_t v = 0;
    for (; v + kTogether <= b.vectors; v += kTogether) split_some<kTogether>(b, v);
    for (; v < b.vectors; ++v) split_some<1>(b, v);
  }

  static void fill_base(const EdwardsBlock& b, void* table) {
    const Element d = Kernels::coefficients().d;
    Prepared entry;
    Element x, y;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Kernels::from_limbs(x, b.px, v);
      Kernels::from_limbs(y, b.py, v);
      edwards::prepare(Kernels::kField, entry, x, y, d);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t at = v * kLanes + lane;
        if (at >= 2 * kBaseEntries) return;
        Limb* const row = static_cast<Limb*>(table) + at * BaseRows::kRowWords;
        for (std::size_t word = 0; word < 3 * kDigits; ++word) {
          row[word] = (entry.*Forms::kPrepared[word / kDigits]).number.digit[word % kDigits][lane];
        }
      }
    }
  }

  static std::size_t bytes(std::size_t /*vectors*/) { return sizeof(Tables); }

  static void compare(const EdwardsBlock& b) {
    auto& tables = *static_cast<Tables*>(b.scratch);
    const Element d = Kernels::cached_d();
    set_neutral_rows(tables, d);
    Element zero;
    Kernels::kField.zero(zero);
    Extended sum;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      add_up(sum, b, v, tables, d);
      for (unsigned i = 0; i < b.doublings; ++i) Kernels::template twice<WithT::no>(sum);
      Vectors::store(b.mask, v, Kernels::kField.equal(sum.x, zero) & Kernels::kField.equal(sum.y, sum.z));
    }
  }

 private:
  using Split = HalfScalars<typename Kernels::InstructionSet, kLimbs, kOrderBits, Curves::kCofactorBits>;
  /// Vectors whose scalars are split together.
  static constexpr std::size_t kTogether = 4;

  template <std::size_t kCount>
  static void split_some(const EdwardsBlock& b, std::size_t first) {
    typename Split::Results results[kCount];
    const Limb* k[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::size_t v = first + i, at = v * kLimbs * kLanes;
      k[i] = b.scalar + at;
      results[i] = {b.rho + at, b.tau + at, b.mask + v * kLanes};
    }
    Split::split(results, k, b.group_order);
  }

  /// The multiples 0 .. 2^(kWidth - 1) of the point of each lane.
  struct Table {
    Limb word[kEntries][kLanes][PointRows::kRowWords];
  };
  /// Scratch of a call.
  struct Tables {
    Table p, q;
    Extended multiple[kEntries];
  };

  static void set_neutral_rows(Tables& tables, const Element& d) {
    Extended neutral;
    Cached cached;
    edwards::set_neutral(Kernels::kField, neutral);
    Kernels::cache(cached, neutral, d);
    store_entry(tables.p, 0, cached);
    store_entry(tables.q, 0, cached);
  }
  [[gnu::noinline]] static void store_entry(Table& table, std::size_t index, const Cached& entry) {
    PointRows::store([&](std::size_t lane) { return table.word[index][lane]; },
                     [&](std::size_t word) {
                       return (entry.*Forms::kCached[word / kDigits]).number.digit[word % kDigits];
                     });
  }
  static void make_table(Table& table, Extended* multiple, const Limb* x, const Limb* y, std::size_t v,
                         const Element& d) {
    Kernels::load_point(multiple[0], x, y, v);
    Kernels::make_multiples(multiple, d,
                            [&](std::size_t i, const Cached& entry) { store_entry(table, i + 1, entry); });
  }

  /// sum = u G + v P - w Q, or u G - v P - w Q where b.negative is set, for the points and scalars of vector
  /// v of the block.
  static void add_up(Extended& sum, const EdwardsBlock& b, std::size_t v, Tables& tables, const Element& d) {
    make_table(tables.p, tables.multiple, b.px, b.py, v, d);
    make_table(tables.q, tables.multiple, b.qx, b.qy, v, d);
    const Mask negative_p = Vectors::load(b.negative, v), negative_q = Vector{} - 1;
    edwards::set_neutral(Kernels::kField, sum);
    const unsigned windows = windows_of(b, v) * kWidth;
    for (unsigned bit = windows > kHalfBits ? windows : kHalfBits; bit-- > 0;) {
      const bool of_points = bit % kWidth == 0 && bit < windows;
      const bool of_base = bit % kBaseWidth == 0 && bit < kHalfBits;
      if (!of_points && !of_base) {
        Kernels::template twice<WithT::no>(sum);
        continue;
      }
      Kernels::template twice<WithT::yes>(sum);
      if (of_points) {
        add_multiple<WithT::yes>(sum, tables.p, b.scalar, v, bit, negative_p);
        if (of_base) {
          add_multiple<WithT::yes>(sum, tables.q, b.other_scalar, v, bit, negative_q);
        } else {
          add_multiple<WithT::no>(sum, tables.q, b.other_scalar, v, bit, negative_q);
        }
      }
      if (of_base) add_base(sum, b, v, bit);
    }
  }
  template <WithT kWithT>
  static void add_multiple(Extended& sum, const Table& table, const Limb* scalar, std::size_t v, unsigned bit,
                           Mask opposite) {
    Cached entry;
    select_point(entry, table, Kernels::bits_from(scalar, v, bit, kWidth + 1), opposite);
    Kernels::template add_cached<kWithT>(sum, entry);
  }
  [[gnu::noinline, gnu::flatten]] static void select_point(Cached& r, const Table& table, Vector window,
                                                           Mask opposite) {
    const auto [magnitude, negative] = Kernels::signed_digits(window, kWidth);
    PointRows::load([&](std::size_t lane) { return table.word[magnitude[lane]][lane]; },
                    [&](std::size_t word, Vector value) {
                      (r.*Forms::kCached[word / kDigits]).number.digit[word % kDigits] = value;
                    });
    for (std::size_t c = 0; c < 4; ++c) (r.*Forms::kCached[c]).set_magnitude(Forms::kMagnitude[c]);
    edwards::negate_where(Kernels::kField, r, negative ^ opposite);
  }
  /// Adds the entries of the window at `bit` of both halves of the generator's scalar. Those of the next
  /// window are prefetched, as the table is larger than the first-level cache.
  static void add_base(Extended& sum, const EdwardsBlock& b, std::size_t v, unsigned bit) {
    Prepared entry;
    for (const unsigned half : {0U, 1U}) {
      select_base(entry, b, v, bit, half);
      Kernels::add_prepared(sum, entry);
    }
    if (bit >= kBaseWidth) prefetch_base(b, v, bit - kBaseWidth);
  }
  struct BaseEntries {
    const Limb* table;
    typename Kernels::SignedDigits digits;

    const Limb* row(std::size_t lane) const { return table + digits.magnitude[lane] * BaseRows::kRowWords; }
  };
  static BaseEntries base_entries(const EdwardsBlock& b, std::size_t v, unsigned bit, unsigned half) {
    const Vector window = Kernels::bits_from(b.base_scalar, v, bit + half * kHalfBits, kBaseWidth + 1);
    return {static_cast<const Limb*>(b.base_table) + half * kBaseEntries * BaseRows::kRowWords,
            Kernels::signed_digits(window, kBaseWidth)};
  }
  [[gnu::noinline, gnu::flatten]] static void select_base(Prepared& r, const EdwardsBlock& b, std::size_t v,
                                                          unsigned bit, unsigned half) {
    const BaseEntries entries = base_entries(b, v, bit, half);
    BaseRows::load([&](std::size_t lane) { return entries.row(lane); },
                   [&](std::size_t word, Vector value) {
                     (r.*Forms::kPrepared[word / kDigits]).number.digit[word % kDigits] = value;
                   });
    for (const auto coordinate : Forms::kPrepared) (r.*coordinate).set_magnitude(1);
    edwards::negate_where(Kernels::kField, r, entries.digits.negative);
  }
  [[gnu::noinline]] static void prefetch_base(const EdwardsBlock& b, std::size_t v, unsigned bit) {
    constexpr std::size_t kLineWords = 8;
    for (const unsigned half : {0U, 1U}) {
      const BaseEntries entries = base_entries(b, v, bit, half);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::size_t word = 0; word < BaseRows::kRowWords; word += kLineWords)
          __builtin_prefetch(entries.row(lane) + word);
      }
    }
  }

  /// The number of windows of x, the longest scalar of P or Q in vector v. x < 2^(windows kWidth - 1), so
  /// that the digit of the highest window is not negative.
  static unsigned windows_of(const EdwardsBlock& b, std::size_t v) {
    for (std::size_t limb = kLimbs; limb-- > 0;) {
      const Vector any =
          Vectors::load(b.scalar, v * kLimbs + limb) | Vectors::load(b.other_scalar, v * kLimbs + limb);
      Limb all = 0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) all |= any[lane];
      if (all == 0) continue;
      const auto doubled_bits =
          static_cast<unsigned>(limb * kLimbBits + kLimbBits) - static_cast<unsigned>(__builtin_clzll(all));
      return (doubled_bits + kWidth - 1) / kWidth;
    }
    return 0;
  }
};

}  // namespace manymod::ecc::lanes
