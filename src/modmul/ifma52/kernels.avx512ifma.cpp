// SPDX-License-Identifier: Apache-2.0
// Almost-Montgomery multiplication and squaring by AVX-512 IFMA: eight instances side by side in the 64-bit
// lanes of a vector, digits of 52 bits (Gueron, Krasnov 2016: "Accelerating big integer arithmetic using
// Intel IFMA extensions"; almost-Montgomery: Gueron 2012).
#include <array>
#include <type_traits>

#include "arch/avx512ifma/vector.hpp"
#include "lanes/digit_loops.hpp"
#include "modmul/ifma52/kernels.hpp"

namespace manymod::ifma52 {
namespace {

constexpr std::size_t kLanes = 8;
constexpr unsigned kDigitBits = 52;
constexpr std::size_t kMaxDigits = 320;
static_assert(4 * kMaxDigits < std::size_t{1} << (63 - kDigitBits));

/// Rows of a product that one pass over the other operand works off: their digits and as many column sums
/// stay in registers.
constexpr std::size_t kBlock = 10;
/// Most digits whose columns stay in registers for a whole reduction.
constexpr std::size_t kWindow = 22;
/// Columns in registers during a block of rows of longer numbers.
constexpr std::size_t kRowWindow = 20;
/// Products by this digit of n come before the next quotient digit, which by then is complete.
constexpr std::size_t kAhead = 8;

/// What the lower L columns of a product start at. With c the sum of products in a column and r = c mod 2^52,
/// adding q n makes c the multiple ceil(c / 2^52) of 2^52: its low half r + (q n mod 2^52) is 0 or 2^52. So
/// (c + 2^52 - 1) div 2^52 is the carry, without the product q n[0] mod 2^52. A column has at most 2 L halves
/// of products a b, 2 L of q n, the bias and a carry of at most 4 L: below 4 L 2^52 < 2^63 for L <=
/// kMaxDigits.
constexpr Limb kBias = (Limb{1} << kDigitBits) - 1;
/// The same for columns that are doubled by a rotation: the top bit comes in at the bottom, and
/// 2 (2^51 - 1) + 1 = 2^52 - 1. A column has fewer than L halves of cross products, and L 2^52 + 2^51 < 2^62.
constexpr Limb kHalfBias = (Limb{1} << 63) + (kBias >> 1);

using avx512ifma::add;
using avx512ifma::add_high;
using avx512ifma::add_low;
using avx512ifma::blended;
using avx512ifma::broadcast;
using avx512ifma::carry_of;
using avx512ifma::Lanes;
using avx512ifma::lanes_with;
using avx512ifma::load;
using avx512ifma::rotate_left;
using avx512ifma::store;
using avx512ifma::store_lanes;
using avx512ifma::Vector;
using avx512ifma::zero;

/// B digits x against `steps` digits of y: columns t[0 .. steps) are retired, the B above stay in acc.
/// `incoming(s)`: what column s + B holds already.
template <std::size_t B, class Incoming>
[[gnu::always_inline]] inline void slide(Vector (&acc)[B], const Vector (&x)[B], const Limb* y, Limb* t,
                                         std::size_t steps, Incoming incoming) {
#pragma GCC unroll 2
  for (std::size_t s = 0; s < steps; ++s) {
    const Vector digit = load(y + s * kLanes);
#pragma GCC unroll 10
    for (std::size_t i = 0; i < B; ++i) add_low(acc[i], x[i], digit);
    store(t + s * kLanes, acc[0]);
    const Vector next = incoming(s);
#pragma GCC unroll 10
    for (std::size_t i = 0; i < B; ++i) {
      acc[i] = i + 1 < B ? acc[i + 1] : next;
      add_high(acc[i], x[i], digit);
    }
  }
}

template <std::size_t B>
inline void load_block(Vector (&v)[B], const Limb* p) {
#pragma GCC unroll 22
  for (std::size_t i = 0; i < B; ++i) v[i] = load(p + i * kLanes);
}

template <std::size_t B>
inline void store_block(Limb* p, const Vector (&v)[B]) {
#pragma GCC unroll 22
  for (std::size_t i = 0; i < B; ++i) store(p + i * kLanes, v[i]);
}

/// t[0 .. digits + B) = x y, or += where x is not the first block; of the first block the lower `digits`
/// columns start at the bias. x: B digits.
template <std::size_t B>
[[gnu::noinline]] void product_block(Limb* t, const Limb* x, const Limb* y, std::size_t digits, bool first) {
  Vector acc[B];
  Vector factor[B];
  load_block(factor, x);
  const auto nothing = [](std::size_t) { return zero(); };
  const std::size_t inner = digits - B;
  if (first) {
    const Vector bias = broadcast(kBias);
#pragma GCC unroll 10
    for (std::size_t i = 0; i < B; ++i) acc[i] = bias;
    slide(acc, factor, y, t, inner, [bias](std::size_t) { return bias; });
  } else {
    load_block(acc, t);
    slide(acc, factor, y, t, inner, [t](std::size_t s) { return load(t + (s + B) * kLanes); });
  }
  slide(acc, factor, y + inner * kLanes, t + inner * kLanes, B, nothing);
  store_block(t + digits * kLanes, acc);
}

/// t[0 .. 2 B) = x y for B digits of each, the lower columns from the bias on.
template <std::size_t B>
[[gnu::noinline]] void short_product(Limb* t, const Limb* x, const Limb* y) {
  const Vector bias = broadcast(kBias);
  Vector acc[B];
  Vector factor[B];
  load_block(factor, x);
#pragma GCC unroll 10
  for (std::size_t i = 0; i < B; ++i) acc[i] = bias;
  slide(acc, factor, y, t, B, [](std::size_t) { return zero(); });
  store_block(t + B * kLanes, acc);
}

/// What a column holds before the first product of this block reaches it: the columns of a first block start
/// at half the bias, later ones hold sums; above those, columns start at zero.
struct HalfBias {
  Vector value;
  Vector operator()(std::size_t) const { return value; }
};
struct Sums {
  const Limb* column;
  Vector operator()(std::size_t c) const { return load(column + c * kLanes); }
};
struct Nothing {
  Vector operator()(std::size_t) const { return zero(); }
};
/// One of the others below column `end`, nothing above.
template <class Below>
struct Until {
  Below below;
  std::size_t end;
  Vector operator()(std::size_t c) const { return c < end ? below(c) : zero(); }
};

/// The products x_i x_j, i < j, with i in the block of B digits x and j up to `rest` digits behind it.
/// column: the block's lowest column. `incoming` serves the columns from B on, but for the last B.
template <std::size_t B, class Incoming>
[[gnu::always_inline]] inline void cross_block(Limb* column, const Limb* x, std::size_t rest,
                                               Vector (&acc)[B], Incoming incoming) {
  Vector factor[B];
  load_block(factor, x);
#pragma GCC unroll 10
  for (std::size_t s = 0; s < B; ++s) {
#pragma GCC unroll 10
    for (std::size_t i = 0; i < s; ++i) add_low(acc[i], factor[i], factor[s]);
    store(column + s * kLanes, acc[0]);
#pragma GCC unroll 10
    for (std::size_t i = 0; i + 1 < B; ++i) {
      acc[i] = acc[i + 1];
      if (i < s) add_high(acc[i], factor[i], factor[s]);
    }
    acc[B - 1] = incoming(s + B);
  }
  const std::size_t inner = rest < B ? rest : rest - B;
  const Limb* y = x + B * kLanes;
  column += B * kLanes;
  slide(acc, factor, y, column, inner, [&](std::size_t s) { return incoming(s + 2 * B); });
  slide(acc, factor, y + inner * kLanes, column + inner * kLanes, rest - inner,
        [](std::size_t) { return zero(); });
  store_block(column + rest * kLanes, acc);
}

/// t += the products x_i x_j, i < j < digits, with i in the block of B digits at `start`; columns below start
/// + digits hold sums already, but for start = 0.
template <std::size_t B>
[[gnu::noinline]] void add_cross_products(Limb* t, const Limb* a, std::size_t start, std::size_t digits) {
  const Limb* x = a + start * kLanes;
  Limb* column = t + 2 * start * kLanes;
  const std::size_t rest = digits - start - B;
  Vector acc[B];
  if (start == 0) {
    const HalfBias bias{broadcast(kHalfBias)};
#pragma GCC unroll 10
    for (std::size_t i = 0; i < B; ++i) acc[i] = bias.value;
    if (rest == 0) return cross_block(column, x, rest, acc, Nothing());
    if (rest >= B) return cross_block(column, x, rest, acc, bias);
    return cross_block(column, x, rest, acc, Until<HalfBias>{bias, digits});
  }
  load_block(acc, column);
  if (rest == 0) return cross_block(column, x, rest, acc, Nothing());
  if (rest >= B) return cross_block(column, x, rest, acc, Sums{column});
  return cross_block(column, x, rest, acc, Until<Sums>{Sums{column}, digits - start});
}

/// t[0 .. 2 B) = the products x_i x_j, i < j < B, the lower columns from half the bias on.
template <std::size_t B>
[[gnu::noinline]] void short_cross_products(Limb* t, const Limb* x) {
  const Vector bias = broadcast(kHalfBias);
  Vector acc[B];
#pragma GCC unroll 10
  for (std::size_t i = 0; i < B; ++i) acc[i] = bias;
  cross_block(t, x, 0, acc, Nothing());
}

/// 2 t + the squares of a's digits at column c; even and odd columns take the low and the high halves.
inline Vector squared_column(const Limb* t, const Limb* a, std::size_t c) {
  const Vector digit = load(a + c / 2 * kLanes);
  Vector sum = rotate_left(load(t + c * kLanes));
  if (c % 2 == 0) {
    add_low(sum, digit, digit);
  } else {
    add_high(sum, digit, digit);
  }
  return sum;
}

/// Columns of a product for reduction by rows.
struct ProductColumns {
  const Limb* t;
  Vector lower(std::size_t c) const { return load(t + c * kLanes); }
  Vector upper(std::size_t c) const { return load(t + c * kLanes); }
};

/// Columns of a square: doubled cross products and the squares of the digits.
struct SquareColumns {
  const Limb* t;
  const Limb* a;
  Vector lower(std::size_t c) const { return squared_column(t, a, c); }
  Vector upper(std::size_t c) const { return squared_column(t, a, c); }
};

/// What a reduction's rows do beside their products: nothing.
struct NoShadow {
  static constexpr std::size_t kEntries = 0;
  struct Work {};
  NoShadow(const Work&, std::size_t) {}
  void copy(std::size_t) const {}
  void next_digit() const {}
};

/// 0, 1, .. in memory, as far as the largest table reaches.
constexpr auto kNumbers = [] {
  std::array<std::uint32_t, lanes::SelectShare::kMostEntries> numbers{};
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}();

/// How a selection puts an entry's digit in the place of the chosen one's, in the lanes that want it.
///   stores   under a mask, entry by entry. Loads and masked stores leave both multipliers of Intel's cores
///            alone, where a store follows the load of its vector at once; blending would not, nor do stores
///            of older registers. Copies to one digit come one after the other: in the order of the entries
///            they cost 0.6 vpmadd52 each.
///   blends   in a register, with one store for each digit. AMD's cores have ports for that beside those of
///            the multipliers, and start a store of 64 bytes in two cycles: there masked stores cost 0.7
///            vpmadd52 each.
enum class Placing : std::uint8_t { stores, blends };

/// A share of a selection, `Entries` entries from share.first on, digit by digit.
template <std::size_t Entries, Placing placing>
class SelectShadow {
 public:
  static constexpr std::size_t kEntries = Entries;
  using Work = lanes::SelectShare;
  /// From digit `start` on.
  SelectShadow(const Work& share, std::size_t start)
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
    if constexpr (placing == Placing::stores) {
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
template <std::size_t W, class Shadow>
struct Rows {
  static constexpr std::size_t kNextDigitAfter = W > kAhead + 1 ? kAhead : W - 1;
  static constexpr std::size_t kCarryAfter = W > 4 ? 4 : W - 1;
  static constexpr std::size_t kCopies = Shadow::kEntries;
  static_assert(kCopies < W);

  Vector acc[W];
  Vector q, next, carry;
  const Limb* n;
  const Limb* k0;
  Shadow shadow;

  Rows(const Limb* modulus, const Limb* k, const Shadow& beside) : n(modulus), k0(k), shadow(beside) {}

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
    if (copy != j * kCopies / (W - 1)) shadow.copy(copy);
    acc[j] = j + 1 < W ? acc[j + 1] : incoming();
    add_high(acc[j], q, factor);
  }
  void end() {
    shadow.next_digit();
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
template <std::size_t W, class Shadow, class Columns>
[[gnu::noinline]] void reduce_in_registers(Limb* r, const Columns& columns, const Limb* n,
                                           const typename Shadow::Work& work) {
  Rows<W, Shadow> rows(n, n + W * kLanes, Shadow(work, 0));
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
template <std::size_t W, class Shadow>
class PairShadow {
 public:
  explicit PairShadow(const typename Shadow::Work* work) : work_(work), shadow_(work[0], 0) {}
  /// Beside digit j of n in row `row`.
  void beside(std::size_t row, std::size_t j) {
    const std::size_t end = j * kCopies / (W - 1);
#pragma GCC unroll 2
    for (std::size_t i = (j - 1) * kCopies / (W - 1); i < end; ++i) {
      const std::size_t entry = i % Shadow::kEntries;
      if (2 * row + i / Shadow::kEntries == W && entry == 0) shadow_ = Shadow(work_[1], 0);
      shadow_.copy(entry);
      if (entry + 1 == Shadow::kEntries) shadow_.next_digit();
    }
  }

 private:
  static constexpr std::size_t kCopies = 2 * Shadow::kEntries;
  static_assert(kCopies <= 2 * (W - 1));

  const typename Shadow::Work* work_;
  Shadow shadow_;
};

template <std::size_t W>
class PairShadow<W, NoShadow> {
 public:
  explicit PairShadow(const NoShadow::Work*) {}
  void beside(std::size_t, std::size_t) const {}
};

/// The same for two vectors at a time, in turn digit by digit: short rows end before their quotient digit is
/// through the pipeline, and the other vector's products fill the gap.
template <std::size_t W, class Shadow, class Columns>
[[gnu::noinline]] void reduce_pair_in_registers(const lanes::Pair& x, const Columns& columns0,
                                                const Columns& columns1, const typename Shadow::Work* work) {
  Rows<W, NoShadow> rows0(x.modulus[0], x.modulus[0] + W * kLanes, NoShadow({}, 0));
  Rows<W, NoShadow> rows1(x.modulus[1], x.modulus[1] + W * kLanes, NoShadow({}, 0));
  PairShadow<W, Shadow> shadow(work);
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
      shadow.beside(row, j);
      rows1.multiply(j, [&] { return columns1.upper(row + W); });
    }
    rows0.end();
    rows1.end();
  }
  store_digits<W>(x.r[0], rows0.acc);
  store_digits<W>(x.r[1], rows1.acc);
}

/// Rows over the lower W digits of n, their digits kept in q; the columns stay in t.
template <std::size_t W, std::size_t count, class Shadow>
[[gnu::noinline]] void reduce_rows(Limb* t, const Limb* n, const Limb* k0, Limb* q,
                                   const typename Shadow::Work& work, std::size_t start) {
  Rows<W, Shadow> rows(n, k0, Shadow(work, start));
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
template <class Shadow>
void reduce_in_blocks(Limb* r, Limb* t, const Limb* modulus, std::size_t digits,
                      const typename Shadow::Work& work) {
  Limb* q = t + (2 * digits + kBlock) * kLanes;
  for (std::size_t start = 0; start < digits; start += kBlock) {
    const std::size_t rows = digits - start < kBlock ? digits - start : kBlock;
    Limb* column = t + start * kLanes;
    with_constant<1, kBlock>(rows, [&](auto size) {
      reduce_rows<kRowWindow, size, Shadow>(column, modulus, modulus + digits * kLanes, q, work, start);
      add_block<size>(column + kRowWindow * kLanes, q, modulus + kRowWindow * kLanes, digits - kRowWindow);
    });
  }
  pass_carries(r, t + digits * kLanes, digits);
}

/// Shares of a selection: seven entries, of a table of 32 beside five squarings, or four, of 16 beside four.
constexpr std::size_t kLongShare = 7;
constexpr std::size_t kShortShare = 4;
/// Tables of fewer digits are scanned.
constexpr std::size_t kFewestSelected = 8;

/// Seven loads and stores fit into a row of 11 digits or more, and the table of 32 entries into the
/// first-level cache up to 20 digits. Beyond that a copy costs 0.7 to 1.2 vpmadd52, which long numbers can
/// afford. Blends are paid back by the wider window at every length.
template <Placing placing>
constexpr bool looks_at_many(std::size_t digits) {
  constexpr std::size_t kCachedDigits = 20;
  constexpr std::size_t kLongNumber = 36;
  if (digits <= kBlock) return false;
  return placing == Placing::blends || digits <= kCachedDigits || digits >= kLongNumber;
}

template <Placing placing>
std::size_t free_entries(std::size_t digits) {
  if (digits < kFewestSelected) return 0;
  return looks_at_many<placing>(digits) ? kLongShare : kShortShare;
}

constexpr std::size_t block_of(std::size_t digits) {
  const std::size_t blocks = (digits + kBlock - 1) / kBlock;
  return (digits + blocks - 1) / blocks;
}

template <class F>
inline void for_each_block(std::size_t digits, F f) {
  const std::size_t block = block_of(digits);
  for (std::size_t start = 0; start < digits; start += block) {
    with_constant<1, kBlock>(digits - start < block ? digits - start : block,
                             [&](auto size) { f(start, size); });
  }
}

void multiply(Limb* t, const Limb* a, const Limb* b, std::size_t digits) {
  for_each_block(digits, [&](std::size_t start, auto size) {
    product_block<size>(t + start * kLanes, b + start * kLanes, a, digits, start == 0);
  });
}

/// The cross products of a square.
void multiply_across(Limb* t, const Limb* a, std::size_t digits) {
  for_each_block(digits,
                 [&](std::size_t start, auto size) { add_cross_products<size>(t, a, start, digits); });
}

/// The same for `digits` <= kWindow: one or two blocks, without a choice at run time.
template <std::size_t digits>
inline void multiply_short(Limb* t, const Limb* a, const Limb* b) {
  if constexpr (digits <= kBlock) {
    short_product<digits>(t, b, a);
  } else if constexpr (digits <= 2 * kBlock) {
    constexpr std::size_t kLower = block_of(digits);
    product_block<kLower>(t, b, a, digits, true);
    product_block<digits - kLower>(t + kLower * kLanes, b + kLower * kLanes, a, digits, false);
  } else {
    multiply(t, a, b, digits);
  }
}
template <std::size_t digits>
inline void multiply_across_short(Limb* t, const Limb* a) {
  if constexpr (digits <= kBlock) {
    short_cross_products<digits>(t, a);
  } else if constexpr (digits <= 2 * kBlock) {
    constexpr std::size_t kLower = block_of(digits);
    add_cross_products<kLower>(t, a, 0, digits);
    add_cross_products<digits - kLower>(t, a, kLower, digits);
  } else {
    multiply_across(t, a, digits);
  }
}

void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits, Limb* scratch) {
  if (digits > kWindow) {
    multiply(scratch, a, b, digits);
    return reduce_in_blocks<NoShadow>(r, scratch, modulus, digits, {});
  }
  with_constant<2, kWindow>(digits, [&](auto size) {
    multiply_short<size>(scratch, a, b);
    reduce_in_registers<size, NoShadow>(r, ProductColumns{scratch}, modulus, {});
  });
}

/// Fewest digits to compile a reduction with this shadow for.
template <class Shadow>
constexpr std::size_t kFewest = Shadow::kEntries == 0             ? 2
                                : Shadow::kEntries == kShortShare ? kFewestSelected
                                                                  : kBlock + 1;

template <class Shadow>
void square(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
            const typename Shadow::Work& work) {
  if (digits > kWindow) {
    multiply_across(scratch, a, digits);
    double_and_add_squares(scratch, a, digits);
    return reduce_in_blocks<Shadow>(r, scratch, modulus, digits, work);
  }
  with_constant<kFewest<Shadow>, kWindow>(digits, [&](auto size) {
    multiply_across_short<size>(scratch, a);
    reduce_in_registers<size, Shadow>(r, SquareColumns{scratch, a}, modulus, work);
  });
}

void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
  square<NoShadow>(r, a, modulus, digits, scratch, {});
}

template <Placing placing>
void sqr_select(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
                const lanes::SelectShare& share) {
  if (looks_at_many<placing>(digits)) {
    return square<SelectShadow<kLongShare, placing>>(r, a, modulus, digits, scratch, share);
  }
  square<SelectShadow<kShortShare, placing>>(r, a, modulus, digits, scratch, share);
}

/// Where the second vector's columns lie in the scratch of a pair.
Limb* second_columns(Limb* scratch, std::size_t digits) { return scratch + 2 * digits * kLanes; }

void mul_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch) {
  Limb* second = second_columns(scratch, digits);
  with_constant<2, kBlock>(digits, [&](auto size) {
    constexpr NoShadow::Work kNothing[2];
    multiply_short<size>(scratch, x.a[0], x.b[0]);
    multiply_short<size>(second, x.a[1], x.b[1]);
    reduce_pair_in_registers<size, NoShadow>(x, ProductColumns{scratch}, ProductColumns{second}, kNothing);
  });
}

template <class Shadow>
void square_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch, const typename Shadow::Work* work) {
  Limb* second = second_columns(scratch, digits);
  with_constant<kFewest<Shadow>, kBlock>(digits, [&](auto size) {
    multiply_across_short<size>(scratch, x.a[0]);
    multiply_across_short<size>(second, x.a[1]);
    reduce_pair_in_registers<size, Shadow>(x, SquareColumns{scratch, x.a[0]}, SquareColumns{second, x.a[1]},
                                           work);
  });
}

void sqr_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch) {
  constexpr NoShadow::Work kNothing[2];
  square_pair<NoShadow>(x, digits, scratch, kNothing);
}

template <Placing placing>
void sqr_select_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch,
                     const lanes::SelectShare* shares) {
  square_pair<SelectShadow<kShortShare, placing>>(x, digits, scratch, shares);
}

std::size_t scratch_words(std::size_t digits) {
  return (digits <= kBlock ? 4 * digits : 2 * digits + 2 * kBlock) * kLanes;
}

struct Tag;
using Loops = lanes::DigitLoops<Tag, kLanes, kDigitBits>;

// NOLINTBEGIN(modernize-avoid-c-style-cast): it sees one where a template's address is taken
template <Placing placing>
constexpr lanes::Kernels kKernels = {
    .lanes = kLanes,
    .digit_bits = kDigitBits,
    .headroom_bits = 2,
    .digit_multiple = 1,
    .min_digits = 2,
    .max_digits = kMaxDigits,
    .paired_digits = kBlock,
    .digit_pair_ns = 0.72,
    .mul = mul,
    .sqr = sqr,
    .sqr_select = sqr_select<placing>,
    .free_entries = free_entries<placing>,
    .mul_pair = mul_pair,
    .sqr_pair = sqr_pair,
    .sqr_select_pair = sqr_select_pair<placing>,
    .add_mod = Loops::add_mod,
    .select = Loops::select,
    .select_shared = Loops::select_shared,
    .to_digits = Loops::to_digits,
    .from_digits = Loops::from_digits,
    .scratch_words = scratch_words,
};
// NOLINTEND(modernize-avoid-c-style-cast)

}  // namespace

const lanes::Kernels& storing_kernels() { return kKernels<Placing::stores>; }
const lanes::Kernels& blending_kernels() { return kKernels<Placing::blends>; }

}  // namespace manymod::ifma52
