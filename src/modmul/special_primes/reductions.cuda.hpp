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
// P-256 and SM2 (montgomery_friendly.cuda.hpp), P-384 and P-521 also have, for differences of several
// numbers:
//   settle_top<s>(r, top)      r = r + top B mod p, r < B. On input: -3 <= top <= 3, of the sign s
//   reduce_signed(r, t, top)   r = (t + top B^2) / R mod p, r < B. On input: t < B^2, which is overwritten;
//                              top is 0 or -1
//
// Folding primes, those of this file, replace B by d = B - k p > 0, small: r + c B = r + c d.
// Montgomery-friendly primes have p = -1 modulo a power of 2^32: the quotient of a step is the lowest words
// themselves, and its multiple of p + 1, which is a sum of few signed powers of 2^32, takes additions alone.
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
#include "modmul/special_primes/montgomery_friendly.cuda.hpp"
#include "modmul/special_primes/primes.hpp"
#include "modmul/special_primes/word_sums.cuda.hpp"

namespace manymod::special_primes {

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
  /// As low + d high above, and top B^2 = top d B: v = (the part from B on) + top d is in [-d, d]. With s = 1
  /// where v is negative and v + s 2^160 in five words, d v = d (v + s 2^160) - s d 2^160, in (-2^258,
  /// 2^258). If low' + d v is B or more, adding d carries no further than into word 8, as above; if it is
  /// negative, its words hold more than B - 2^258, of which the lowest nine are above 2^288 - 2^258 > d.
  MM_DEVICE static void reduce_signed(std::uint32_t* r, std::uint32_t* t, std::uint32_t top) {
    std::uint32_t sum[kWords + 5];
    add_product(sum, t + kWords, t);
    std::uint32_t* const v = sum + kWords;
    const std::uint32_t negative = add_signed_fold<5>(v, top);
    std::uint32_t fold[10];
    const std::uint32_t zero[5] = {};
    add_product(fold, v, zero);
    static_cast<void>(add_signed_fold<5>(fold + 5, negative));
    sum[0] = cuda::add_cc(sum[0], fold[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) sum[j] = cuda::addc_cc(sum[j], j < 10 ? fold[j] : negative);
    static_cast<void>(add_signed_fold<9>(sum, cuda::addc(negative, 0)));
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
  /// -3 d <= r + top d < B + 3 d. If that overflows, the low part is below 3 d, and another d leaves it below
  /// 2^131; if it is negative, the five lowest words are at least 2^160 - 3 d > d.
  template <TopSign kSign>
  MM_DEVICE static void settle_top(std::uint32_t* r, std::uint32_t top) {
    static_cast<void>(add_signed_fold<5>(r, add_signed_fold<kWords>(r, top)));
  }

 private:
  /// r += k d in its lowest kCount words, for -3 <= k <= 3. @return the word above them.
  template <unsigned kCount>
  MM_DEVICE static std::uint32_t add_signed_fold(std::uint32_t* r, std::uint32_t k) {
    const std::uint32_t negative = sign_mask(k), positive = sign_mask(0 - k);
    const std::uint32_t fold[5] = {k, negative - k, positive, positive + k, negative + k};
    r[0] = cuda::add_cc(r[0], fold[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kCount; ++j) r[j] = cuda::addc_cc(r[j], j < 5 ? fold[j] : negative);
    return cuda::addc(negative, 0);
  }
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
    take_high(high, t);
    high[kWords] += add_words<kWords, kWords>(t, 0, high);
    const std::uint32_t rest[2] = {cuda::shift_right(t[kTop], high[kWords], kTopBits),
                                   high[kWords] >> kTopBits};
    t[kTop] &= kTopMask;
    add_words<kWords, 2>(t, 0, rest);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r[j] = t[j];
  }
  /// The same, and top B^2 = top 2^46: the last number that is added, `rest` and `low`, is in [0, 2^47) for
  /// top = 0 and at least -2^46 for top = -1. The low 521 bits and that number make no B; if the sum is
  /// negative, its words hold at least B - 2^46, of which the lowest two are above 2^23.
  MM_DEVICE static void reduce_signed(std::uint32_t* r, std::uint32_t* t, std::uint32_t top) {
    std::uint32_t high[kWords + 1];
    take_high(high, t);
    high[kWords] += add_words<kWords, kWords>(t, 0, high);
    std::uint32_t low = cuda::shift_right(t[kTop], high[kWords], kTopBits);
    std::uint32_t rest = (high[kWords] >> kTopBits) + (top << (46 - 32));
    t[kTop] &= kTopMask;
    const std::uint32_t negative = sign_mask(rest);
    t[0] = cuda::add_cc(t[0], low);
    t[1] = cuda::addc_cc(t[1], rest);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; ++j) t[j] = cuda::addc_cc(t[j], negative);
    const std::uint32_t above = cuda::addc(negative, 0);
    r[0] = cuda::add_cc(t[0], above << kSpareBits);
    r[1] = cuda::addc(t[1], above);
    MM_UNROLL
    for (unsigned j = 2; j < kWords; ++j) r[j] = t[j];
  }
  /// -3 2^23 <= r + top 2^23 < B + 3 2^23. If that overflows, the low part is below 3 2^23, and if it is
  /// negative, the lowest word is at least 2^32 - 3 2^23.
  template <TopSign kSign>
  MM_DEVICE static void settle_top(std::uint32_t* r, std::uint32_t top) {
    const std::uint32_t negative = sign_mask(top);
    r[0] = cuda::add_cc(r[0], top << kSpareBits);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r[j] = cuda::addc_cc(r[j], negative);
    r[0] += cuda::addc(negative, 0) << kSpareBits;
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

  /// high = t / 2^521, and t = t mod 2^521 in its kWords lowest words.
  MM_DEVICE static void take_high(std::uint32_t (&high)[kWords + 1], std::uint32_t* t) {
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) high[j] = cuda::shift_right(t[kTop + j], t[kTop + j + 1], kTopBits);
    high[kWords] = t[2 * kWords - 1] >> kTopBits;
    t[kTop] &= kTopMask;
  }
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
