// SPDX-License-Identifier: Apache-2.0
// Hashes of byte strings that follow each other, by one thread for each item.
//
// Timing: constant-time; it depends on lengths only.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/sha2.cuda.hpp"
#include "core/sm3.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/rows.cuda.hpp"

namespace manymod::ecc::cuda {

using sha2::Sha2, sha2::Sha256, sha2::Sha512, sha2::ShaState, sha2::Sm3;

/// Reads an item's strings one after the other, and behind them the byte 0x80 and zeros.
template <unsigned kParts>
class StringReader {
 public:
  /// last_size: of the last string, in place of its own.
  MM_DEVICE StringReader(const Strings (&parts)[kParts], unsigned last_size, std::uint32_t item)
      : parts_(parts), item_(item), last_size_(last_size) {
    for (unsigned i = 0; i < kParts; ++i) size_ += size_of(i);
  }

  [[nodiscard]] MM_DEVICE unsigned size() const { return size_; }

  /// The next four bytes, the first one on top.
  MM_DEVICE std::uint32_t next() {
    skip_ends();
    if (part_ < kParts && at_ + 4 <= size_of(part_)) {
      const std::uint8_t* const bytes = parts_[part_].at(item_) + at_;
      if ((reinterpret_cast<std::uintptr_t>(bytes) & 3) == 0) {
        at_ += 4;
        std::uint32_t word;
        std::memcpy(&word, __builtin_assume_aligned(bytes, 4), sizeof word);
        return reversed_bytes(word);
      }
    }
    std::uint32_t word = 0;
    MM_ROLLED
    for (unsigned i = 0; i < 4; ++i) word = word << 8 | next_byte();
    return word;
  }

 private:
  const Strings (&parts_)[kParts];
  std::uint32_t item_;
  unsigned last_size_;
  unsigned size_ = 0, part_ = 0, at_ = 0;
  std::uint32_t pad_ = 0x80;

  [[nodiscard]] MM_DEVICE unsigned size_of(unsigned part) const {
    return part + 1 == kParts ? last_size_ : parts_[part].size;
  }
  MM_DEVICE void skip_ends() {
    while (part_ < kParts && at_ == size_of(part_)) ++part_, at_ = 0;
  }
  MM_DEVICE std::uint32_t next_byte() {
    skip_ends();
    if (part_ < kParts) return parts_[part_].at(item_)[at_++];
    const std::uint32_t byte = pad_;
    pad_ = 0;
    return byte;
  }
};

/// The digest of an item's strings in a row, of less than 2^29 bytes together (FIPS 180-4, 5.1 and 6).
/// last_size: of the last string, in place of its own.
template <class Hash, unsigned kParts>
MM_DEVICE ShaState<Hash> hash_of(const Strings (&parts)[kParts], unsigned last_size, std::uint32_t item) {
  using Word = typename Hash::Word;
  constexpr unsigned kBlockBytes = Sha2<Hash>::kBlockBytes, kLengthBytes = 2 * sizeof(Word);
  StringReader<kParts> reader(parts, last_size, item);
  ShaState<Hash> state = Sha2<Hash>::start();
  Word block[16];
  const unsigned blocks = (reader.size() + kLengthBytes) / kBlockBytes + 1;
  MM_ROLLED
  for (unsigned left = blocks; left > 0; --left) {
    MM_ROLLED
    for (unsigned i = 0; i < 16; ++i) {
      block[i] = reader.next();
      if constexpr (sizeof(Word) == 8) block[i] = block[i] << 32 | reader.next();
    }
    if (left == 1) block[15] = Word{8} * reader.size();
    Sha2<Hash>::compress(state, block);
  }
  return state;
}

/// On input: item < job.count.
template <class Hash>
MM_DEVICE void digest_strings(const DigestJob& job, std::uint32_t item) {
  constexpr unsigned kWords = Hash::kDigestBytes / 4;
  constexpr bool kWide = sizeof(typename Hash::Word) == 8;
  const ShaState<Hash> digest = hash_of<Hash>(job.parts, *job.last_sizes.at(item), item);
  std::uint8_t* const to = job.to + std::size_t{Hash::kDigestBytes} * item;
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) {
    auto word =
        static_cast<std::uint32_t>(kWide ? digest.word[j / 2] >> (j % 2 == 0 ? 32 : 0) : digest.word[j]);
    if constexpr (kWords == 8) word ^= job.mask.words == nullptr ? 0 : job.mask.at(item)[7 - j];
    word = reversed_bytes(word);
    std::memcpy(__builtin_assume_aligned(to + 4 * j, 4), &word, sizeof word);
  }
}

}  // namespace manymod::ecc::cuda
