// SPDX-License-Identifier: Apache-2.0
// Vectors of eight words for division52 by AVX-512. Included by kernels.avx512ifma.cpp alone.
#pragma once

#include "arch/avx512ifma/vector.hpp"
#include "modmul/division52/conversion.hpp"

namespace manymod::division52 {
namespace {

using avx512ifma::broadcast;
using avx512ifma::Vector;
using avx512ifma::zero;

inline Vector vector_at(const Limb* p) { return _mm512_load_si512(p); }
inline void set_vector(Limb* p, Vector v) { _mm512_store_si512(p, v); }

// Shuffles by the compiler's own operation: GCC 12 warns of what some intrinsics leave undefined.
template <int... words>
inline Vector shuffled(Vector a, Vector b) {
  return reinterpret_cast<Vector>(
      __builtin_shufflevector(reinterpret_cast<__v8di>(a), reinterpret_cast<__v8di>(b), words...));
}
/// Words 0, 2, .. (1, 3, ..) of a, each followed by that of b.
inline Vector even_words(Vector a, Vector b) { return shuffled<0, 8, 2, 10, 4, 12, 6, 14>(a, b); }
inline Vector odd_words(Vector a, Vector b) { return shuffled<1, 9, 3, 11, 5, 13, 7, 15>(a, b); }
/// Pairs of words 0 and 2 (1 and 3) of a, then of b.
inline Vector even_pairs(Vector a, Vector b) { return shuffled<0, 1, 4, 5, 8, 9, 12, 13>(a, b); }
inline Vector odd_pairs(Vector a, Vector b) { return shuffled<2, 3, 6, 7, 10, 11, 14, 15>(a, b); }

/// Transposes 8 x 8 words.
inline void transpose(Vector (&v)[8]) {
  Vector pairs[8];
  for (std::size_t i = 0; i < 4; ++i) {
    pairs[i] = even_words(v[2 * i], v[2 * i + 1]);
    pairs[i + 4] = odd_words(v[2 * i], v[2 * i + 1]);
  }
  for (std::size_t odd = 0; odd < 2; ++odd) {
    const Vector* p = &pairs[4 * odd];
    const Vector even_low = even_pairs(p[0], p[1]);
    const Vector even_high = even_pairs(p[2], p[3]);
    const Vector odd_low = odd_pairs(p[0], p[1]);
    const Vector odd_high = odd_pairs(p[2], p[3]);
    v[odd] = even_pairs(even_low, even_high);
    v[odd + 4] = odd_pairs(even_low, even_high);
    v[odd + 2] = even_pairs(odd_low, odd_high);
    v[odd + 6] = odd_pairs(odd_low, odd_high);
  }
}

/// A mask of the lower `count` words.
inline __mmask8 lower_words(std::size_t count) { return static_cast<__mmask8>((1U << count) - 1); }

/// Up to four limbs of each row as vectors, in half the instructions that eight take.
[[gnu::always_inline]] inline void load_four(Limb* columns, const Limb* const* rows, std::size_t from,
                                             std::size_t count) {
  const auto row = [&](std::size_t lane) {
    return _mm256_maskz_loadu_epi64(lower_words(count), rows[lane] + from);
  };
  const auto two = [&](std::size_t lane) {
    return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(row(lane)), row(lane + 2), 1);
  };
  const Vector a = two(0);
  const Vector b = two(1);
  const Vector c = two(4);
  const Vector d = two(5);
  const Vector even_low = even_words(a, b);
  const Vector odd_low = odd_words(a, b);
  const Vector even_high = even_words(c, d);
  const Vector odd_high = odd_words(c, d);
  const Vector all[4] = {even_pairs(even_low, even_high), even_pairs(odd_low, odd_high),
                         odd_pairs(even_low, even_high), odd_pairs(odd_low, odd_high)};
  // GCC 13 does not see that count <= 4.
  for (std::size_t i = 0; i < 4; ++i) {
    if (i < count) set_vector(columns + (from + i) * kLanes, all[i]);
  }
}

[[gnu::always_inline]] inline void load_eight(Limb* columns, const Limb* const* rows, std::size_t from,
                                              std::size_t count) {
  Vector v[8];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    v[lane] = _mm512_maskz_loadu_epi64(lower_words(count), rows[lane] + from);
  }
  transpose(v);
  for (std::size_t i = 0; i < count; ++i) set_vector(columns + (from + i) * kLanes, v[i]);
}

/// Stores the lower `count` < 4 words of a row. What lies behind them may be an inaccessible page, which
/// vmovdqu64 does not touch. GCC 12 would make the extraction of the row and this store a single masked
/// vextracti64x4, which faults there, since that instruction (exception type E6NF in Intel's manual)
/// suppresses no faults of words that its mask excludes. The empty statement, which might change the row,
/// keeps them apart.
[[gnu::always_inline]] inline void store_words(Limb* to, __m256i row, std::size_t count) {
  __asm__("" : "+v"(row));
  _mm256_mask_storeu_epi64(to, lower_words(count), row);
}

/// The inverses, for the rows of the lanes in `lanes`. Whole vectors are stored without a mask: masked stores
/// are slow on AMD's cores.
[[gnu::always_inline]] inline void store_four(Limb* const* rows, const Limb* columns, std::size_t from,
                                              std::size_t count, std::uint8_t lanes) {
  Vector column[4];
  for (std::size_t i = 0; i < 4; ++i) {
    column[i] = i < count ? vector_at(columns + (from + i) * kLanes) : zero();
  }
  const auto store_two = [&](std::size_t lane, Vector v) {
    const auto store_row = [&](std::size_t at, __m256i row) {
      if ((lanes >> at & 1) == 0) return;
      if (count == 4) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows[at] + from), row);
      store_words(rows[at] + from, row, count);
    };
    store_row(lane, _mm512_maskz_extracti64x4_epi64(0xff, v, 0));
    store_row(lane + 2, _mm512_maskz_extracti64x4_epi64(0xff, v, 1));
  };
  const Vector even_low = even_words(column[0], column[1]);
  const Vector even_high = even_words(column[2], column[3]);
  const Vector odd_low = odd_words(column[0], column[1]);
  const Vector odd_high = odd_words(column[2], column[3]);
  store_two(0, shuffled<0, 1, 8, 9, 2, 3, 10, 11>(even_low, even_high));
  store_two(1, shuffled<0, 1, 8, 9, 2, 3, 10, 11>(odd_low, odd_high));
  store_two(4, shuffled<4, 5, 12, 13, 6, 7, 14, 15>(even_low, even_high));
  store_two(5, shuffled<4, 5, 12, 13, 6, 7, 14, 15>(odd_low, odd_high));
}

[[gnu::always_inline]] inline void store_eight(Limb* const* rows, const Limb* columns, std::size_t from,
                                               std::size_t count, std::uint8_t lanes) {
  Vector v[8];
  for (std::size_t i = 0; i < 8; ++i) v[i] = i < count ? vector_at(columns + (from + i) * kLanes) : zero();
  transpose(v);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if (count == 8) {
      _mm512_storeu_si512(rows[lane] + from, v[lane]);
    } else {
      _mm512_mask_storeu_epi64(rows[lane] + from, lower_words(count), v[lane]);
    }
  }
}

/// Vectors of eight words, as conversion.hpp asks for them.
struct Avx512Words {
  using Vector = avx512ifma::Vector;

  static Vector load(const Limb* p) { return vector_at(p); }
  static void store(Limb* p, Vector v) { set_vector(p, v); }
  static Vector zero() { return avx512ifma::zero(); }
  static Vector broadcast(Limb value) { return avx512ifma::broadcast(value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm512_sub_epi64(a, b); }
  static Vector both(Vector a, Vector b) { return _mm512_and_si512(a, b); }
  static Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
  static Vector shift_right(Vector v, unsigned bits) {
    return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(v) >> bits);
  }
  static Vector shift_left(Vector v, unsigned bits) {
    return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(v) << bits);
  }
  static Vector shift_right(Vector v, Vector bits) { return _mm512_maskz_srlv_epi64(0xff, v, bits); }
  static Vector shift_left(Vector v, Vector bits) { return _mm512_maskz_sllv_epi64(0xff, v, bits); }
  static bool any_at_least(Vector a, Vector b) { return _mm512_cmpge_epu64_mask(a, b) != 0; }
  static std::uint8_t lanes_without(Vector v, Limb bits) {
    return _mm512_testn_epi64_mask(v, broadcast(bits));
  }

  static Vector leading_zeros(Vector v) {
    // The exponent of a double. Without the bit below the highest, rounding does not reach the next power
    // of 2.
    constexpr unsigned kFractionBits = 52;
    constexpr Limb kExponentOfTopBit = 1023 + 63;
    const Vector without_next = _mm512_and_si512(v, _mm512_xor_si512(shift_right(v, 1), broadcast(~Limb{0})));
    const __m512d rounded = _mm512_maskz_cvtepu64_pd(0xff, without_next);
    const Vector exponent = shift_right(reinterpret_cast<Vector>(rounded), kFractionBits);
    return _mm512_sub_epi64(broadcast(kExponentOfTopBit), exponent);
  }

  template <class Width>
  static void load_rows(Limb* columns, const Limb* const* rows, Width row_width) {
    const std::size_t width = row_width;
    std::size_t from = 0;
    for (; from + 4 < width; from += 8) load_eight(columns, rows, from, width - from < 8 ? width - from : 8);
    if (from < width) load_four(columns, rows, from, width - from);
  }
  template <class Count>
  static void store_rows(Limb* const* rows, const Limb* columns, Count size, std::uint8_t lanes) {
    const std::size_t limbs = size;
    std::size_t from = 0;
    for (; from + 4 < limbs; from += 8) {
      store_eight(rows, columns, from, limbs - from < 8 ? limbs - from : 8, lanes);
    }
    if (from < limbs) store_four(rows, columns, from, limbs - from, lanes);
  }
};

}  // namespace
}  // namespace manymod::division52
