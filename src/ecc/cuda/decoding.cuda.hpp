// SPDX-License-Identifier: Apache-2.0
// Compressed points of Weierstrass curves (SEC 1, section 2.3.4), by one thread for each item. Public.
#pragma once

#include <cstdint>

#include "ecc/cuda/points.cuda.hpp"
#include "ecc/cuda/row_jobs.hpp"
#include "ecc/cuda/rows.cuda.hpp"

namespace manymod::ecc::cuda {

/// (p + 1) / 4, for p = 3 modulo 4.
template <class Prime>
struct RootExponent {
  static_assert(Prime::word(0) % 4 == 3);
  std::uint32_t words[Prime::kWords];

  MM_DEVICE static constexpr RootExponent make() {
    RootExponent r{};
    std::uint64_t carry = 1;
    for (unsigned j = 0; j < Prime::kWords; ++j) {
      carry += Prime::word(j);
      r.words[j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    for (unsigned j = 0; j < Prime::kWords; ++j) {
      r.words[j] = r.words[j] >> 2 | (j + 1 < Prime::kWords ? r.words[j + 1] << 30 : 0);
    }
    return r;
  }
};

/// r = a^((p+1)/4), a square root of a if there is one, by windows of four bits.
template <class C>
MM_DEVICE void square_root(typename C::Element& r, const typename C::Element& a) {
  constexpr unsigned kWidth = 4;
  constexpr RootExponent<typename C::Prime> kExponent = RootExponent<typename C::Prime>::make();
  const typename C::RareField f;
  typename C::Element table[1 << kWidth];
  f.one(table[0]);
  MM_ROLLED
  for (unsigned i = 1; i < 1U << kWidth; ++i) f.mul(table[i], table[i - 1], a);
  f.one(r);
  MM_UNROLL
  for (unsigned word = C::Prime::kWords; word > 0; --word) {
    std::uint32_t bits = kExponent.words[word - 1];
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

/// On input: item < job.count, strings of one byte more than a coordinate.
template <class C>
MM_DEVICE void decode_compressed(const DecodeJob& job, std::uint32_t item) {
  const typename C::Field f;
  const std::uint8_t* const bytes = job.from.at(item);
  std::uint32_t words[C::kRowWords];
  MM_UNROLL
  for (unsigned j = 0; j < C::kRowWords; ++j) words[j] = number_word(bytes + 1, job.from.size - 1, j, false);
  typename C::Element x, y, square, right;
  f.from_limbs(x, row_words<C::kWords>(words));
  y_squared<C>(right, x, job.curve);
  square_root<C>(y, right);
  f.sqr(square, y);
  const bool is_point = below_prime<C>(words) && f.equal(square, right) != 0;
  std::uint32_t* const row = job.y.at(item);
  f.to_limbs(row_out<C::kWords>(row), y);
  negate_where<C>(y, 0 - ((row[0] ^ bytes[0]) & 1));
  f.to_limbs(row_out<C::kWords>(row), y);
  f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
  if (!is_point || (bytes[0] & 0xfe) != 2) job.good[item] = 0;
}

}  // namespace manymod::ecc::cuda
