// SPDX-License-Identifier: Apache-2.0
// Vectors of eight words for division52 as pairs of vectors of AVX2. Included by kernels.avx2.cpp alone.
#pragma once

#include <immintrin.h>

#include <bit>

#include "modmul/division52/conversion.hpp"

namespace manymod::division52 {
namespace {

/// Lanes of one register.
constexpr std::size_t kHalf = 4;

/// Eight words.
struct Words {
  __m256i lower, upper;
};

inline __m256i half_at(const Limb* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
inline void set_half(Limb* p, __m256i v) { _mm256_store_si256(reinterpret_cast<__m256i*>(p), v); }

/// A mask of the lower `count` words.
inline __m256i lower_words(std::size_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(count)), _mm256_set_epi64x(3, 2, 1, 0));
}

/// Transposes 4 x 4 words.
inline void transpose(__m256i (&v)[kHalf]) {
  const __m256i even_low = _mm256_unpacklo_epi64(v[0], v[1]);
  const __m256i odd_low = _mm256_unpackhi_epi64(v[0], v[1]);
  const __m256i even_high = _mm256_unpacklo_epi64(v[2], v[3]);
  const __m256i odd_high = _mm256_unpackhi_epi64(v[2], v[3]);
  v[0] = _mm256_permute2x128_si256(even_low, even_high, 0x20);
  v[1] = _mm256_permute2x128_si256(odd_low, odd_high, 0x20);
  v[2] = _mm256_permute2x128_si256(even_low, even_high, 0x31);
  v[3] = _mm256_permute2x128_si256(odd_low, odd_high, 0x31);
}

/// Limbs from .. from + count, count <= 4, of four rows as words of `columns`.
[[gnu::always_inline]] inline void load_square(Limb* columns, const Limb* const* rows, std::size_t from,
                                               std::size_t count) {
  __m256i v[kHalf];
  for (std::size_t lane = 0; lane < kHalf; ++lane) {
    const Limb* row = rows[lane] + from;
    v[lane] = count == kHalf
                  ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row))
                  : _mm256_maskload_epi64(reinterpret_cast<const long long*>(row), lower_words(count));
  }
  transpose(v);
  for (std::size_t i = 0; i < count; ++i) set_half(columns + (from + i) * kLanes, v[i]);
}

/// The inverse, for the rows of the lanes in `lanes`.
[[gnu::always_inline]] inline void store_square(Limb* const* rows, const Limb* columns, std::size_t from,
                                                std::size_t count, unsigned lanes) {
  __m256i v[kHalf];
  for (std::size_t i = 0; i < kHalf; ++i) {
    v[i] = i < count ? half_at(columns + (from + i) * kLanes) : _mm256_setzero_si256();
  }
  transpose(v);
  for (std::size_t lane = 0; lane < kHalf; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    Limb* row = rows[lane] + from;
    if (count == kHalf) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(row), v[lane]);
    } else {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(row), lower_words(count), v[lane]);
    }
  }
}

/// Pairs of vectors, as conversion.hpp asks for them.
struct PairedWords {
  using Vector = Words;

  static Words load(const Limb* p) { return {half_at(p), half_at(p + kHalf)}; }
  static void store(Limb* p, Words v) {
    set_half(p, v.lower);
    set_half(p + kHalf, v.upper);
  }
  static Words zero() { return broadcast(0); }
  static Words broadcast(Limb value) {
    const __m256i v = _mm256_set1_epi64x(static_cast<long long>(value));
    return {v, v};
  }
  static Words add(Words a, Words b) {
    return {_mm256_add_epi64(a.lower, b.lower), _mm256_add_epi64(a.upper, b.upper)};
  }
  static Words subtract(Words a, Words b) {
    return {_mm256_sub_epi64(a.lower, b.lower), _mm256_sub_epi64(a.upper, b.upper)};
  }
  static Words both(Words a, Words b) {
    return {_mm256_and_si256(a.lower, b.lower), _mm256_and_si256(a.upper, b.upper)};
  }
  static Words either(Words a, Words b) {
    return {_mm256_or_si256(a.lower, b.lower), _mm256_or_si256(a.upper, b.upper)};
  }
  static Words shift_right(Words v, unsigned bits) {
    const auto count = static_cast<int>(bits);
    return {_mm256_srli_epi64(v.lower, count), _mm256_srli_epi64(v.upper, count)};
  }
  static Words shift_left(Words v, unsigned bits) {
    const auto count = static_cast<int>(bits);
    return {_mm256_slli_epi64(v.lower, count), _mm256_slli_epi64(v.upper, count)};
  }
  static Words shift_right(Words v, Words bits) {
    return {_mm256_srlv_epi64(v.lower, bits.lower), _mm256_srlv_epi64(v.upper, bits.upper)};
  }
  static Words shift_left(Words v, Words bits) {
    return {_mm256_sllv_epi64(v.lower, bits.lower), _mm256_sllv_epi64(v.upper, bits.upper)};
  }
  static bool any_at_least(Words a, Words b) {
    const __m256i below =
        _mm256_and_si256(_mm256_cmpgt_epi64(b.lower, a.lower), _mm256_cmpgt_epi64(b.upper, a.upper));
    return _mm256_movemask_epi8(below) != -1;
  }
  static std::uint8_t lanes_without(Words v, Limb bits) {
    const Words found = both(v, broadcast(bits));
    const auto zeros = [](__m256i half) {
      const __m256i equal = _mm256_cmpeq_epi64(half, _mm256_setzero_si256());
      return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
    };
    return static_cast<std::uint8_t>(zeros(found.lower) | zeros(found.upper) << kHalf);
  }
  static Words leading_zeros(Words v) {
    alignas(__m256i) Limb words[kLanes];
    store(words, v);
    for (Limb& word : words) word = static_cast<Limb>(std::countl_zero(word));
    return load(words);
  }

  template <class Width>
  static void load_rows(Limb* columns, const Limb* const* rows, Width row_width) {
    const std::size_t width = row_width;
    for (std::size_t half = 0; half < kLanes; half += kHalf) {
      std::size_t from = 0;
      for (; from + kHalf <= width; from += kHalf) load_square(columns + half, rows + half, from, kHalf);
      if (from < width) load_square(columns + half, rows + half, from, width - from);
    }
  }
  template <class Count>
  static void store_rows(Limb* const* rows, const Limb* columns, Count size, std::uint8_t lanes) {
    const std::size_t limbs = size;
    for (std::size_t half = 0; half < kLanes; half += kHalf) {
      const unsigned chosen = lanes >> half & 0xfU;
      std::size_t from = 0;
      for (; from + kHalf <= limbs; from += kHalf) {
        store_square(rows + half, columns + half, from, kHalf, chosen);
      }
      if (from < limbs) store_square(rows + half, columns + half, from, limbs - from, chosen);
    }
  }
};

}  // namespace
}  // namespace manymod::division52
