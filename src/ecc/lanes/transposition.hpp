// SPDX-License-Identifier: Apache-2.0
// Rows of words in memory to the lanes of vectors and back: that costs less than gathers and scatters of
// single words. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>

namespace manymod::ecc::lanes {

/// r = the transposed matrix of the lanes of kLanes vectors, 4 or 8.
template <std::size_t kLanes, class Vector>
inline __attribute__((always_inline)) void transpose(Vector (&m)[kLanes]) {
  const auto exchange = [&m](std::size_t distance, const auto& low, const auto& high) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if ((i & distance) != 0) continue;
      const Vector a = m[i], b = m[i + distance];
      m[i] = low(a, b);
      m[i + distance] = high(a, b);
    }
  };
  if constexpr (kLanes == 8) {
    exchange(
        1, [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14); },
        [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15); });
    exchange(
        2, [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13); },
        [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15); });
    exchange(
        4, [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); },
        [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15); });
  } else {
    static_assert(kLanes == 4);
    exchange(
        1, [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 4, 2, 6); },
        [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 1, 5, 3, 7); });
    exchange(
        2, [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); },
        [](Vector a, Vector b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); });
  }
}

}  // namespace manymod::ecc::lanes
