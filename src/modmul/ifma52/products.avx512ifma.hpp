// SPDX-License-Identifier: Apache-2.0
// Products and squares by AVX-512 IFMA before their reduction: columns of sums of half products, with the
// bias that the reduction's carries need. Included by kernels.avx512ifma.cpp alone.
#pragma once

#include <array>
#include <type_traits>

#include "arch/avx512ifma/vector.hpp"
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
constexpr std::size_t kRegisterColumns = 22;
/// Columns in registers during a block of rows of longer numbers.
constexpr std::size_t kBlockColumns = 20;
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

}  // namespace
}  // namespace manymod::ifma52
