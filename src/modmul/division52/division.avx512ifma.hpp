// SPDX-License-Identifier: Apache-2.0
// Long division from the top down of eight numbers side by side (Knuth, TAOCP 2, 4.3.1), in digits of 52 bits
// and W = 2^52. Included by kernels.avx512ifma.cpp alone.
//
// A divisor D has L digits and its top bit is set: W^L / 2 <= D < W^L. A row takes the partial remainder R
// and the next digit down: R W + digit - q D. It is computed with M = W^L - D, since vpmadd52 only adds: R W
// + digit + q M - q W^L.
//
// Quotient digits are estimated from the reciprocal V = W^L / D in two digits after the point, V = 1 + v1 / W
// + v0 / W^2, and the top two digits T1, T0 of R, as floor((T1 + T0 / W) V). Everything is rounded down: V by
// less than 2^7 / W^2, T0 by less than 2 (a carry from further below is left out), and two products by 1 / W
// each. So q is too small by less than 1 + 2^-44, after which R < (1 + 2^-44) D. The next q then is below
// 2^52 unless R is at least D, as one of 2^44 remainders is. Such an R, or one whose T1 is negative since a
// carry is still below T0, is noticed by bits of T1 or q from 2^52 on, and the lane is given up.
#pragma once

#include "modmul/division52/conversion.avx512ifma.hpp"
#include "modmul/ifma52/reduction.avx512ifma.hpp"

namespace manymod::division52 {
namespace {

using avx512ifma::add;
using avx512ifma::add_high;
using avx512ifma::add_low;
using avx512ifma::carry_of;
using avx512ifma::load;
using avx512ifma::store;

/// Columns of the remainder in registers while the rows of a long division are worked off in blocks.
constexpr std::size_t kWindow = 20;
/// Rows of a block. The lowest columns of a window lack the products below it, one more in each row.
constexpr std::size_t kBlock = ifma52::kBlock;
static_assert(kBlock + 4 <= kWindow);

/// The parts of a block of divisors: M, D, v1, v0 and the bits that D is shifted by.
struct Divisors {
  const Limb* block;
  std::size_t digits;
  [[nodiscard]] const Limb* negated() const { return block; }
  [[nodiscard]] const Limb* value() const { return block + digits * kLanes; }
  [[nodiscard]] Vector reciprocal(std::size_t digit) const {
    return vector_at(block + (2 * digits + digit) * kLanes);
  }
  [[nodiscard]] Vector shift() const { return vector_at(block + (2 * digits + 2) * kLanes); }
};

/// The top S columns of a partial remainder, and rows over the top S digits of M.
template <std::size_t S>
struct TopColumns {
  Vector column[S];
  Vector v1, v0;
  Vector out_of_range = zero();
  const Limb* m;  ///< the top S digits of M

  TopColumns(const Limb* top_digits, const Divisors& divisors)
      : v1(divisors.reciprocal(0)), v0(divisors.reciprocal(1)), m(top_digits) {}

  /// The quotient digit of the next row.
  [[gnu::always_inline]] inline Vector quotient_digit(Vector incoming) {
    const Vector second = add(column[S - 2], carry_of(S > 2 ? column[S - 3] : incoming));
    const Vector first = add(column[S - 1], carry_of(second));
    Vector low = zero();
    add_high(low, second, v1);
    Vector other_low = digit_of(second);
    add_low(other_low, first, v1);
    Vector q = first;
    add_high(q, first, v1);
    add_high(low, first, v0);
    q = add(q, carry_of(add(low, other_low)));
    out_of_range = either(out_of_range, either(first, q));
    return q;
  }

  /// Takes a digit down and subtracts q D.
  [[gnu::always_inline]] inline void subtract(Vector q, Vector incoming) {
    Vector above = _mm512_sub_epi64(column[S - 1], q);
#pragma GCC unroll 20
    for (std::size_t below = 1; below <= S; ++below) {
      const std::size_t j = S - below;
      const Vector factor = load(m + j * kLanes);
      add_high(j + 1 < S ? column[j + 1] : above, q, factor);
      column[j] = j > 0 ? column[j - 1] : incoming;
      add_low(column[j], q, factor);
    }
    // What is left above the top column is as much as its carry, with the other sign.
    column[S - 1] = add(column[S - 1], shift_left(above, kDigitBits));
  }
};

/// The columns of products, 2 `digits` of them, of which the lower half begins with the bias of
/// ifma52::product_block.
template <std::size_t digits>
struct Dividend {
  TopColumns<digits> top;
  Limb* t;

  Dividend(Limb* columns, const Divisors& divisors) : top(divisors.negated(), divisors), t(columns) {
#pragma GCC unroll 20
    for (std::size_t j = 0; j < digits; ++j) top.column[j] = load(t + (digits + j) * kLanes);
  }
  /// The digit that row 1, 2, .. takes down.
  [[nodiscard]] Vector incoming(std::size_t row) const {
    return _mm512_sub_epi64(load(t + (digits - row) * kLanes), broadcast(ifma52::kBias));
  }
  /// The lower half of t = the remainder's columns; @return what is out of range.
  Vector finish() const {
#pragma GCC unroll 20
    for (std::size_t j = 0; j < digits; ++j) store(t + j * kLanes, top.column[j]);
    return top.out_of_range;
  }
};

/// The lower half of t = the remainder's columns; @return what is out of range.
template <std::size_t digits>
[[gnu::noinline]] Vector divide_short(Limb* t, const Divisors& divisors) {
  Dividend<digits> a(t, divisors);
#pragma GCC unroll 20
  for (std::size_t row = 1; row <= digits; ++row) {
    const Vector incoming = a.incoming(row);
    a.top.subtract(a.top.quotient_digit(incoming), incoming);
  }
  return a.finish();
}

/// The same for two vectors in turn: a short row ends before its quotient digit is through the pipeline, and
/// the other vector's fills the gap.
template <std::size_t digits>
[[gnu::noinline]] void divide_short_pair(Limb* const (&t)[2], const Divisors (&divisors)[2],
                                         Vector (&out_of_range)[2]) {
  Dividend<digits> a(t[0], divisors[0]);
  Dividend<digits> b(t[1], divisors[1]);
#pragma GCC unroll 10
  for (std::size_t row = 1; row <= digits; ++row) {
    const Vector incoming[] = {a.incoming(row), b.incoming(row)};
    const Vector q[] = {a.top.quotient_digit(incoming[0]), b.top.quotient_digit(incoming[1])};
    a.top.subtract(q[0], incoming[0]);
    b.top.subtract(q[1], incoming[1]);
  }
  out_of_range[0] = a.finish();
  out_of_range[1] = b.finish();
}

/// `rows` rows on the window whose lowest column is column[0]; the columns below it are taken in.
/// quotient: their digits, the last row's first.
template <std::size_t rows>
[[gnu::noinline]] Vector divide_window(Limb* column, Limb* quotient, const Divisors& divisors) {
  TopColumns<kWindow> top(divisors.negated() + (divisors.digits - kWindow) * kLanes, divisors);
  ifma52::load_block(top.column, column);
#pragma GCC unroll 10
  for (std::size_t row = 1; row <= rows; ++row) {
    column -= kLanes;
    const Vector incoming = load(column);
    const Vector q = top.quotient_digit(incoming);
    store(quotient + (rows - row) * kLanes, q);
    top.subtract(q, incoming);
  }
  ifma52::store_block(column, top.column);
  return top.out_of_range;
}

/// The same for more than kWindow digits; r is the lower half of t. quotient: kBlock digits.
inline Vector divide_long(Limb* t, Limb* quotient, const Divisors& divisors) {
  const std::size_t digits = divisors.digits;
  const Vector bias = broadcast(ifma52::kBias);
  for (std::size_t j = 0; j < digits; ++j) {
    set_vector(t + j * kLanes, _mm512_sub_epi64(vector_at(t + j * kLanes), bias));
  }
  Vector out_of_range = zero();
  for (std::size_t left = digits; left > 0;) {
    const std::size_t count = left < kBlock ? left : kBlock;
    ifma52::with_constant<1, kBlock>(count, [&](auto rows) {
      out_of_range = either(out_of_range,
                            divide_window<rows>(t + (left + digits - kWindow) * kLanes, quotient, divisors));
      ifma52::add_block<rows>(t + (left - rows) * kLanes, quotient, divisors.negated(), digits - kWindow);
    });
    left -= count;
  }
  return out_of_range;
}

/// Passes carries on: r gets exact digits; @return what the top digit has above 52 bits, as bits above them.
inline Vector pass_carries(Limb* r, std::size_t digits) {
  Vector sum = vector_at(r);
#pragma GCC unroll 20
  for (std::size_t j = 1; j < digits; ++j) {
    set_vector(r + (j - 1) * kLanes, digit_of(sum));
    sum = _mm512_add_epi64(vector_at(r + j * kLanes), shift_right(sum, kDigitBits));
  }
  set_vector(r + (digits - 1) * kLanes, digit_of(sum));
  return sum;
}

/// r = r - D in the lanes where that is not negative. On input: exact digits.
[[gnu::noinline]] void subtract_once(Limb* r, const Limb* d, std::size_t digits) {
  Vector borrow = zero();
  for (std::size_t j = 0; j < digits; ++j) {
    borrow = shift_right(
        _mm512_sub_epi64(_mm512_sub_epi64(vector_at(r + j * kLanes), vector_at(d + j * kLanes)), borrow),
        kLimbBits - 1);
  }
  const Vector mask = _mm512_sub_epi64(borrow, broadcast(1));
  borrow = zero();
  for (std::size_t j = 0; j < digits; ++j) {
    const Vector subtrahend = _mm512_and_si512(vector_at(d + j * kLanes), mask);
    const Vector difference =
        _mm512_sub_epi64(_mm512_sub_epi64(vector_at(r + j * kLanes), subtrahend), borrow);
    borrow = shift_right(difference, kLimbBits - 1);
    set_vector(r + j * kLanes, digit_of(difference));
  }
}

/// r = r mod D for columns of a remainder below 2 D; @return what is out of range.
inline Vector finish_remainder(Limb* r, const Divisors& divisors, std::size_t digits) {
  const Vector top = pass_carries(r, digits);
  const Vector top_of_divisor = vector_at(divisors.value() + (digits - 1) * kLanes);
  // A lower top digit is proof enough: one of 2^51 remainders needs the comparison.
  if (_mm512_cmpge_epu64_mask(top, top_of_divisor) != 0) subtract_once(r, divisors.value(), digits);
  return top;
}

}  // namespace
}  // namespace manymod::division52
