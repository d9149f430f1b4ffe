// SPDX-License-Identifier: Apache-2.0
// Reductions modulo the Montgomery-friendly primes of P-256 and SM2, as reductions.cuda.hpp describes them.
// Constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/special_primes/word_sums.cuda.hpp"

namespace manymod::special_primes {

/// What P-256 and SM2 have in common, whose B - p, the gap, is close to 2^224. The prime adds:
///   kGapIsAbove     whether the gap is above 2^224; it differs from 2^224 by less than 2^193
///   gap_word(j, k)  word j of k (B - p) in two's complement, -4 <= k <= 4
///   add_multiple(t) t += q p, q < B, so that the lower words become 0; they are not written. @return the
///                   carry
template <class Prime>
struct MontgomeryFriendly {
  static constexpr bool kOrdersProducts = true;

  MM_DEVICE static void correct(std::uint32_t* r, std::uint32_t c) {
    settle_top<TopSign::not_negative>(r, c);
  }
  MM_DEVICE static void repay(std::uint32_t* r, std::uint32_t c) {
    settle_top<TopSign::not_positive>(r, 0 - c);
  }
  MM_DEVICE static void settle(std::uint32_t* /*r*/) {}  // B < 2 p

  /// (a b + q p) / B < B + p for a, b < B and q < B, so that the words without a carry are below p if there
  /// is one.
  MM_DEVICE static void reduce(std::uint32_t* r, std::uint32_t* t) {
    subtract_if<Prime>(r, reduce_to_top(r, t));
  }
  /// The sum with q p is in [-B^2, B^2 + B p), so that its upper half has -1, 0 or 1 above it.
  MM_DEVICE static void reduce_signed(std::uint32_t* r, std::uint32_t* t, std::uint32_t top) {
    top += reduce_to_top(r, t);
    settle_top<TopSign::any>(r, top);
  }
  /// r + c B = t / R mod p, c = 0 or 1, below B + p. @return c.
  MM_DEVICE static std::uint32_t reduce_to_top(std::uint32_t* r, std::uint32_t* t) {
    const std::uint32_t carry = Prime::add_multiple(t);
    MM_UNROLL
    for (unsigned j = 0; j < Prime::kWords; ++j) r[j] = t[Prime::kWords + j];
    return carry;
  }

  /// r = r + top B mod p, r < B. On input: -3 <= top <= 3, of the sign kSign.
  ///
  /// r + top B - k p = (top - k) B + r + k (B - p) is in [0, B) for k = top, or for the next integer away
  /// from 0. Let r7 be the highest word of r, g = kGapIsAbove, |top| = m, and the gap G = B - p. For top >= 0
  /// the next integer is taken if r7 + m + g >= 2^32:
  ///   k = m:      r < B - (m + g) 2^224 and m G <= (m + g) 2^224, so that r + m G < B
  ///   k = m + 1:  r >= B - (m + g) 2^224 and (m + 1) G >= (m + g) 2^224, so that -B + r + (m + 1) G >= 0
  /// and for top <= 0 if r7 < m + g:
  ///   k = -m:     r >= (m + g) 2^224 >= m G, so that r - m G >= 0
  ///   k = -m - 1: r < (m + g) 2^224 <= (m + 1) G, so that B + r - (m + 1) G < B
  template <TopSign kSign>
  MM_DEVICE static void settle_top(std::uint32_t* r, std::uint32_t top) {
    constexpr std::uint32_t kGuard = Prime::kGapIsAbove ? 1 : 0;
    const std::uint32_t highest = r[Prime::kWords - 1];
    std::uint32_t k;
    if constexpr (kSign == TopSign::not_negative) {
      static_cast<void>(cuda::add_cc(highest, top + kGuard));
      k = cuda::addc(top, 0);
    } else if constexpr (kSign == TopSign::not_positive) {
      static_cast<void>(cuda::sub_cc(highest, kGuard - top));
      k = cuda::subc(top, 0);
    } else {
      const std::uint32_t negative = sign_mask(top);
      static_cast<void>(cuda::add_cc(highest, top + ((negative | 1) & (0 - kGuard))));
      k = cuda::addc(top, negative);
    }
    r[0] = cuda::add_cc(r[0], Prime::gap_word(0, k));
    MM_UNROLL
    for (unsigned j = 1; j + 1 < Prime::kWords; ++j) r[j] = cuda::addc_cc(r[j], Prime::gap_word(j, k));
    r[Prime::kWords - 1] = cuda::addc(highest, Prime::gap_word(Prime::kWords - 1, k));
  }
};

/// p = 2^256 - 2^224 + 2^192 + 2^96 - 1, the field of P-256 (FIPS 186-5): -1 modulo 2^96.
struct P256 : MontgomeryFriendly<P256> {
  static constexpr unsigned kWords = 8;
  static constexpr unsigned kRadixBits = 256;
  static constexpr bool kGapIsAbove = false;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j < 3 || j == 7 ? 0xffffffffu : j == 6 ? 1u : 0u;
  }

  /// Of k (2^224 - 2^192 - 2^96 + 1).
  MM_DEVICE static constexpr std::uint32_t gap_word(unsigned j, std::uint32_t k) {
    const std::uint32_t negative = sign_mask(k), positive = sign_mask(0 - k);
    switch (j) {
      case 0:
        return k;
      case 1:
      case 2:
        return negative;
      case 3:
        return negative - k;
      case 6:
        return positive - k;
      case 7:
        return positive + k;
      default:
        return positive;
    }
  }

  /// Three words q of t at a time:
  ///   q (p + 1) = q 2^96 + q (1 - 2^32 + 2^64) 2^192.
  /// The carry of such a sum, at the eighth word after its first, is added to the next quotient's multiple
  /// there, so that no carry runs through the words above.
  MM_DEVICE static std::uint32_t add_multiple(std::uint32_t* t) {
    static_cast<void>(cuda::add_cc(0, 0));
    add_quotient<3>(t, 0);
    add_quotient<3>(t, 3);
    add_quotient<2>(t, 6);
    return cuda::addc(0, 0);
  }

 private:
  /// t[at + 3 ..] += q (1 + 2^96 (1 - 2^32 + 2^64)), q = the kCount words of t from `at` on. The carry flag
  /// on input is one of word at + 8, and on output one of the word after the sum.
  template <unsigned kCount>
  MM_DEVICE static void add_quotient(std::uint32_t* t, unsigned at) {
    const std::uint32_t* const q = t + at;
    std::uint32_t u[3 + kCount - 1 + 3] = {};
    // u[3 ..] = q + q 2^64 + carry 2^64 - q 2^32, below 2^(32 kCount + 64)
    MM_UNROLL
    for (unsigned j = 0; j < kCount; ++j) u[j] = u[3 + j] = q[j];
    u[5] = cuda::addc_cc(u[5], q[0]);
    MM_UNROLL
    for (unsigned j = 1; j + 1 < kCount; ++j) u[5 + j] = cuda::addc_cc(0, q[j]);
    u[4 + kCount] = cuda::addc(0, q[kCount - 1]);
    u[4] = cuda::sub_cc(u[4], q[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kCount; ++j) u[4 + j] = cuda::subc_cc(u[4 + j], q[j]);
    u[4 + kCount] = cuda::subc(u[4 + kCount], 0);
    t[at + 3] = cuda::add_cc(t[at + 3], u[0]);
    MM_UNROLL
    for (unsigned j = 1; j < 5 + kCount; ++j) t[at + 3 + j] = cuda::addc_cc(t[at + 3 + j], u[j]);
  }
};

/// p = 2^256 - 2^224 - 2^96 + 2^64 - 1, the field of SM2 (GB/T 32918.5): -1 modulo 2^64.
struct Sm2 : MontgomeryFriendly<Sm2> {
  static constexpr unsigned kWords = 8;
  static constexpr unsigned kRadixBits = 256;
  static constexpr bool kGapIsAbove = true;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j == 2 ? 0u : j == 7 ? 0xfffffffeu : 0xffffffffu;
  }

  /// Of k (2^224 + 2^96 - 2^64 + 1).
  MM_DEVICE static constexpr std::uint32_t gap_word(unsigned j, std::uint32_t k) {
    const std::uint32_t negative = sign_mask(k);
    switch (j) {
      case 0:
        return k;
      case 2:
        return negative - k;
      case 3:
        return sign_mask(0 - k) + k;
      case 7:
        return negative + k;
      default:
        return negative;
    }
  }

  /// Four words q of t at a time: q (p + 1) = (e - e 2^160) 2^64 with e = q - q 2^32.
  MM_DEVICE static std::uint32_t add_multiple(std::uint32_t* t) {
    std::uint32_t carry = add_quotient(t, 0);
    t[12] = cuda::add_cc(t[12], carry);
    MM_UNROLL
    for (unsigned j = 13; j < 2 * kWords; ++j) t[j] = cuda::addc_cc(t[j], 0);
    carry = cuda::addc(0, 0);
    return carry + add_quotient(t, 4);
  }

 private:
  /// t += q p 2^(32 at), up to word at + 11. @return the carry. The upper two words of q are those that t has
  /// once the multiple of the lower two is added, which are q0 and q1 - q0 there.
  MM_DEVICE static std::uint32_t add_quotient(std::uint32_t* t, unsigned at) {
    t += at;
    const std::uint32_t q0 = t[0], q1 = t[1];
    const std::uint32_t q2 = cuda::add_cc(t[2], q0);
    const std::uint32_t q3 = cuda::addc(t[3], q1 - q0);
    // -2^160 < e <= 0; e - e 2^160 is below 2^320.
    std::uint32_t u[10];
    u[0] = q0;
    u[1] = cuda::sub_cc(q1, q0);
    u[2] = cuda::subc_cc(q2, q1);
    u[3] = cuda::subc_cc(q3, q2);
    u[4] = cuda::subc_cc(0, q3);
    const std::uint32_t negative = cuda::subc(0, 0);
    u[5] = cuda::sub_cc(negative, u[0]);
    MM_UNROLL
    for (unsigned j = 1; j < 4; ++j) u[5 + j] = cuda::subc_cc(negative, u[j]);
    u[9] = cuda::subc(negative, u[4]);
    t[2] = cuda::add_cc(t[2], u[0]);
    MM_UNROLL
    for (unsigned j = 1; j < 10; ++j) t[2 + j] = cuda::addc_cc(t[2 + j], u[j]);
    return cuda::addc(0, 0);
  }
};

}  // namespace manymod::special_primes
