// SPDX-License-Identifier: Apache-2.0
// Reductions modulo special primes p in 32-bit words, by one thread, without or almost without products.
//
// A prime is a class of static functions over kWords words; numbers are below B = 2^(32 kWords), p < B:
//   word(j)         word j of p
//   kRadixBits      elements stand for x R mod p with R = 2^kRadixBits; 0: they stand for x itself
//   reduce(r, t)    r = t / R mod p, r < B. On input: t < B^2, 2 kWords words, which are overwritten
//   correct(r, c)   r = r + c B mod p, r < B. On input: c is 0 or 1, r + c B < 2 B
//   repay(r, c)     r = r - c B mod p, r < B. On input: c is 0 or 1, r - c B > -B
//   settle(r)       r = r mod p, r < 2 p. On input: r < B
//   kOrdersProducts whether products are to follow each other in machine code (products.cuda.hpp)
// Some primes also have functions for sums and differences of several numbers: MontgomeryFriendly below.
//
// Folding primes replace B by d = B - k p > 0, small: r + c B = r + c d. Montgomery-friendly primes have p =
// -1 modulo a power of 2^32: the quotient of a step is the lowest words themselves, and its multiple of p +
// 1, which is a sum of few signed powers of 2^32, takes additions alone.
//
// Sources: J. A. Solinas, "Generalized Mersenne Numbers" (CORR 99-39) for the shape of the primes; S. Gueron,
// V. Krasnov, "Fast prime field elliptic-curve cryptography with 256-bit primes" (2015) for Montgomery
// reduction without multiplications where p = -1 modulo a power of the word.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/special_primes/primes.hpp"

namespace manymod::special_primes {

/// t[from .. kEnd) += u[0 .. kCount), a carry chain to the end. @return the carry out.
template <unsigned kEnd, unsigned kCount>
MM_DEVICE std::uint32_t add_words(std::uint32_t* t, unsigned from, const std::uint32_t* u) {
  t[from] = cuda::add_cc(t[from], u[0]);
  MM_UNROLL
  for (unsigned j = 1; from + j < kEnd; ++j) {
    t[from + j] = cuda::addc_cc(t[from + j], j < kCount ? u[j] : 0);
  }
  return cuda::addc(0, 0);
}

/// r - c p, kWords words. On input: c is 0 or 1. @return the borrow.
template <class Prime>
MM_DEVICE std::uint32_t subtract_if(std::uint32_t* r, std::uint32_t c) {
  const std::uint32_t mask = 0 - c;
  r[0] = cuda::sub_cc(r[0], mask & Prime::word(0));
  MM_UNROLL
  for (unsigned j = 1; j < Prime::kWords; ++j) r[j] = cuda::subc_cc(r[j], mask & Prime::word(j));
  return cuda::subc(0, 0) & 1;
}
/// r + c p. @return the carry.
template <class Prime>
MM_DEVICE std::uint32_t add_if(std::uint32_t* r, std::uint32_t c) {
  const std::uint32_t mask = 0 - c;
  r[0] = cuda::add_cc(r[0], mask & Prime::word(0));
  MM_UNROLL
  for (unsigned j = 1; j < Prime::kWords; ++j) r[j] = cuda::addc_cc(r[j], mask & Prime::word(j));
  return cuda::addc(0, 0);
}

/// p = 2^255 - 19: B = 2^256 = 38 mod p.
struct Curve25519 {
  static constexpr unsigned kWords = 8;
  static constexpr unsigned kRadixBits = 0;
  static constexpr bool kOrdersProducts = false;
  static constexpr std::uint32_t kFold = 38;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j == 0 ? 0xffffffedu : j < 7 ? 0xffffffffu : 0x7fffffffu;
  }

  /// t < B^2: low + 38 high < 39 B. With the words above B, below 39, folded once more the sum is below B +
  /// 39 * 38; if it is B or more, the low part is below 39 * 38 and takes another 38 in its lowest word.
  MM_DEVICE static void reduce(std::uint32_t* r, std::uint32_t* t) {
    std::uint32_t odd[kWords];
    MM_UNROLL
    for (unsigned j = 1; j < kWords; j += 2) {
      cuda::mad_wide_cc(odd[j - 1], odd[j], t[kWords + j], kFold, 0, 0);
    }
    cuda::mad_wide_cc(t[0], t[1], t[kWords], kFold, t[0], t[1]);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; j += 2) {
      cuda::madc_wide_cc(t[j], t[j + 1], t[kWords + j], kFold, t[j], t[j + 1]);
    }
    std::uint32_t top = cuda::addc(0, 0);
    t[1] = cuda::add_cc(t[1], odd[0]);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; ++j) t[j] = cuda::addc_cc(t[j], odd[j - 1]);
    top = cuda::addc(top, odd[kWords - 1]);

    r[0] = cuda::add_cc(t[0], top * kFold);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(t[j], 0);
    r[0] += kFold * cuda::addc(0, 0);
  }
  /// r + 38 c < B + 38: if that overflows, the low part is below 38.
  MM_DEVICE static void correct(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::add_cc(r[0], kFold * c);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(r[j], 0);
    r[0] += kFold * cuda::addc(0, 0);
  }
  /// r - 38 c > -38: if that borrows, the low part is at least B - 38, and its lowest word 2^32 - 38.
  MM_DEVICE static void repay(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::sub_cc(r[0], kFold * c);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::subc_cc(r[j], 0);
    r[0] -= kFold * (cuda::subc(0, 0) & 1);
  }
  /// 2^255 = 19: below 2^255 + 19.
  MM_DEVICE static void settle(std::uint32_t* r) {
    const std::uint32_t fold = kFold / 2 * (r[kWords - 1] >> 31);
    r[kWords - 1] &= 0x7fffffffu;
    add_words<kWords, 1>(r, 0, &fold);
  }
};

/// p = 2^256 - 2^32 - 977, the field of secp256k1: B = 2^256 = d = 2^32 + 977 mod p.
struct Secp256k1 {
  static constexpr unsigned kWords = 8;
  static constexpr unsigned kRadixBits = 0;
  static constexpr bool kOrdersProducts = false;
  static constexpr std::uint32_t kFold = 977;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j == 0 ? 0xfffffc2fu : j == 1 ? 0xfffffffeu : 0xffffffffu;
  }

  /// t < B^2: low + d high < (d + 1) B, whose part from B on is top <= d, 33 bits. low' + d top < B + 2^67;
  /// if that is B or more, the low part is below 2^67, and adding d carries no further than into word 2.
  MM_DEVICE static void reduce(std::uint32_t* r, std::uint32_t* t) {
    // The high words, at one position more, and 977 times the odd ones of them.
    std::uint32_t odd[kWords];
    cuda::mad_wide_cc(odd[0], odd[1], t[kWords + 1], kFold, t[kWords], t[kWords + 1]);
    MM_UNROLL
    for (unsigned j = 3; j < kWords; j += 2) {
      cuda::madc_wide_cc(odd[j - 1], odd[j], t[kWords + j], kFold, t[kWords + j - 1], t[kWords + j]);
    }
    std::uint32_t top_high = cuda::addc(0, 0);
    cuda::mad_wide_cc(t[0], t[1], t[kWords], kFold, t[0], t[1]);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; j += 2) {
      cuda::madc_wide_cc(t[j], t[j + 1], t[kWords + j], kFold, t[j], t[j + 1]);
    }
    std::uint32_t top_low = cuda::addc(0, 0);
    t[1] = cuda::add_cc(t[1], odd[0]);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; ++j) t[j] = cuda::addc_cc(t[j], odd[j - 1]);
    top_low = cuda::addc_cc(top_low, odd[kWords - 1]);
    top_high = cuda::addc(top_high, 0);

    std::uint32_t fold[3];  // d top
    cuda::mad_wide_cc(fold[0], fold[1], top_low, kFold, 0, top_high * kFold);
    fold[1] = cuda::add_cc(fold[1], top_low);
    fold[2] = cuda::addc(top_high, 0);
    add_fold(t, add_words<kWords, 3>(t, 0, fold));
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r[j] = t[j];
  }
  /// r + c d < B + d: if that overflows, the low part is below d < 2^33.
  MM_DEVICE static void correct(std::uint32_t* r, std::uint32_t c) {
    const std::uint32_t fold[2] = {kFold * c, c};
    add_fold(r, add_words<kWords, 2>(r, 0, fold));
  }
  /// r - c d > -d: if that borrows, the low part is at least B - d, and its two lowest words at least 2^64 -
  /// d > d.
  MM_DEVICE static void repay(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::sub_cc(r[0], kFold * c);
    r[1] = cuda::subc_cc(r[1], c);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; ++j) r[j] = cuda::subc_cc(r[j], 0);
    const std::uint32_t borrow = cuda::subc(0, 0) & 1;
    r[0] = cuda::sub_cc(r[0], kFold * borrow);
    r[1] = cuda::subc(r[1], borrow);
  }
  MM_DEVICE static void settle(std::uint32_t* /*r*/) {}  // B < 2 p

 private:
  /// r += c d. On input: r < 2^67 if c is 1.
  MM_DEVICE static void add_fold(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::add_cc(r[0], kFold * c);
    r[1] = cuda::addc_cc(r[1], c);
    r[2] = cuda::addc(r[2], 0);
  }
};

/// The sign of a word above the highest one of a number, in two's complement.
enum class TopSign { not_negative, not_positive, any };

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

 protected:
  /// All ones if the number in two's complement is negative.
  MM_DEVICE static constexpr std::uint32_t sign_mask(std::uint32_t number) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(number) >> 31);
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

/// p = 2^384 - 2^128 - 2^96 + 2^32 - 1, the field of P-384 (FIPS 186-5): B = 2^384 = d = 2^128 + 2^96 - 2^32
/// + 1 mod p.
struct P384 {
  static constexpr unsigned kWords = 12;
  static constexpr unsigned kRadixBits = 0;
  static constexpr bool kOrdersProducts = true;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j == 1 || j == 2 ? 0u : j == 4 ? 0xfffffffeu : 0xffffffffu;
  }

  /// t < B^2: low + d high < (d + 1) B, whose part from B on is top <= d < 2^129. low' + d top < B + 2^258;
  /// if that is B or more, the low part is below 2^258, and adding d carries no further than into word 8.
  MM_DEVICE static void reduce(std::uint32_t* r, std::uint32_t* t) {
    std::uint32_t sum[kWords + 5];
    add_product(sum, t + kWords, t);
    std::uint32_t fold[10];
    const std::uint32_t zero[5] = {};
    add_product(fold, sum + kWords, zero);
    const std::uint32_t carry = add_words<kWords, 10>(sum, 0, fold);
    add_fold<9>(sum, carry);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r[j] = sum[j];
  }
  /// r + c d < B + d: if that overflows, the low part is below d < 2^129.
  MM_DEVICE static void correct(std::uint32_t* r, std::uint32_t c) { add_fold<6>(r, add_fold<kWords>(r, c)); }
  /// r - c d > -d: if that borrows, the low part is at least B - d, and its five lowest words at least 2^160
  /// - d > d.
  MM_DEVICE static void repay(std::uint32_t* r, std::uint32_t c) {
    subtract_fold<5>(r, subtract_fold<kWords>(r, c));
  }
  MM_DEVICE static void settle(std::uint32_t* /*r*/) {}  // B < 2 p

 private:
  /// Word j of c d, for c = 0 or 1.
  MM_DEVICE static std::uint32_t fold_word(unsigned j, std::uint32_t c) {
    return j == 0 || j == 4 ? c : j == 1 || j == 2 ? 0 - c : 0;
  }
  /// r += c d in its lowest kCount words. @return the carry.
  template <unsigned kCount>
  MM_DEVICE static std::uint32_t add_fold(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::add_cc(r[0], fold_word(0, c));
    MM_UNROLL
    for (unsigned j = 1; j < kCount; ++j) r[j] = cuda::addc_cc(r[j], fold_word(j, c));
    return cuda::addc(0, 0);
  }
  /// r -= c d. @return the borrow.
  template <unsigned kCount>
  MM_DEVICE static std::uint32_t subtract_fold(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::sub_cc(r[0], fold_word(0, c));
    MM_UNROLL
    for (unsigned j = 1; j < kCount; ++j) r[j] = cuda::subc_cc(r[j], fold_word(j, c));
    return cuda::subc(0, 0) & 1;
  }
  /// r = low + d h, kCount + 5 words, for h and low of kCount words: low + h + (h + h 2^32) 2^96 - h 2^32.
  /// The highest word is 0 or 1.
  template <unsigned kTotal>
  MM_DEVICE static void add_product(std::uint32_t (&r)[kTotal], const std::uint32_t* h,
                                    const std::uint32_t* low) {
    constexpr unsigned kCount = kTotal - 5;
    std::uint32_t twice[kCount + 2];  // h + h 2^32
    twice[0] = h[0];
    twice[1] = cuda::add_cc(h[1], h[0]);
    MM_UNROLL
    for (unsigned j = 2; j < kCount; ++j) twice[j] = cuda::addc_cc(h[j], h[j - 1]);
    twice[kCount] = cuda::addc_cc(h[kCount - 1], 0);
    twice[kCount + 1] = cuda::addc(0, 0);
    // low + h first: its carry goes to the word above, and so does the borrow of - h 2^32.
    r[0] = cuda::add_cc(low[0], h[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kCount; ++j) r[j] = cuda::addc_cc(low[j], h[j]);
    r[kCount] = cuda::addc(0, 0);
    r[3] = cuda::add_cc(r[3], twice[0]);
    MM_UNROLL
    for (unsigned j = 4; j < kTotal; ++j) r[j] = cuda::addc_cc(j <= kCount ? r[j] : 0, twice[j - 3]);
    r[1] = cuda::sub_cc(r[1], h[0]);
    MM_UNROLL
    for (unsigned j = 2; j < kTotal; ++j) r[j] = cuda::subc_cc(r[j], j <= kCount ? h[j - 1] : 0);
  }
};

/// p = 2^521 - 1, the field of P-521 (FIPS 186-5). B = 2^544 = 2^23 mod p.
struct P521 {
  static constexpr unsigned kWords = 17;
  static constexpr unsigned kRadixBits = 0;
  static constexpr bool kOrdersProducts = false;

  MM_DEVICE static constexpr std::uint32_t word(unsigned j) {
    return j < kWords - 1 ? 0xffffffffu : kTopMask;
  }

  /// t < B^2 = 2^1088: low 521 bits + high 567 bits < 2^568, then low 521 bits + high 47 bits.
  MM_DEVICE static void reduce(std::uint32_t* r, std::uint32_t* t) {
    std::uint32_t high[kWords + 1];
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) high[j] = cuda::shift_right(t[kTop + j], t[kTop + j + 1], kTopBits);
    high[kWords] = t[2 * kWords - 1] >> kTopBits;
    t[kTop] &= kTopMask;
    high[kWords] += add_words<kWords, kWords>(t, 0, high);
    const std::uint32_t rest[2] = {cuda::shift_right(t[kTop], high[kWords], kTopBits),
                                   high[kWords] >> kTopBits};
    t[kTop] &= kTopMask;
    add_words<kWords, 2>(t, 0, rest);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r[j] = t[j];
  }
  /// r + 2^23 c < B + 2^23: if that overflows, the low part is below 2^23.
  MM_DEVICE static void correct(std::uint32_t* r, std::uint32_t c) {
    const std::uint32_t fold = c << kSpareBits;
    r[0] += add_words<kWords, 1>(r, 0, &fold) << kSpareBits;
  }
  /// r - 2^23 c > -2^23: if that borrows, the low part is at least B - 2^23, and its lowest word 2^32 - 2^23.
  MM_DEVICE static void repay(std::uint32_t* r, std::uint32_t c) {
    r[0] = cuda::sub_cc(r[0], c << kSpareBits);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::subc_cc(r[j], 0);
    r[0] -= (cuda::subc(0, 0) & 1) << kSpareBits;
  }
  /// Below 2^521 + 2^23.
  MM_DEVICE static void settle(std::uint32_t* r) {
    const std::uint32_t fold = r[kTop] >> kTopBits;
    r[kTop] &= kTopMask;
    add_words<kWords, 1>(r, 0, &fold);
  }

 private:
  static constexpr unsigned kTop = kWords - 1;  ///< the word of bit 521, and that bit
  static constexpr unsigned kTopBits = 521 - 32 * kTop;
  static constexpr unsigned kSpareBits = 32 - kTopBits;
  static constexpr std::uint32_t kTopMask = (1u << kTopBits) - 1;
};

/// Whether the words are those of the prime.
template <class Prime, class Limbs>
constexpr bool has_words_of() {
  bool same = true;
  for (unsigned j = 0; j < 2 * Limbs::kLimbs; ++j) {
    const auto word = static_cast<std::uint32_t>(Limbs::kLimb[j / 2] >> (32 * (j % 2)));
    same = same && word == (j < Prime::kWords ? Prime::word(j) : 0);
  }
  return same;
}
static_assert(has_words_of<Curve25519, primes::Curve25519>() &&
              has_words_of<Secp256k1, primes::Secp256k1>() && has_words_of<P256, primes::P256>() &&
              has_words_of<Sm2, primes::Sm2>() && has_words_of<P384, primes::P384>() &&
              has_words_of<P521, primes::P521>());

}  // namespace manymod::special_primes
