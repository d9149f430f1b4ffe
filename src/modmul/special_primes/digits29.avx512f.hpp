// SPDX-License-Identifier: Apache-2.0
// The vector operations of lane_arithmetic.hpp on AVX-512F: eight instances, digits of 29 bits. For
// *.avx512f.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "core/limb.hpp"

namespace manymod::special_primes {
namespace {

struct Digits29Avx512f {
  typedef Limb Vector __attribute__((vector_size(64), may_alias));
  static constexpr std::size_t kLanes = 8;
  static constexpr unsigned kDigitBits = 29;
  static constexpr bool kSplitProducts = false;
  /// Products of nine digits by nine, the shortest, take long enough for a call to cost little.
  static constexpr std::size_t kInlinedDigits = 0;

  __attribute__((always_inline)) static Vector low_product(Vector x, Vector y) {
    // The mask of all lanes: the unmasked form makes g++ 12 warn about an uninitialised value in its own
    // header.
    constexpr __mmask8 kAll = 0xff;
    return reinterpret_cast<Vector>(
        _mm512_maskz_mul_epu32(kAll, reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
  }
  __attribute__((always_inline)) static void multiply_add(Vector* column, Vector x, Vector y) {
    column[0] += low_product(x, y);
  }
};

}  // namespace
}  // namespace manymod::special_primes
