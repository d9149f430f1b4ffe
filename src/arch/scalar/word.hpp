// SPDX-License-Identifier: Apache-2.0
// Carry and wide-product steps on 64-bit words in portable C++ (GCC and Clang). All are constant-time: no
// branch depends on a value.
#pragma once

#include <cstdint>

namespace manymod::word {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

/// a + b + carry mod 2^64; carry in and out is 0 or 1.
inline std::uint64_t add_carry(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
  const Wide sum = Wide{a} + b + carry;
  carry = static_cast<std::uint64_t>(sum >> 64);
  return static_cast<std::uint64_t>(sum);
}

/// a - b - borrow mod 2^64; borrow in and out is 0 or 1.
inline std::uint64_t sub_borrow(std::uint64_t a, std::uint64_t b, std::uint64_t& borrow) {
  const Wide difference = Wide{a} - b - borrow;
  borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
  return static_cast<std::uint64_t>(difference);
}

/// The low word of addend + a b + carry; carry receives the high word. It never overflows: (2^64 - 1)^2 + 2
/// (2^64 - 1) = 2^128 - 1.
inline std::uint64_t multiply_add(std::uint64_t addend, std::uint64_t a, std::uint64_t b,
                                  std::uint64_t& carry) {
  const Wide sum = Wide{a} * b + addend + carry;
  carry = static_cast<std::uint64_t>(sum >> 64);
  return static_cast<std::uint64_t>(sum);
}

/// All ones if bit is 1, zero if it is 0. The empty statement hides the value, so that no compiler turns the
/// mask into a branch.
inline std::uint64_t mask_from_bit(std::uint64_t bit) {
  __asm__("" : "+r"(bit));
  return std::uint64_t{0} - bit;
}

/// 1 if x == 0, else 0.
inline std::uint64_t is_zero_bit(std::uint64_t x) { return (~x & (x - 1)) >> 63; }

/// -1/n mod 2^64 for odd n, by Newton's iteration: 5, 10, 20, 40, 80 correct bits (Dusse and Kaliski 1990).
inline std::uint64_t negated_inverse(std::uint64_t n) {
  std::uint64_t x = (3 * n) ^ 2;
  for (int i = 0; i < 4; ++i) x *= 2 - n * x;
  return std::uint64_t{0} - x;
}

}  // namespace manymod::word
