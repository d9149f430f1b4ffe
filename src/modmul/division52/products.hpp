// SPDX-License-Identifier: Apache-2.0
// The functions of Kernels, generic over the instruction set: conversion to digits, product, division and
// conversion back.
//
// Included by instruction-set specific files only. `V` is a type of the including file's unnamed namespace.
// Beside the vectors of conversion.hpp it provides
//   reciprocal_of(d1, d0): two vectors v1, v0 that describe W^L / D, from D's top two digits;
//   to_factors(digits, count): gives digits the form in which multiply takes y and divide takes W^L - D;
//   multiply(t, x, y, limbs): t[0 .. 2 L) = x y as columns, x by its digits and y as factors;
//   divide<N>(t, divisors, out_of_range, quotient, limbs): the columns t[i][0 .. L) of N dividends side by
//   side are congruent to t[i][0 .. 2 L) and below 2 D; bits from 2^52 on in out_of_range[i] mark lanes that
//   are to be given up. On input: the upper half is below D. quotient: kScratchRows vectors.
#pragma once

#include <type_traits>

#include "modmul/division52/conversion.hpp"

namespace manymod::division52 {

/// Numbers of up to this many limbs have kernels of their own.
inline constexpr std::size_t kShortLimbs = 16;

/// The parts of a block of divisors: M = W^L - D as factors, D, its reciprocal, and the bits that D is
/// shifted by.
struct Divisors {
  const Limb* block;
  std::size_t digits;
  [[nodiscard]] const Limb* negated() const { return block; }
  [[nodiscard]] const Limb* value() const { return block + digits * kLanes; }
  [[nodiscard]] const Limb* reciprocal(std::size_t digit) const {
    return block + (2 * digits + digit) * kLanes;
  }
  [[nodiscard]] const Limb* shift() const { return block + (2 * digits + 2) * kLanes; }
};

/// The scratch of one call.
struct Scratch {
  Limb* x;         ///< L digits
  Limb* y;         ///< L digits
  Limb* columns;   ///< 2 L columns of the product, and kScratchRows more; limbs before and after it
  Limb* quotient;  ///< kScratchRows digits
  Scratch(Limb* words, std::size_t digits)
      : x(words),
        y(words + digits * kLanes),
        columns(words + 2 * digits * kLanes),
        quotient(words + (4 * digits + kScratchRows) * kLanes) {}
};

/// f(limbs), as a compile-time constant for `lowest` <= limbs <= highest.
template <std::size_t lowest, std::size_t highest, class F>
inline auto with_constant_limbs(std::size_t limbs, F f) {
  if constexpr (lowest == highest) {
    return f(std::integral_constant<std::size_t, lowest>());
  } else {
    constexpr std::size_t middle = (lowest + highest) / 2;
    return limbs <= middle ? with_constant_limbs<lowest, middle>(limbs, f)
                           : with_constant_limbs<middle + 1, highest>(limbs, f);
  }
}

/// f(limbs), as a compile-time constant for short numbers.
template <class F>
inline auto with_limbs(std::size_t limbs, F f) {
  return limbs > kShortLimbs ? f(limbs) : with_constant_limbs<1, kShortLimbs>(limbs, f);
}

template <class V, class Count>
bool set_divisors_of(Limb* block, const Limb* const* moduli, Count limbs, Limb* columns) {
  const std::size_t digits = digits_for(limbs);
  Limb* const value = block + digits * kLanes;
  load_columns<V>(columns, moduli, limbs, limbs);
  const auto shift = V::leading_zeros(V::load(columns + (limbs - 1) * kLanes));
  normalise<V>(columns, limbs, shift);
  to_digits<V>(value, columns, limbs, spare_bits(limbs));
  negate<V>(block, value, digits);
  V::to_factors(block, digits);
  const auto reciprocal =
      V::reciprocal_of(V::load(value + (digits - 1) * kLanes), V::load(value + (digits - 2) * kLanes));
  V::store(value + digits * kLanes, reciprocal.v1);
  V::store(value + (digits + 1) * kLanes, reciprocal.v0);
  V::store(value + (digits + 2) * kLanes, shift);
  return true;
}

/// columns += z 2^shift 2^spare_bits for the rows z of `width` limbs. work: 2 L digits.
template <class V, class Count>
[[gnu::noinline]] void add_shifted(Limb* columns, const Limb* const* rows, std::size_t width, Count limbs,
                                   typename V::Vector shift, Limb* work) {
  const std::size_t count = digits_for(limbs);
  Limb* const z = work + count * kLanes;
  load_columns<V>(z, rows, width, limbs);
  const auto above = normalise<V>(z, limbs, shift);
  to_digits<V>(work, z, limbs, spare_bits(limbs));
  const auto add_to = [&](std::size_t column, typename V::Vector digit) {
    V::store(columns + column * kLanes, V::add(V::load(columns + column * kLanes), digit));
  };
#pragma GCC unroll 20
  for (std::size_t j = 0; j < count; ++j) add_to(j, V::load(work + j * kLanes));
  // The bits by which z is longer than n, fewer than 64.
  add_to(count, digit_of<V>(above));
  add_to(count + 1, V::shift_right(above, kDigitBits));
}

/// One vector of operands on its way.
template <class V, class Count>
class Work {
 public:
  Work(const Products& operands, const Limb* block, Count limbs, Limb* words)
      : operands_(operands),
        limbs_(limbs),
        divisors_{block, digits_for(limbs)},
        s_(words, divisors_.digits) {}

  /// Both operands as digits, x shifted as D is.
  void load() {
    load_operand(operands_.y, operands_.y_limbs);
    to_digits<V>(s_.y, s_.columns, limbs_, 0);
    V::to_factors(s_.y, divisors_.digits);
    load_operand(operands_.x, operands_.x_limbs);
    // x 2^k < W^L for D = n 2^k, and y < W^L / 2 <= D: the upper half of x 2^k y is below D.
    lost_ = normalise<V>(s_.columns, limbs_, shift());
    to_digits<V>(s_.x, s_.columns, limbs_, spare_bits(limbs_));
  }
  void multiply() { V::multiply(s_.columns, s_.x, s_.y, limbs_); }
  /// Adds z, shifted as D is. With n < 2^b <= 2^k, k the bits of its limbs, and x < 2^b, y, z < 2^k:
  ///   x y + z <= (2^b - 1) (2^k - 1) + 2^k - 1 = 2^b (2^k - 1).
  /// The shift makes that W^L (2^k - 1), and 2^k - 1 < W^L / 2 <= D: with z, too, the upper half is below D,
  /// although z may be longer than n. Columns grow by less than W: they have room for it, as the division
  /// starts with sums of 2 L products and a bias, and adds no more than 2 L products.
  void add_addends() {
    static_assert(4 * digits_for(kMaxLimbs) + 2 < Limb{1} << (63 - kDigitBits));
    if (operands_.z_limbs == 0) return;
    // The digits of x and y are not needed any more.
    add_shifted<V>(s_.columns, operands_.z, operands_.z_limbs, limbs_, shift(), s_.x);
  }
  /// Stores the lanes that nothing prevents; @return them.
  std::uint8_t finish(typename V::Vector out_of_range) {
    const auto top = reduce_once();
    const std::uint8_t lanes =
        V::lanes_without(V::either(out_of_range, top), ~kDigitMask) & V::lanes_without(lost_, ~Limb{0});
    from_digits<V>(s_.x, s_.columns, limbs_, spare_bits(limbs_));
    denormalise<V>(s_.x, limbs_, shift());
    V::store_rows(operands_.r, s_.x, limbs_, lanes);
    return lanes;
  }

  [[nodiscard]] const Divisors& divisors() const { return divisors_; }
  [[nodiscard]] Limb* columns() const { return s_.columns; }
  [[nodiscard]] Limb* quotient() const { return s_.quotient; }

 private:
  const Products& operands_;
  Count limbs_;
  Divisors divisors_;
  Scratch s_;
  typename V::Vector lost_ = V::zero();

  [[nodiscard]] typename V::Vector shift() const { return V::load(divisors_.shift()); }

  void load_operand(const Limb* const* rows, std::size_t width) {
    if (width == limbs_) return load_columns<V>(s_.columns, rows, limbs_, limbs_);
    load_columns<V>(s_.columns, rows, width, limbs_);
  }

  /// The columns = their remainder mod D, on input below 2 D; @return what is out of range.
  typename V::Vector reduce_once() {
    const std::size_t digits = divisors_.digits;
    const auto top = pass_carries<V>(s_.columns, digits);
    // A lower top digit is proof enough: one of 2^51 remainders needs the comparison.
    if (V::any_at_least(top, V::load(divisors_.value() + (digits - 1) * kLanes))) {
      subtract_once<V>(s_.columns, divisors_.value(), digits);
    }
    return top;
  }
};

/// Kernels::multiply.
template <class V>
std::uint8_t multiply_one(const Products& operands, const Limb* block, Limb* scratch) {
  return with_limbs(operands.limbs, [&](auto limbs) {
    Work<V, decltype(limbs)> work(operands, block, limbs, scratch);
    work.load();
    work.multiply();
    work.add_addends();
    typename V::Vector out_of_range[1];
    V::template divide<1>({work.columns()}, {work.divisors()}, out_of_range, work.quotient(), limbs);
    return work.finish(out_of_range[0]);
  });
}

/// Kernels::multiply_pair.
template <class V>
std::uint16_t multiply_two(const Products (&operands)[2], const Limb* const (&blocks)[2], Limb* scratch) {
  return with_constant_limbs<1, kPairedLimbs>(operands[0].limbs, [&](auto limbs) {
    using Pass = Work<V, decltype(limbs)>;
    Pass first(operands[0], blocks[0], limbs, scratch);
    Pass second(operands[1], blocks[1], limbs, scratch + scratch_words(limbs));
    first.load();
    second.load();
    first.multiply();
    second.multiply();
    first.add_addends();
    second.add_addends();
    typename V::Vector out_of_range[2];
    V::template divide<2>({first.columns(), second.columns()}, {first.divisors(), second.divisors()},
                          out_of_range, first.quotient(), limbs);
    const std::uint8_t lanes = first.finish(out_of_range[0]);
    return static_cast<std::uint16_t>(lanes | second.finish(out_of_range[1]) << kLanes);
  });
}

}  // namespace manymod::division52
