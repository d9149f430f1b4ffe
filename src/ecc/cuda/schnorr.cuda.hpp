// SPDX-License-Identifier: Apache-2.0
// What signatures of BIP 340 and SM2 compute beside points, by one thread for each item: hashes of strings as
// numbers modulo n, and the equation of SM2 (GB/T 32918.2, section 6.1).
//
// Timing: constant-time.
#pragma once

#include <cstdint>

#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/string_hash.cuda.hpp"

namespace manymod::ecc::cuda {

/// On input: item < job.count; n has 256 bits.
template <class C, class Hash>
MM_DEVICE void hash_to_number(const HashJob& job, std::uint32_t item) {
  static_assert(C::kOrderBits == 256 && C::kRowWords == 8);
  const ShaState<Hash> digest = hash_of<Hash>(job.parts, *job.message_sizes.at(item), item);
  std::uint32_t words[8];
  MM_UNROLL
  for (unsigned j = 0; j < 8; ++j) words[j] = digest.word[7 - j];
  reduce_once(words, job.curve.order);
  std::uint32_t* const row = job.number.at(item);
  const std::uint32_t negates = 0 - job.negates;
  std::uint32_t borrow = 0;
  MM_UNROLL
  for (unsigned j = 0; j < 8; ++j) {
    const std::uint32_t n = job.curve.order[j];
    row[j] = (words[j] & ~negates) | ((n - words[j] - borrow) & negates);
    borrow = next_borrow(n, words[j], borrow);
  }
}

/// r = e + x and s = (k - r d) / (1 + d) of SM2, for the items of thread `thread`.
template <class C, class Block>
MM_DEVICE void sign_sm2(const Block& block, const SignJob& job, std::uint32_t thread) {
  using Scalars = typename C::Scalars;
  using Scalar = typename Scalars::Element;
  ScalarMemory<C> memory;
  const Scalars f = scalar_field<C>(job.curve, memory);
  const auto load_denominator = [&](std::uint32_t item, Scalar& r) {
    Scalar one;
    f.one(one);
    load_scalar<C>(f, r, job.secret.at(item));
    f.add(r, r, one);
    f.normalize_weak(r, r);
    f.cmov(r, one, f.is_zero(r));
  };
  const auto use = [&](std::uint32_t item, const Scalar& inverse) {
    Scalar one, r, s, d, term;
    f.one(one);
    load_scalar<C>(f, d, job.secret.at(item));
    f.add(term, d, one);
    f.normalize_weak(term, term);
    std::uint32_t right =
        mask_if_scalar<C::kOrderWords>(job.nonce.at(item), job.curve.order) & ~f.is_zero(term);
    // x < p < 2 n.
    load_scalar<C>(f, r, job.x.at(item));
    load_scalar<C>(f, term, job.digest.at(item));
    f.add(r, r, term);
    f.normalize_weak(r, r);
    load_scalar<C>(f, s, job.nonce.at(item));
    f.mul(term, r, d);
    f.sub(s, s, term);
    f.mul(s, s, inverse);
    f.add(term, r, s);
    f.normalize_weak(term, term);
    right &= ~f.is_zero(r) & ~f.is_zero(s) & ~f.is_zero(term);
    f.to_limbs(row_out<C::kOrderWords>(job.r.at(item)), r);
    f.to_limbs(row_out<C::kOrderWords>(job.s.at(item)), s);
    job.recovery[item] = static_cast<std::uint8_t>(job.y.at(item)[0] & 1);
    job.valid[item] &= static_cast<std::uint8_t>(right & 1);
  };
  invert_chain(block, f, chain_of(job, thread), job.scratch, job.count, load_denominator, use);
}

}  // namespace manymod::ecc::cuda
