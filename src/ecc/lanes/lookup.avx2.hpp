// SPDX-License-Identifier: Apache-2.0
// Constant-time selection from a table shared by all lanes, on AVX2 with words of 32 bits: a vector of words
// is one permutation. For *.avx2.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"

namespace manymod::ecc::lanes {
namespace {

struct Lookup32Avx2 {
  typedef Limb Vector __attribute__((vector_size(32), may_alias));
  using Word = std::uint32_t;
  /// Bits of a window, 2^(kWidth - 1) entries.
  static constexpr unsigned kWidth = 6;
  static constexpr std::size_t kEntries = std::size_t{1} << (kWidth - 1);

  /// In each lane table[index], 0 <= index < kEntries, for a table that is aligned to 32.
  __attribute__((always_inline)) static Vector lookup(const Word* table, Vector index) {
    const auto at = reinterpret_cast<__m256i>(index);
    __m256i part[kEntries / 8];
    for (std::size_t i = 0; i < kEntries / 8; ++i) {
      part[i] =
          _mm256_permutevar8x32_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(table) + i), at);
    }
    for (std::size_t half = kEntries / 16; half > 0; half /= 2) {
      const auto bit = Vector{} + 8 * half;
      const auto upper = reinterpret_cast<__m256i>((index & bit) == bit);
      for (std::size_t i = 0; i < half; ++i) part[i] = _mm256_blendv_epi8(part[i], part[i + half], upper);
    }
    return reinterpret_cast<Vector>(part[0]) & 0xffffffff;
  }
};

}  // namespace
}  // namespace manymod::ecc::lanes
