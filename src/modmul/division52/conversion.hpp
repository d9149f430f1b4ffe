// SPDX-License-Identifier: Apache-2.0
// Eight numbers of 64-bit limbs as vectors of limbs, one number a lane, and as digits of 52 bits. `Count`: a
// number of limbs, at compile time for short numbers.
//
// Included by instruction-set specific files only: `V` is a type of the including file's unnamed namespace,
// so that no instantiation is shared between files with different target flags. It provides vectors of kLanes
// words:
//   load, store (aligned to 32 bytes), zero, broadcast, add, subtract (mod 2^64), both, either (bit by bit);
//   shift_right, shift_left: by one number of bits, or by a vector of them, where 64 or more bits leave 0;
//   any_at_least(a, b): a >= b in any lane whose a and b are below 2^63;
//   lanes_without(v, bits): the lanes of v in which none of `bits` is set;
//   leading_zeros(v): the zeros above the highest 1 of each lane, which is not 0;
//   load_rows, store_rows: transpose rows to columns, and back for the rows of some lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "modmul/division52/kernels.hpp"

namespace manymod::division52 {

inline constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;

/// The bits between the top of a number of `limbs` limbs and the top of its digits, 1 to 52.
constexpr unsigned spare_bits(std::size_t limbs) {
  return static_cast<unsigned>(digits_for(limbs) * kDigitBits - limbs * kLimbBits);
}

template <class V>
inline typename V::Vector digit_of(typename V::Vector v) {
  return V::both(v, V::broadcast(kDigitMask));
}

/// columns: `limbs` vectors, of which rows of `width` <= limbs limbs fill the lower ones.
template <class V, class Width, class Count>
inline void load_columns(Limb* columns, const Limb* const* rows, Width width, Count size) {
  const std::size_t limbs = size;
  V::load_rows(columns, rows, width);
  for (std::size_t i = width; i < limbs; ++i) V::store(columns + i * kLanes, V::zero());
}

/// Shifts vectors of limbs to the left by shift[lane] < 64 bits; @return the bits shifted out of the top.
template <class V, class Count>
inline typename V::Vector normalise(Limb* columns, Count size, typename V::Vector shift) {
  const std::size_t limbs = size;
  const auto back = V::subtract(V::broadcast(kLimbBits), shift);
  auto out = V::zero();
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const auto limb = V::load(columns + i * kLanes);
    V::store(columns + i * kLanes, V::either(V::shift_left(limb, shift), out));
    out = V::shift_right(limb, back);
  }
  return out;
}

/// The inverse: shifts to the right.
template <class V, class Count>
inline void denormalise(Limb* columns, Count size, typename V::Vector shift) {
  const std::size_t limbs = size;
  const auto back = V::subtract(V::broadcast(kLimbBits), shift);
  auto limb = V::load(columns);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const auto above = i + 1 < limbs ? V::load(columns + (i + 1) * kLanes) : V::zero();
    V::store(columns + i * kLanes, V::either(V::shift_right(limb, shift), V::shift_left(above, back)));
    limb = above;
  }
}

/// digits = the numbers times 2^offset, offset <= 52, in digits_for(limbs) digits.
template <class V, class Count>
inline void to_digits(Limb* digits, const Limb* columns, Count size, unsigned offset) {
  const std::size_t limbs = size;
  const std::size_t count = digits_for(limbs);
  V::store(digits, digit_of<V>(V::shift_left(V::load(columns), offset)));
#pragma GCC unroll 20
  for (std::size_t d = 1; d < count; ++d) {
    const std::size_t position = d * kDigitBits - offset;
    const std::size_t i = position / kLimbBits;
    const auto shift = static_cast<unsigned>(position % kLimbBits);
    auto digit = i < limbs ? V::shift_right(V::load(columns + i * kLanes), shift) : V::zero();
    if (shift + kDigitBits > kLimbBits && i + 1 < limbs) {
      digit = V::either(digit, V::shift_left(V::load(columns + (i + 1) * kLanes), kLimbBits - shift));
    }
    V::store(digits + d * kLanes, digit_of<V>(digit));
  }
}

/// The inverse. On input: exact digits.
template <class V, class Count>
inline void from_digits(Limb* columns, const Limb* digits, Count size, unsigned offset) {
  const std::size_t limbs = size;
  const std::size_t count = digits_for(limbs);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const std::size_t position = i * kLimbBits + offset;
    const std::size_t d = position / kDigitBits;
    const auto shift = static_cast<unsigned>(position % kDigitBits);
    auto limb = V::shift_right(V::load(digits + d * kLanes), shift);
    if (d + 1 < count) {
      limb = V::either(limb, V::shift_left(V::load(digits + (d + 1) * kLanes), kDigitBits - shift));
    }
    if (2 * kDigitBits - shift < kLimbBits && d + 2 < count) {
      limb = V::either(limb, V::shift_left(V::load(digits + (d + 2) * kLanes), 2 * kDigitBits - shift));
    }
    V::store(columns + i * kLanes, limb);
  }
}

/// m = W^L - D, W = 2^52. On input: exact digits of D > 0.
template <class V>
inline void negate(Limb* m, const Limb* d, std::size_t digits) {
  auto carry = V::broadcast(1);
#pragma GCC unroll 20
  for (std::size_t j = 0; j < digits; ++j) {
    const auto sum = V::add(V::subtract(V::broadcast(kDigitMask), V::load(d + j * kLanes)), carry);
    V::store(m + j * kLanes, digit_of<V>(sum));
    carry = V::shift_right(sum, kDigitBits);
  }
}

/// Passes carries on: r gets exact digits; @return what the top digit has above 52 bits, as bits above them.
template <class V>
inline typename V::Vector pass_carries(Limb* r, std::size_t digits) {
  auto sum = V::load(r);
#pragma GCC unroll 20
  for (std::size_t j = 1; j < digits; ++j) {
    V::store(r + (j - 1) * kLanes, digit_of<V>(sum));
    sum = V::add(V::load(r + j * kLanes), V::shift_right(sum, kDigitBits));
  }
  V::store(r + (digits - 1) * kLanes, digit_of<V>(sum));
  return sum;
}

/// r = r - D in the lanes where that is not negative. On input: exact digits.
template <class V>
[[gnu::noinline]] void subtract_once(Limb* r, const Limb* d, std::size_t digits) {
  auto borrow = V::zero();
  for (std::size_t j = 0; j < digits; ++j) {
    const auto difference = V::subtract(V::load(r + j * kLanes), V::load(d + j * kLanes));
    borrow = V::shift_right(V::subtract(difference, borrow), kLimbBits - 1);
  }
  const auto mask = V::subtract(borrow, V::broadcast(1));
  borrow = V::zero();
  for (std::size_t j = 0; j < digits; ++j) {
    const auto subtrahend = V::both(V::load(d + j * kLanes), mask);
    const auto difference = V::subtract(V::subtract(V::load(r + j * kLanes), subtrahend), borrow);
    borrow = V::shift_right(difference, kLimbBits - 1);
    V::store(r + j * kLanes, digit_of<V>(difference));
  }
}

}  // namespace manymod::division52
