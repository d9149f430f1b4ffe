// SPDX-License-Identifier: Apache-2.0
// Montgomery product, sum and difference modulo n, digit by digit, for operands kept in any place.
//
// Operands are anything with digits at [j], 0 <= j < kDigits. R = beta^kDigits, beta = 2^Radix::kBits. Times
// and addresses depend on kDigits alone.
#pragma once

#include <cstdint>

#include "arch/cuda/portable.hpp"
#include "modmul/fios/digits.cuda.hpp"

namespace manymod::fios {

#if defined(__CUDA_ARCH__)
#define MM_FIOS_LOOP _Pragma("unroll (Place::kUnrolling)")
#define MM_FIOS_ROUNDS _Pragma("unroll (Place::kRounds)")
#else
#define MM_FIOS_LOOP
#define MM_FIOS_ROUNDS
#endif

/// The operations on numbers of kDigits digits in a place.
template <class Radix, class Place, unsigned kDigits>
struct Arithmetic {
  static_assert(kDigits >= 2 && kDigits <= InRegisters::kUnrolling);
  using Wide = typename Radix::Wide;

  /// r + top R = (a b + q n) / R for the q < R that makes it an integer: finely integrated operand scanning
  /// (Koc, Acar, Kaliski). In: a, b, n < R; n0 = -1/n[0] mod beta. r is no other operand. The result is below
  /// a + n.
  /// @return top, 0 or 1
  ///
  /// One loop adds a row of a b and one of q n and shifts by a digit. Each row has a carry of its own, where
  /// the original adds the first row's at the digit above and lets it run on from there, for as long as the
  /// data demand. So the extra words are three: two carries and the top digit. With t = r + top R < a + n
  /// before a round,
  ///
  ///   t' = (t + a b[i] + q n) / beta < (a + n + (beta - 1) (a + n)) / beta = a + n < 2 R
  ///
  /// after it; and top + carry + carry <= 1 + 2 (beta - 1), so that the new top is 0 or 1.
  template <class R, class A, class B, class N>
  MM_DEVICE static std::uint32_t product(R& r, const A& a, const B& b, const N& n, std::uint32_t n0) {
    MM_FIOS_LOOP
    for (unsigned j = 0; j < kDigits; ++j) r[j] = 0;
    std::uint32_t top = 0;
    MM_FIOS_ROUNDS
    for (unsigned i = 0; i < kDigits; ++i) top = product_round(r, top, a, b[i], n, n0);
    return top;
  }

  /// r = r + top R mod n. In: r + top R < 2 n for a result below n; r + top R < R + n for one below R
  template <class R, class N>
  MM_DEVICE static void reduce_once(R& r, std::uint32_t top, const N& n) {
    std::uint32_t borrow = 0;
    MM_FIOS_LOOP
    for (unsigned j = 0; j < kDigits; ++j) borrow = borrowed(difference(r[j], n[j], borrow));
    const std::uint32_t subtract = top | (1 - borrow);
    subtract_multiple(r, r, n, subtract);
  }

  /// r = a + b mod n. In: a, b < n. r may be a or b
  template <class R, class A, class B, class N>
  MM_DEVICE static void add(R& r, const A& a, const B& b, const N& n) {
    reduce_once(r, add_multiple(r, a, b, 1), n);
  }

  /// r = a - b mod n. In: a, b < n. r may be a or b
  template <class R, class A, class B, class N>
  MM_DEVICE static void subtract(R& r, const A& a, const B& b, const N& n) {
    const std::uint32_t borrow = subtract_multiple(r, a, b, 1);
    add_multiple(r, r, n, borrow);
  }

 private:
  template <class R, class A, class N>
  MM_DEVICE static std::uint32_t product_round(R& r, std::uint32_t top, const A& a, std::uint32_t b,
                                               const N& n, std::uint32_t n0) {
    Wide sum = Radix::multiply_add(a[0], b, r[0], 0);
    std::uint32_t carry = Radix::high(sum);
    const std::uint32_t q = (Radix::low(sum) * n0) & Radix::kMask;
    std::uint32_t quotient_carry = Radix::high(Radix::multiply_add(q, n[0], Radix::low(sum), 0));
    MM_FIOS_LOOP
    for (unsigned j = 1; j < kDigits; ++j) {
      sum = Radix::multiply_add(a[j], b, r[j], carry);
      carry = Radix::high(sum);
      sum = Radix::multiply_add(q, n[j], Radix::low(sum), quotient_carry);
      quotient_carry = Radix::high(sum);
      r[j - 1] = Radix::low(sum);
    }
    sum = static_cast<Wide>(top) + carry + quotient_carry;
    r[kDigits - 1] = Radix::low(sum);
    return Radix::high(sum);
  }

  /// x - y - borrow modulo 2^(2 kBits), for digits x, y.
  MM_DEVICE static Wide difference(std::uint32_t x, std::uint32_t y, std::uint32_t borrow) {
    return static_cast<Wide>(x) - y - borrow;
  }
  MM_DEVICE static std::uint32_t borrowed(Wide difference) { return Radix::high(difference) & 1; }

  /// r = a + b factor for factor 0 or 1. @return carry
  template <class R, class A, class B>
  MM_DEVICE static std::uint32_t add_multiple(R& r, const A& a, const B& b, std::uint32_t factor) {
    std::uint32_t carry = 0;
    MM_FIOS_LOOP
    for (unsigned j = 0; j < kDigits; ++j) {
      const Wide sum = static_cast<Wide>(a[j]) + (b[j] & (0 - factor)) + carry;
      r[j] = Radix::low(sum);
      carry = Radix::high(sum);
    }
    return carry;
  }

  /// r = a - b factor for factor 0 or 1. @return borrow
  template <class R, class A, class B>
  MM_DEVICE static std::uint32_t subtract_multiple(R& r, const A& a, const B& b, std::uint32_t factor) {
    std::uint32_t borrow = 0;
    MM_FIOS_LOOP
    for (unsigned j = 0; j < kDigits; ++j) {
      const Wide sum = difference(a[j], b[j] & (0 - factor), borrow);
      r[j] = Radix::low(sum);
      borrow = borrowed(sum);
    }
    return borrow;
  }
};

#undef MM_FIOS_LOOP
#undef MM_FIOS_ROUNDS

}  // namespace manymod::fios
