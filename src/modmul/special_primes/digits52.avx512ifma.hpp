// SPDX-License-Identifier: Apache-2.0
// The vector operations of lane_arithmetic.hpp on AVX-512 IFMA: eight instances, digits of 52 bits. For
// *.avx512ifma.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "core/limb.hpp"

namespace manymod::special_primes {
namespace {

struct Digits52Avx512Ifma {
  typedef Limb Vector __attribute__((vector_size(64), may_alias));
  static constexpr std::size_t kLanes = 8;
  static constexpr unsigned kDigitBits = 52;
  static constexpr bool kSplitProducts = true;
  /// The columns of five digits by five, and one factor, stay in registers.
  static constexpr std::size_t kInlinedDigits = 5;

  __attribute__((always_inline)) static void multiply_add(Vector* column, Vector x, Vector y) {
    const auto a = reinterpret_cast<__m512i>(x), b = reinterpret_cast<__m512i>(y);
    column[0] = reinterpret_cast<Vector>(_mm512_madd52lo_epu64(reinterpret_cast<__m512i>(column[0]), a, b));
    column[1] = reinterpret_cast<Vector>(_mm512_madd52hi_epu64(reinterpret_cast<__m512i>(column[1]), a, b));
  }
  __attribute__((always_inline)) static void multiply_add_low(Vector& sum, Vector x, Vector y) {
    sum = reinterpret_cast<Vector>(_mm512_madd52lo_epu64(
        reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
  }
  /// sum += x y / 2^52 of the low 52 bits of x and y.
  __attribute__((always_inline)) static void multiply_add_high(Vector& sum, Vector x, Vector y) {
    sum = reinterpret_cast<Vector>(_mm512_madd52hi_epu64(
        reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
  }
  /// The low 64 bits of x y.
  __attribute__((always_inline)) static Vector product(Vector x, Vector y) {
    return reinterpret_cast<Vector>(
        _mm512_mullo_epi64(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
  }
  __attribute__((always_inline)) static Vector low_product(Vector x, Vector y) {
    Vector r{};
    multiply_add_low(r, x, y);
    return r;
  }
};

}  // namespace
}  // namespace manymod::special_primes
