// SPDX-License-Identifier: Apache-2.0
// Sum and difference modulo n by one thread, digit by digit, for operands in any place.
//
// An operand is anything that gives its digits as [j], 0 <= j < kDigits. R = beta^kDigits, beta =
// 2^Radix::kBits. Timing: constant-time; times and addresses depend on kDigits only.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "modmul/fios/digits.cuda.hpp"

namespace manymod::fios {

/// Operations on numbers of kDigits digits stored in `Place`.
template <class Radix, class Place, unsigned kDigits>
struct Arithmetic {
  static_assert(kDigits >= 2 && kDigits <= InRegisters::kDigitUnrolling);
  using Wide = typename Radix::Wide;

  /// r = a + top R, minus n if that is n or more.
  /// On input: a + top R < R + n, top <= 1. On output: r < R; r < n if a + top R is below 2 n. Aliasing: r
  /// may be a.
  template <class R, class A, class N>
  MM_DEVICE static void reduce_once(R& r, const A& a, std::uint32_t top, const N& n) {
    std::uint32_t borrow = 0;
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) borrow = borrowed(difference(a[j], n[j], borrow));
    const std::uint32_t subtract = top | (1 - borrow);
    subtract_multiple(r, a, n, subtract);
  }

  /// r = a + b mod n. On input: a, b < n. On output: r < n. Aliasing: r may be a or b.
  template <class R, class A, class B, class N>
  MM_DEVICE static void add(R& r, const A& a, const B& b, const N& n) {
    const std::uint32_t carry = add_multiple(r, a, b, 1);
    reduce_once(r, r, carry, n);
  }

  /// r = a - b mod n. On input: a, b < n. On output: r < n. Aliasing: r may be a or b.
  template <class R, class A, class B, class N>
  MM_DEVICE static void subtract(R& r, const A& a, const B& b, const N& n) {
    const std::uint32_t borrow = subtract_multiple(r, a, b, 1);
    add_multiple(r, r, n, borrow);
  }

 private:
  /// x - y - borrow modulo 2^(2 kBits). On input: digits x, y; borrow <= 1.
  MM_DEVICE static Wide difference(std::uint32_t x, std::uint32_t y, std::uint32_t borrow) {
    return static_cast<Wide>(x) - y - borrow;
  }
  /// The borrow of a `difference`, 0 or 1.
  MM_DEVICE static std::uint32_t borrowed(Wide difference) { return Radix::high(difference) & 1; }

  /// r = a + b factor mod R. On input: factor <= 1. Aliasing: r may be a or b. @return carry
  template <class R, class A, class B>
  MM_DEVICE static std::uint32_t add_multiple(R& r, const A& a, const B& b, std::uint32_t factor) {
    std::uint32_t carry = 0;
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) {
      const Wide sum = static_cast<Wide>(a[j]) + (b[j] & (0 - factor)) + carry;
      r[j] = Radix::low(sum);
      carry = Radix::high(sum);
    }
    return carry;
  }

  /// r = a - b factor mod R. On input: factor <= 1. Aliasing: r may be a or b. @return borrow
  template <class R, class A, class B>
  MM_DEVICE static std::uint32_t subtract_multiple(R& r, const A& a, const B& b, std::uint32_t factor) {
    std::uint32_t borrow = 0;
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) {
      const Wide sum = difference(a[j], b[j] & (0 - factor), borrow);
      r[j] = Radix::low(sum);
      borrow = borrowed(sum);
    }
    return borrow;
  }
};

}  // namespace manymod::fios
