// SPDX-License-Identifier: Apache-2.0
// Constant-time selection from a table shared by all lanes, on AVX-512F with words of 32 bits: two vectors of
// words are one permutation. For *.avx512f.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"

namespace manymod::ecc::lanes {
namespace {

struct Lookup32Avx512f {
  typedef Limb Vector __attribute__((vector_size(64), may_alias));
  using Word = std::uint32_t;
  /// Bits of a window, 2^(kWidth - 1) entries.
  static constexpr unsigned kWidth = 7;
  static constexpr std::size_t kEntries = std::size_t{1} << (kWidth - 1);

  /// In each lane table[index], 0 <= index < kEntries, for a table that is aligned to 64.
  __attribute__((always_inline)) static Vector lookup(const Word* table, Vector index) {
    constexpr __mmask16 kLowerWords = 0x5555;
    static_assert(kEntries == 64);
    const auto at = reinterpret_cast<__m512i>(index);
    const __m512i lower = _mm512_maskz_permutex2var_epi32(kLowerWords, _mm512_load_si512(table), at,
                                                          _mm512_load_si512(table + 16));
    const __m512i upper = _mm512_maskz_permutex2var_epi32(kLowerWords, _mm512_load_si512(table + 32), at,
                                                          _mm512_load_si512(table + 48));
    const __mmask8 is_upper = _mm512_test_epi64_mask(at, _mm512_set1_epi64(32));
    return reinterpret_cast<Vector>(_mm512_mask_mov_epi64(lower, is_upper, upper));
  }
};

}  // namespace
}  // namespace manymod::ecc::lanes
