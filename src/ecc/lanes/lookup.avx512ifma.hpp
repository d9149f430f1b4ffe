// SPDX-License-Identifier: Apache-2.0
// Constant-time selection from a table shared by all lanes, on AVX-512 with words of 64 bits: two vectors of
// words are one permutation. For *.avx512ifma.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "core/limb.hpp"

namespace manymod::ecc::lanes {
namespace {

struct Lookup64 {
  typedef Limb Vector __attribute__((vector_size(64), may_alias));
  using Word = Limb;
  /// Bits of a window, 2^(kWidth - 1) entries.
  static constexpr unsigned kWidth = 7;
  static constexpr std::size_t kEntries = std::size_t{1} << (kWidth - 1);

  /// In each lane table[index], 0 <= index < kEntries, for a table that is aligned to 64.
  __attribute__((always_inline)) static Vector lookup(const Word* table, Vector index) {
    const auto at = reinterpret_cast<__m512i>(index);
    __m512i part[kEntries / 16];
    for (std::size_t i = 0; i < kEntries / 16; ++i) {
      part[i] = _mm512_permutex2var_epi64(_mm512_load_si512(table + 16 * i), at,
                                          _mm512_load_si512(table + 16 * i + 8));
    }
    for (std::size_t half = kEntries / 32; half > 0; half /= 2) {
      const __mmask8 upper = _mm512_test_epi64_mask(at, _mm512_set1_epi64(16 * static_cast<long long>(half)));
      for (std::size_t i = 0; i < half; ++i) part[i] = _mm512_mask_mov_epi64(part[i], upper, part[i + half]);
    }
    return reinterpret_cast<Vector>(part[0]);
  }
};

}  // namespace
}  // namespace manymod::ecc::lanes
