// SPDX-License-Identifier: Apache-2.0
// Compressed points of Weierstrass curves (SEC 1, section 2.3.4), by one thread for each item. Public.
#pragma once

#include <cstdint>

#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/cuda/rows.cuda.hpp"

namespace manymod::ecc::cuda {

/// floor((p + 1) / 4).
template <unsigned kWords>
struct RootExponent {
  std::uint32_t words[kWords];

  /// word(j): word j of p.
  template <class Word>
  MM_DEVICE static constexpr RootExponent make(const Word& word) {
    RootExponent r{};
    std::uint64_t carry = 1;
    for (unsigned j = 0; j < kWords; ++j) {
      carry += word(j);
      r.words[j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    for (unsigned j = 0; j < kWords; ++j) {
      const std::uint32_t above = j + 1 < kWords ? r.words[j + 1] : static_cast<std::uint32_t>(carry);
      r.words[j] = r.words[j] >> 2 | above << 30;
    }
    return r;
  }
};

/// r = a^exponent by windows of four bits: where p = 3 modulo 4, a square root of a if there is one.
template <class F, unsigned kWords>
MM_DEVICE void square_root(const F& f, typename F::Element& r, const typename F::Element& a,
                           const RootExponent<kWords>& exponent) {
  constexpr unsigned kWidth = 4;
  typename F::Element table[1 << kWidth];
  f.one(table[0]);
  MM_ROLLED
  for (unsigned i = 1; i < 1U << kWidth; ++i) f.mul(table[i], table[i - 1], a);
  f.one(r);
  MM_ROLLED
  for (unsigned word = kWords; word > 0; --word) {
    std::uint32_t bits = exponent.words[word - 1];
    MM_ROLLED
    for (unsigned left = 32 / kWidth; left > 0; --left) {
      MM_ROLLED
      for (unsigned i = 0; i < kWidth; ++i) f.sqr(r, r);
      const std::uint32_t digit = bits >> (32 - kWidth);
      bits <<= kWidth;
      if (digit != 0) f.mul(r, r, table[digit]);
    }
  }
}

/// Words of x from a string of `size` bytes for `coordinate` bytes of it. @return its tag: 2, that of an even
/// y, where there is none
template <unsigned kCount>
MM_DEVICE std::uint32_t compressed_words(std::uint32_t (&words)[kCount], const std::uint8_t* bytes,
                                         unsigned size, unsigned coordinate) {
  const unsigned tag_bytes = size - coordinate;
  MM_UNROLL
  for (unsigned j = 0; j < kCount; ++j) words[j] = number_word(bytes + tag_bytes, coordinate, j, false);
  return tag_bytes == 0 ? 2 : bytes[0];
}

/// On input: item < job.count, strings of a coordinate, or of one byte more.
template <class C>
MM_DEVICE void decode_compressed(const DecodeJob& job, std::uint32_t item) {
  const typename C::Field f;
  std::uint32_t words[C::kRowWords];
  const std::uint32_t tag = compressed_words(words, job.from.at(item), job.from.size, job.coordinate_bytes);
  typename C::Element x, y, square, right;
  f.from_limbs(x, row_words<C::kWords>(words));
  y_squared<C>(right, x, job.curve);
  static_assert(C::Prime::word(0) % 4 == 3);
  constexpr auto kExponent = RootExponent<C::kWords>::make(C::Prime::word);
  square_root(typename C::RareField(), y, right, kExponent);
  f.sqr(square, y);
  const bool is_point = below_prime<C>(words) && f.equal(square, right) != 0;
  std::uint32_t* const row = job.y.at(item);
  f.to_limbs(row_out<C::kWords>(row), y);
  negate_where<C>(y, 0 - ((row[0] ^ tag) & 1));
  f.to_limbs(row_out<C::kWords>(row), y);
  f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
  if (!is_point || (tag & 0xfe) != 2) job.good[item] = 0;
}

}  // namespace manymod::ecc::cuda
