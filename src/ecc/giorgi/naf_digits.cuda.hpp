// SPDX-License-Identifier: Apache-2.0
// w-NAF digits of a scalar as a kernel keeps them between recoding and use (Giorgi, Izard, Tisserand, section
// 3.3): basic storage has a word for each digit, optimized storage w bits.
//
// The digits are in an array that is indexed at run time, which is local memory. Variable-time.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "modexp/recoding.hpp"
#include "modexp/windows.cuda.hpp"

namespace manymod::ecc::giorgi {

/// The digits of scalars of up to 32 kWords bits, which have up to one digit more.
template <unsigned kWords, unsigned kWidth>
class NafDigits {
  static constexpr unsigned kMost = 32 * kWords + 1;
  static_assert(kWidth >= recoding::kMinNafWidth && kWidth <= recoding::kMaxNafWidth);

 public:
  /// Recodes the low `bits` bits of k. On input: bits <= 32 kWords.
  template <class Scalar>
  MM_DEVICE NafDigits(const Scalar& k, unsigned bits, bool packed) : packed_(packed) {
    const unsigned words = packed ? (kMost * kWidth + 31) / 32 : kMost;
    MM_ROLLED
    for (unsigned j = 0; j < words; ++j) word_[j] = 0;
    const auto put = [this](unsigned i, std::int32_t digit) { set(i, digit); };
    recoding::signed_sliding_digits(windows::WordBits<Scalar>{k}, bits, kWidth, put);
  }

  /// Digit i, i <= the number of bits.
  [[nodiscard]] MM_DEVICE std::int32_t operator[](unsigned i) const {
    if (!packed_) return static_cast<std::int32_t>(word_[i]);
    const unsigned at = kWidth * i / 32, shift = kWidth * i % 32;
    std::uint32_t digit = word_[at] >> shift;
    if (shift + kWidth > 32) digit |= word_[at + 1] << (32 - shift);
    // The lowest kWidth bits with their sign.
    return static_cast<std::int32_t>(digit << (32 - kWidth)) >> (32 - kWidth);
  }

 private:
  bool packed_;
  std::uint32_t word_[kMost];

  /// On input: digit i is 0.
  MM_DEVICE void set(unsigned i, std::int32_t digit) {
    if (!packed_) {
      word_[i] = static_cast<std::uint32_t>(digit);
      return;
    }
    const std::uint32_t bits = static_cast<std::uint32_t>(digit) & ((1u << kWidth) - 1);
    const unsigned at = kWidth * i / 32, shift = kWidth * i % 32;
    word_[at] |= bits << shift;
    if (shift + kWidth > 32) word_[at + 1] |= bits >> (32 - shift);
  }
};

}  // namespace manymod::ecc::giorgi
