// SPDX-License-Identifier: Apache-2.0
// Montgomery reduction of the columns of products.avx512ifma.hpp, with selections from tables interleaved
// with its rows. Included by kernels.avx512ifma.cpp alone.
#pragma once

#include <cstdint>

#include "modmul/ifma52/products.avx512ifma.hpp"

namespace manymod::ifma52 {
namespace {

/// What a reduction's rows do beside their products: nothing.
struct NoSelection {
  static constexpr std::size_t kEntries = 0;
  struct Work {};
  NoSelection(const Work&, std::size_t) {}
  void copy(std::size_t) const {}
  void next_digit() const {}
};

/// 0, 1, .. in memory, as far as the largest table reaches.
constexpr auto kNumbers = [] {
  std::array<std::uint32_t, lanes::SelectShare::kMostEntries> numbers{};
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}();

/// How a selection replaces the digit of the entry chosen so far by that of a later one, in the lanes whose
/// index it is.
///   masked_stores  to memory, entry by entry. On Intel's cores neither loads nor masked stores occupy the
///                  multipliers if a store follows the load of its vector at once; blends would, and so would
///                  stores of registers that were loaded earlier. Copies to one digit come one after the
///                  other: in the order of the entries they cost 0.6 vpmadd52 each.
///   blends         in a register, with one store for each digit. AMD's cores have ports for blends beside
///                  those of the multipliers, and start a store of 64 bytes in two cycles only: masked stores
///                  would cost 0.7 vpmadd52 each.
enum class SelectBy : std::uint8_t { masked_stores, blends };

/// A share of a selection, `Entries` entries from share.first on, digit by digit.
template <std::size_t Entries, SelectBy select_by>
class InterleavedSelection {
 public:
  static constexpr std::size_t kEntries = Entries;
  using Work = lanes::SelectShare;
  /// From digit `start` on.
  InterleavedSelection(const Work& share, std::size_t start)
      : chosen_(share.chosen + start * kLanes),
        entry_(share.table + share.first * share.stride + start * kLanes),
        stride_(share.stride) {
#pragma GCC unroll 7
    for (std::size_t i = 0; i < Entries; ++i) {
      lanes_[i] = lanes_with(share.indices, &kNumbers[share.first + i]);
    }
  }
  void copy(std::size_t i) {
    const Vector entry = load(entry_ + i * stride_);
    if constexpr (select_by == SelectBy::masked_stores) {
      store_lanes(chosen_, lanes_[i], entry);
    } else {
      if (i == 0) digit_ = load(chosen_);
      digit_ = blended(digit_, lanes_[i], entry);
      if (i + 1 == Entries) store(chosen_, digit_);
    }
  }
  void next_digit() {
    chosen_ += kLanes;
    entry_ += kLanes;
  }

 private:
  Limb* chosen_;
  const Limb* entry_;
  std::size_t stride_;
  Lanes lanes_[Entries];
  Vector digit_{};  ///< by blends: what is chosen so far
};

/// The digit q that makes a biased column a multiple of 2^52: (column + 1) k0 = -(column + 1 - 2^52) / n.
inline Vector quotient_digit(Vector column, Vector k0) {
  Vector q = k0;
  add_low(q, column, k0);
  return q;
}

/// Rows of a Montgomery reduction over W digits of n: q n is added, the lowest column is dropped and its
/// carry passed on. Columns are biased: see kBias. The next row's q is started on as early as its column is
/// complete: were it last in program order, the row's other products, older and ready, would go first and its
/// latency would stop the next row.
template <std::size_t W, class Selection>
struct Rows {
  static constexpr std::size_t kNextDigitAfter = W > kAhead + 1 ? kAhead : W - 1;
  static constexpr std::size_t kCarryAfter = W > 4 ? 4 : W - 1;
  static constexpr std::size_t kCopies = Selection::kEntries;
  static_assert(kCopies < W);

  Vector acc[W];
  Vector q, next, carry;
  const Limb* n;
  const Limb* k0;
  Selection selection;

  Rows(const Limb* modulus, const Limb* k, const Selection& beside) : n(modulus), k0(k), selection(beside) {}

  void first_digit() { q = quotient_digit(acc[0], load(k0)); }
  void begin() {
    carry = carry_of(acc[0]);
    add_high(carry, q, load(n));
    acc[0] = acc[1];
  }
  /// Digit j of n, 1 <= j < W. `incoming()`: what the column above the highest holds already.
  template <class Incoming>
  void multiply(std::size_t j, Incoming incoming) {
    const Vector factor = load(n + j * kLanes);
    add_low(acc[j - 1], q, factor);
    if (j == kCarryAfter) acc[0] = add(acc[0], carry);
    if (j == kNextDigitAfter) next = quotient_digit(acc[0], load(k0));
    const std::size_t copy = (j - 1) * kCopies / (W - 1);
    if (copy != j * kCopies / (W - 1)) selection.copy(copy);
    acc[j] = j + 1 < W ? acc[j + 1] : incoming();
    add_high(acc[j], q, factor);
  }
  void end() {
    selection.next_digit();
    q = next;
  }
};

/// r = the columns with carries passed on.
template <std::size_t W>
inline void store_digits(Limb* r, const Vector (&acc)[W]) {
  Vector sum = acc[0];
  store(r, sum);
#pragma GCC unroll 22
  for (std::size_t j = 1; j < W; ++j) {
    sum = add(acc[j], carry_of(sum));
    store(r + j * kLanes, sum);
  }
}

/// r = columns / R mod n for W digits: all columns that a row touches stay in registers.
template <std::size_t W, class Selection, class Columns>
[[gnu::noinline]] void reduce_in_registers(Limb* r, const Columns& columns, const Limb* n,
                                           const typename Selection::Work& work) {
  Rows<W, Selection> rows(n, n + W * kLanes, Selection(work, 0));
#pragma GCC unroll 22
  for (std::size_t j = 0; j < W; ++j) rows.acc[j] = columns.lower(j);
  rows.first_digit();
#pragma GCC unroll 22
  for (std::size_t row = 0; row < W; ++row) {
    rows.begin();
#pragma GCC unroll 22
    for (std::size_t j = 1; j < W; ++j) rows.multiply(j, [&] { return columns.upper(row + W); });
    rows.end();
  }
  store_digits<W>(r, rows.acc);
}

/// The selections of two vectors beside their common rows, two digits a row: first those of the first vector,
/// then those of the second. Both at a time would need more mask registers than there are.
template <std::size_t W, class Selection>
class PairSelection {
 public:
  explicit PairSelection(const typename Selection::Work* work) : work_(work), selection_(work[0], 0) {}
  /// Beside digit j of n in row `row`.
  void beside(std::size_t row, std::size_t j) {
    const std::size_t end = j * kCopies / (W - 1);
#pragma GCC unroll 2
    for (std::size_t i = (j - 1) * kCopies / (W - 1); i < end; ++i) {
      const std::size_t entry = i % Selection::kEntries;
      if (2 * row + i / Selection::kEntries == W && entry == 0) selection_ = Selection(work_[1], 0);
      selection_.copy(entry);
      if (entry + 1 == Selection::kEntries) selection_.next_digit();
    }
  }

 private:
  static constexpr std::size_t kCopies = 2 * Selection::kEntries;
  static_assert(kCopies <= 2 * (W - 1));

  const typename Selection::Work* work_;
  Selection selection_;
};

template <std::size_t W>
class PairSelection<W, NoSelection> {
 public:
  explicit PairSelection(const NoSelection::Work*) {}
  void beside(std::size_t, std::size_t) const {}
};

/// The same for two vectors at a time, in turn digit by digit: short rows end before their quotient digit is
/// through the pipeline, and the other vector's products fill the gap.
template <std::size_t W, class Selection, class Columns>
[[gnu::noinline]] void reduce_pair_in_registers(const lanes::Pair& x, const Columns& columns0,
                                                const Columns& columns1,
                                                const typename Selection::Work* work) {
  Rows<W, NoSelection> rows0(x.modulus[0], x.modulus[0] + W * kLanes, NoSelection({}, 0));
  Rows<W, NoSelection> rows1(x.modulus[1], x.modulus[1] + W * kLanes, NoSelection({}, 0));
  PairSelection<W, Selection> selection(work);
#pragma GCC unroll 10
  for (std::size_t j = 0; j < W; ++j) {
    rows0.acc[j] = columns0.lower(j);
    rows1.acc[j] = columns1.lower(j);
  }
  rows0.first_digit();
  rows1.first_digit();
#pragma GCC unroll 10
  for (std::size_t row = 0; row < W; ++row) {
    rows0.begin();
    rows1.begin();
#pragma GCC unroll 10
    for (std::size_t j = 1; j < W; ++j) {
      rows0.multiply(j, [&] { return columns0.upper(row + W); });
      selection.beside(row, j);
      rows1.multiply(j, [&] { return columns1.upper(row + W); });
    }
    rows0.end();
    rows1.end();
  }
  store_digits<W>(x.r[0], rows0.acc);
  store_digits<W>(x.r[1], rows1.acc);
}

/// Rows over the lower W digits of n, their digits kept in q; the columns stay in t.
template <std::size_t W, std::size_t count, class Selection>
[[gnu::noinline]] void reduce_rows(Limb* t, const Limb* n, const Limb* k0, Limb* q,
                                   const typename Selection::Work& work, std::size_t start) {
  Rows<W, Selection> rows(n, k0, Selection(work, start));
  load_block(rows.acc, t);
  rows.first_digit();
#pragma GCC unroll 10
  for (std::size_t row = 0; row < count; ++row) {
    store(q + row * kLanes, rows.q);
    rows.begin();
#pragma GCC unroll 22
    for (std::size_t j = 1; j < W; ++j) rows.multiply(j, [&] { return load(t + (row + W) * kLanes); });
    rows.end();
  }
  store_block(t + count * kLanes, rows.acc);
}

/// t = 2 t + the squares of a's digits, and the bias in the lower columns.
inline void double_and_add_squares(Limb* t, const Limb* a, std::size_t digits) {
  for (std::size_t i = 0; i < digits; ++i) {
    const Vector digit = load(a + i * kLanes);
    Limb* column = t + 2 * i * kLanes;
    Vector even = rotate_left(load(column));
    Vector odd = rotate_left(load(column + kLanes));
    add_low(even, digit, digit);
    add_high(odd, digit, digit);
    store(column, even);
    store(column + kLanes, odd);
  }
}

/// r = the columns t with carries passed on, `digits` of them.
inline void pass_carries(Limb* r, const Limb* t, std::size_t digits) {
  Vector carry = zero();
  for (std::size_t at = 0; at < digits * kLanes; at += kLanes) {
    const Vector sum = add(load(t + at), carry);
    carry = carry_of(sum);
    store(r + at, sum);
  }
}

/// t[0 .. digits + B) += q n for B digits q and `digits` digits of n.
template <std::size_t B>
[[gnu::noinline]] void add_block(Limb* t, const Limb* q, const Limb* n, std::size_t digits) {
  Vector acc[B];
  Vector factor[B];
  load_block(factor, q);
  load_block(acc, t);
  slide(acc, factor, n, t, digits, [t](std::size_t s) { return load(t + (s + B) * kLanes); });
  store_block(t + digits * kLanes, acc);
}

/// Calls f(size) with `size` as a compile-time constant.
template <std::size_t lowest, std::size_t highest, class F>
inline void with_constant(std::size_t size, F f) {
  if constexpr (lowest == highest) {
    f(std::integral_constant<std::size_t, lowest>());
  } else {
    constexpr std::size_t middle = (lowest + highest) / 2;
    if (size <= middle) {
      with_constant<lowest, middle>(size, f);
    } else {
      with_constant<middle + 1, highest>(size, f);
    }
  }
}

/// Reduction in blocks of rows where the columns outnumber the registers. t: 2 `digits` columns.
template <class Selection>
void reduce_in_blocks(Limb* r, Limb* t, const Limb* modulus, std::size_t digits,
                      const typename Selection::Work& work) {
  Limb* q = t + (2 * digits + kBlock) * kLanes;
  for (std::size_t start = 0; start < digits; start += kBlock) {
    const std::size_t rows = digits - start < kBlock ? digits - start : kBlock;
    Limb* column = t + start * kLanes;
    with_constant<1, kBlock>(rows, [&](auto size) {
      reduce_rows<kBlockColumns, size, Selection>(column, modulus, modulus + digits * kLanes, q, work, start);
      add_block<size>(column + kBlockColumns * kLanes, q, modulus + kBlockColumns * kLanes,
                      digits - kBlockColumns);
    });
  }
  pass_carries(r, t + digits * kLanes, digits);
}

}  // namespace
}  // namespace manymod::ifma52
