// SPDX-License-Identifier: Apache-2.0
// What signatures of BIP 340 compute beside points, by one thread for each item: hashes with a tag, whose
// block SHA256(tag) || SHA256(tag) is the first of the strings.
//
// Timing: constant-time.
#pragma once

#include <cstdint>
#include <cstring>

#include "ecc/cuda/ecdsa.cuda.hpp"
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

/// On input: item < job.count.
MM_DEVICE void mask_number(const MaskJob& job, std::uint32_t item) {
  const ShaState<Sha256> digest = hash_of<Sha256>(job.parts, job.parts[1].size, item);
  std::uint8_t* const to = job.to + std::size_t{32} * item;
  MM_UNROLL
  for (unsigned j = 0; j < 8; ++j) {
    const std::uint32_t word = reversed_bytes(digest.word[j] ^ job.number.at(item)[7 - j]);
    std::memcpy(__builtin_assume_aligned(to + 4 * j, 4), &word, sizeof word);
  }
}

}  // namespace manymod::ecc::cuda
