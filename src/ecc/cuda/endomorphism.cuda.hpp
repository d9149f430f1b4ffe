// SPDX-License-Identifier: Apache-2.0
// Scalars of secp256k1 in two halves (ecc/endomorphism.hpp), by one thread. ecc/lanes/recoding.cpp does the
// same on the host. Timing: constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/endomorphism.hpp"
#include "modmul/special_primes/products.cuda.hpp"

namespace manymod::ecc::cuda {

/// 32-bit words of a half of a scalar.
inline constexpr unsigned kHalfWords = (kHalfBits + 31) / 32;

/// A number with its sign; or, while it is computed, a number modulo 2^(32 kHalfWords).
struct HalfScalar {
  std::uint32_t words[kHalfWords];
  std::uint32_t negative;  ///< a mask
};

/// The lowest words of a number that is a member of EndomorphismNumbers.
template <unsigned kCount>
struct NumberWords {
  std::uint32_t words[kCount];

  template <unsigned kLimbs>
  MM_DEVICE constexpr explicit NumberWords(const std::uint64_t (&limbs)[kLimbs]) : words() {
    for (unsigned j = 0; j < kCount; ++j)
      words[j] = static_cast<std::uint32_t>(limbs[j / 2] >> (32 * (j % 2)));
  }
};

/// c = round(k g / 2^384), below 2^128.
MM_DEVICE void rounded_quotient(std::uint32_t (&c)[kHalfWords], const std::uint32_t* k,
                                const NumberWords<8>& g) {
  std::uint32_t product[16];
  special_primes::multiply<8>(product, k, g.words);
  c[0] = manymod::cuda::add_cc(product[12], product[11] >> 31);
  MM_UNROLL
  for (unsigned j = 1; j + 1 < kHalfWords; ++j) c[j] = manymod::cuda::addc_cc(product[12 + j], 0);
  c[kHalfWords - 1] = 0;
}

/// r += x, or r -= x.
MM_DEVICE void add(HalfScalar& r, const std::uint32_t (&x)[kHalfWords]) {
  r.words[0] = manymod::cuda::add_cc(r.words[0], x[0]);
  MM_UNROLL
  for (unsigned j = 1; j < kHalfWords; ++j) r.words[j] = manymod::cuda::addc_cc(r.words[j], x[j]);
}
MM_DEVICE void subtract(HalfScalar& r, const std::uint32_t (&x)[kHalfWords]) {
  r.words[0] = manymod::cuda::sub_cc(r.words[0], x[0]);
  MM_UNROLL
  for (unsigned j = 1; j < kHalfWords; ++j) r.words[j] = manymod::cuda::subc_cc(r.words[j], x[j]);
}

/// r = c x modulo 2^(32 kHalfWords).
MM_DEVICE void low_product(std::uint32_t (&r)[kHalfWords], const std::uint32_t (&c)[kHalfWords],
                           const NumberWords<kHalfWords>& x) {
  MM_UNROLL
  for (unsigned j = 0; j < kHalfWords; ++j) r[j] = 0;
  MM_UNROLL
  for (unsigned i = 0; i < kHalfWords; ++i) {
    std::uint64_t carry = 0;
    MM_UNROLL
    for (unsigned j = 0; i + j < kHalfWords; ++j) {
      carry += std::uint64_t{c[i]} * x.words[j] + r[i + j];
      r[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
}

/// r = x where the mask is set, else 0.
MM_DEVICE void masked(std::uint32_t (&r)[kHalfWords], const NumberWords<kHalfWords>& x, std::uint32_t mask) {
  MM_UNROLL
  for (unsigned j = 0; j < kHalfWords; ++j) r[j] = x.words[j] & mask;
}

/// All ones if the number is even.
MM_DEVICE std::uint32_t mask_if_even(const HalfScalar& x) {
  return manymod::cuda::opaque((x.words[0] & 1) - 1);
}

/// From a number modulo 2^(32 kHalfWords) to its magnitude and sign.
MM_DEVICE void set_sign(HalfScalar& r) {
  r.negative = manymod::cuda::opaque(0 - (r.words[kHalfWords - 1] >> 31));
  r.words[0] = manymod::cuda::add_cc(r.words[0] ^ r.negative, r.negative & 1);
  MM_UNROLL
  for (unsigned j = 1; j < kHalfWords; ++j) {
    r.words[j] = manymod::cuda::addc_cc(r.words[j] ^ r.negative, 0);
  }
}

/// +-r1 +- r2 lambda = k modulo n with r1, r2 odd and below 2^kHalfBits. On input: k < n, 8 words.
MM_DEVICE void split_odd(HalfScalar& r1, HalfScalar& r2, const std::uint32_t* k) {
  using Whole = NumberWords<8>;
  using Short = NumberWords<kHalfWords>;
  constexpr EndomorphismNumbers kNumbers = kSecp256k1Endomorphism;
  constexpr Whole kG1(kNumbers.g1), kG2(kNumbers.g2);
  constexpr Short kA1(kNumbers.a1), kMinusB1(kNumbers.minus_b1), kA2(kNumbers.a2);
  std::uint32_t c1[kHalfWords], c2[kHalfWords], term[kHalfWords];
  rounded_quotient(c1, k, kG1);
  rounded_quotient(c2, k, kG2);
  MM_UNROLL
  for (unsigned j = 0; j < kHalfWords; ++j) r1.words[j] = k[j];
  low_product(term, c1, kA1);
  subtract(r1, term);
  low_product(term, c2, kA2);
  subtract(r1, term);
  low_product(r2.words, c1, kMinusB1);
  low_product(term, c2, kA1);
  subtract(r2, term);
  // Make both odd, by the basis of the lattice.
  const std::uint32_t first = mask_if_even(r1);
  masked(term, kA1, first);
  add(r1, term);
  masked(term, kMinusB1, first);
  subtract(r2, term);
  const std::uint32_t second = mask_if_even(r2);
  masked(term, kA2, second);
  subtract(r1, term);
  masked(term, kA1, second);
  subtract(r2, term);
  set_sign(r1);
  set_sign(r2);
}

}  // namespace manymod::ecc::cuda
