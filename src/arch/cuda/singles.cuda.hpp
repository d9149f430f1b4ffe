// SPDX-License-Identifier: Apache-2.0
// binary32 operations, each rounded once to nearest, which no compiler contracts or reorders.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// a b, rounded.
MM_DEVICE float multiply(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// a + b, rounded.
MM_DEVICE float add(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

/// a - b, rounded.
MM_DEVICE float subtract(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fsub_rn(a, b);
#else
  return a - b;
#endif
}

/// a b + c, rounded once.
MM_DEVICE float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// The bit pattern of x.
MM_DEVICE std::uint32_t pattern(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

/// The binary32 number with this bit pattern.
MM_DEVICE float single_from_pattern(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// x as a binary32 number. On input: x < 2^23, so that x is the low bits of the pattern of 2^23 + x.
MM_DEVICE float single_of(std::uint32_t x) { return subtract(single_from_pattern(x | 0x4b000000u), 0x1p23F); }
/// x as an integer. On input: x is an integer, abs(x) <= 2^24.
MM_DEVICE std::int32_t integer_of(float x) { return static_cast<std::int32_t>(x); }

/// Consecutive numbers in read-only memory.
template <unsigned kCount>
struct Singles {
  static_assert(kCount == 2 || kCount == 4);
  float word[kCount];
};
/// Loads kCount numbers through the read-only cache. On input: `words` is aligned to 4 kCount bytes; no
/// kernel in flight writes to them.
template <unsigned kCount>
MM_DEVICE Singles<kCount> load_singles(const float* words) {
#if defined(__CUDA_ARCH__)
  if constexpr (kCount == 4) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(words));
    return {{four.x, four.y, four.z, four.w}};
  } else {
    const float2 two = __ldg(reinterpret_cast<const float2*>(words));
    return {{two.x, two.y}};
  }
#else
  Singles<kCount> some;
  for (unsigned i = 0; i < kCount; ++i) some.word[i] = words[i];
  return some;
#endif
}
/// Loads one number through the read-only cache.
MM_DEVICE float load_one(const float* word) {
#if defined(__CUDA_ARCH__)
  return __ldg(word);
#else
  return *word;
#endif
}

}  // namespace manymod::cuda
