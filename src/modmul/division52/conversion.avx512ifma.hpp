// SPDX-License-Identifier: Apache-2.0
// Eight numbers of 64-bit limbs as vectors of limbs, one number a lane, and as digits of 52 bits.
// `Count`: a number of limbs, at compile time for short numbers. Included by kernels.avx512ifma.cpp alone.
#pragma once

#include "arch/avx512ifma/vector.hpp"
#include "modmul/division52/kernels.hpp"

namespace manymod::division52 {
namespace {

using avx512ifma::broadcast;
using avx512ifma::Vector;
using avx512ifma::zero;

constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;

inline Vector vector_at(const Limb* p) { return _mm512_load_si512(p); }
inline void set_vector(Limb* p, Vector v) { _mm512_store_si512(p, v); }
inline Vector shift_right(Vector v, unsigned bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(v) >> bits);
}
inline Vector shift_left(Vector v, unsigned bits) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(v) << bits);
}
inline Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
inline Vector digit_of(Vector v) { return _mm512_and_si512(v, broadcast(kDigitMask)); }

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

/// Shifts by a number of bits for each lane; 0 where it is 64.
inline Vector shift_left(Vector v, Vector bits) { return _mm512_maskz_sllv_epi64(0xff, v, bits); }
inline Vector shift_right(Vector v, Vector bits) { return _mm512_maskz_srlv_epi64(0xff, v, bits); }

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
  for (std::size_t i = 0; i < count; ++i) set_vector(columns + (from + i) * kLanes, all[i]);
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

/// columns: `limbs` vectors, of which rows of `width` <= limbs limbs fill the lower ones.
template <class Width, class Count>
inline void load_rows(Limb* columns, const Limb* const* rows, Width row_width, Count size) {
  const std::size_t width = row_width;
  const std::size_t limbs = size;
  std::size_t from = 0;
  for (; from + 4 < width; from += 8) load_eight(columns, rows, from, width - from < 8 ? width - from : 8);
  if (from < width) load_four(columns, rows, from, width - from);
  for (std::size_t i = width; i < limbs; ++i) set_vector(columns + i * kLanes, zero());
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
      _mm256_mask_storeu_epi64(rows[at] + from, lower_words(count), row);
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

template <class Count>
inline void store_rows(Limb* const* rows, const Limb* columns, Count size, std::uint8_t lanes) {
  const std::size_t limbs = size;
  std::size_t from = 0;
  for (; from + 4 < limbs; from += 8) {
    store_eight(rows, columns, from, limbs - from < 8 ? limbs - from : 8, lanes);
  }
  if (from < limbs) store_four(rows, columns, from, limbs - from, lanes);
}

/// Shifts vectors of limbs to the left by shift[lane] < 64 bits; @return the bits shifted out of the top.
template <class Count>
inline Vector normalise(Limb* columns, Count size, Vector shift) {
  const std::size_t limbs = size;
  const Vector back = _mm512_sub_epi64(broadcast(kLimbBits), shift);
  Vector out = zero();
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const Vector limb = vector_at(columns + i * kLanes);
    set_vector(columns + i * kLanes, either(shift_left(limb, shift), out));
    out = shift_right(limb, back);
  }
  return out;
}

/// The inverse: shifts to the right.
template <class Count>
inline void denormalise(Limb* columns, Count size, Vector shift) {
  const std::size_t limbs = size;
  const Vector back = _mm512_sub_epi64(broadcast(kLimbBits), shift);
  Vector limb = vector_at(columns);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const Vector above = i + 1 < limbs ? vector_at(columns + (i + 1) * kLanes) : zero();
    set_vector(columns + i * kLanes, either(shift_right(limb, shift), shift_left(above, back)));
    limb = above;
  }
}

/// digits = the numbers times 2^offset, offset <= 52, in digits_for(limbs) digits.
template <class Count>
inline void to_digits(Limb* digits, const Limb* columns, Count size, unsigned offset) {
  const std::size_t limbs = size;
  const std::size_t count = digits_for(limbs);
  set_vector(digits, digit_of(shift_left(vector_at(columns), offset)));
#pragma GCC unroll 20
  for (std::size_t d = 1; d < count; ++d) {
    const std::size_t position = d * kDigitBits - offset;
    const std::size_t i = position / kLimbBits;
    const auto shift = static_cast<unsigned>(position % kLimbBits);
    Vector digit = i < limbs ? shift_right(vector_at(columns + i * kLanes), shift) : zero();
    if (shift + kDigitBits > kLimbBits && i + 1 < limbs) {
      digit = either(digit, shift_left(vector_at(columns + (i + 1) * kLanes), kLimbBits - shift));
    }
    set_vector(digits + d * kLanes, digit_of(digit));
  }
}

/// The inverse. On input: exact digits.
template <class Count>
inline void from_digits(Limb* columns, const Limb* digits, Count size, unsigned offset) {
  const std::size_t limbs = size;
  const std::size_t count = digits_for(limbs);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < limbs; ++i) {
    const std::size_t position = i * kLimbBits + offset;
    const std::size_t d = position / kDigitBits;
    const auto shift = static_cast<unsigned>(position % kDigitBits);
    Vector limb = shift_right(vector_at(digits + d * kLanes), shift);
    if (d + 1 < count)
      limb = either(limb, shift_left(vector_at(digits + (d + 1) * kLanes), kDigitBits - shift));
    if (2 * kDigitBits - shift < kLimbBits && d + 2 < count) {
      limb = either(limb, shift_left(vector_at(digits + (d + 2) * kLanes), 2 * kDigitBits - shift));
    }
    set_vector(columns + i * kLanes, limb);
  }
}

/// The bits between the top of a number of `limbs` limbs and the top of its digits, 1 to 52.
constexpr unsigned spare_bits(std::size_t limbs) {
  return static_cast<unsigned>(digits_for(limbs) * kDigitBits - limbs * kLimbBits);
}

}  // namespace
}  // namespace manymod::division52
