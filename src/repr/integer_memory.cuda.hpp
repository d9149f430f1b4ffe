// SPDX-License-Identifier: Apache-2.0
// Canonical numbers in a user's memory, little-endian limbs of 32 or 64 bits, accessed as 32-bit words. All
// but bit_length() are constant-time in the words.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/portable.hpp"

namespace manymod::integers {

/// A number to read. Words from `count` on are 0.
class Words {
 public:
  Words() = default;
  MM_DEVICE Words(const std::uint32_t* words, unsigned count) : words_(words), count_(count) {}
  MM_DEVICE Words(const std::uint64_t* limbs, unsigned limb_count) : limbs_(limbs), count_(2 * limb_count) {}

  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    if (j >= count_) return 0;
    return limbs_ == nullptr ? words_[j] : static_cast<std::uint32_t>(limbs_[j / 2] >> (32 * (j % 2)));
  }
  MM_DEVICE unsigned count() const { return count_; }

 private:
  const std::uint32_t* words_ = nullptr;
  const std::uint64_t* limbs_ = nullptr;  // used instead of words_ if not null
  unsigned count_ = 0;
};

/// A number to write. Words from `count` on are discarded.
class WordsOut {
 public:
  MM_DEVICE WordsOut(std::uint32_t* words, unsigned count) : words_(words), count_(count) {}
  MM_DEVICE WordsOut(std::uint64_t* limbs, unsigned limb_count) : limbs_(limbs), count_(2 * limb_count) {}

  MM_DEVICE void set(unsigned j, std::uint32_t word) const {
    if (j >= count_) return;
    if (limbs_ == nullptr) {
      words_[j] = word;
    } else {
      set_half(j, word);
    }
  }

 private:
  std::uint32_t* words_ = nullptr;
  std::uint64_t* limbs_ = nullptr;  // used instead of words_ if not null
  unsigned count_;

  // Two lanes may each write one half of a limb, so that each half is stored separately. On the host by
  // memcpy and not through a pointer to another type, which would violate strict aliasing.
  MM_DEVICE void set_half(unsigned j, std::uint32_t word) const {
#if defined(__CUDA_ARCH__)
    const auto address = reinterpret_cast<std::uint64_t>(limbs_) + std::uint64_t{4} * j;
    asm volatile("st.u32 [%0], %1;" ::"l"(address), "r"(word) : "memory");
#else
    std::memcpy(reinterpret_cast<unsigned char*>(limbs_) + std::size_t{4} * j, &word, sizeof word);
#endif
  }
};

/// A number of one word.
struct SmallWord {
  std::uint32_t value;
  MM_DEVICE std::uint32_t operator[](unsigned j) const { return j == 0 ? value : 0; }
};

/// 2^exponent.
struct PowerOfTwo {
  unsigned exponent;
  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    return j == exponent / 32 ? std::uint32_t{1} << (exponent % 32) : 0;
  }
};

/// Words first .. first + count - 1 of a, as a number.
struct ChunkWords {
  Words a;
  unsigned first, count;
  MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < count ? a[first + j] : 0; }
};

/// a 2^bits.
struct ShiftedLeft {
  Words a;
  unsigned bits;

  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    const unsigned at = j - bits / 32;  // wraps below word 0, to an index past the last word
    const std::uint32_t high = a[at], low = a[at - 1];
    return bits % 32 == 0 ? high : (high << (bits % 32)) | (low >> (32 - bits % 32));
  }
};

/// floor(a / 2^bits).
struct ShiftedRight {
  Words a;
  unsigned bits;

  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    const unsigned at = j + bits / 32;
    const std::uint32_t low = a[at], high = a[at + 1];
    return bits % 32 == 0 ? low : (low >> (bits % 32)) | (high << (32 - bits % 32));
  }
};

/// All ones if the word is not 0, else 0. Without a comparison, from which a compiler might make a branch.
MM_DEVICE std::uint32_t mask_if_not_zero(std::uint32_t word) { return 0 - ((word | (0 - word)) >> 31); }

/// n - 2 for odd n > 1. The extent of its borrow is computed once and not for each word.
class LessTwo {
 public:
  MM_DEVICE explicit LessTwo(const Words& n) : n_(n) {
    // Word 0 is odd: only 1 - 2 borrows, from the words above up to the first that is not 0.
    std::uint32_t borrow = ~mask_if_not_zero(n[0] ^ 1) & 1;
    MM_ROLLED
    for (unsigned j = 1; j < n.count(); ++j) {
      last_ += borrow;
      borrow &= ~mask_if_not_zero(n[j]);
    }
  }

  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    const std::uint32_t word = n_[j];
    const std::uint32_t less_borrow = j - 1 < last_ ? word - 1 : word;
    return j == 0 ? word - 2 : less_borrow;
  }

 private:
  Words n_;
  unsigned last_ = 0;  // words 1 .. last_ are decremented
};

/// The number of bits of a up to its highest 1. Variable-time in the length only: words below the top one are
/// not read.
MM_DEVICE unsigned bit_length(const Words& a) {
  unsigned count = a.count();
  while (count > 0 && a[count - 1] == 0) --count;
  std::uint32_t top = a[count - 1];
  unsigned bits = count == 0 ? 0 : 32 * (count - 1);
  MM_UNROLL
  for (unsigned step = 16; step > 0; step /= 2) {
    const std::uint32_t mask = mask_if_not_zero(top >> step);
    bits += step & mask;
    top = (top >> step & mask) | (top & ~mask);
  }
  return bits + top;
}

}  // namespace manymod::integers
