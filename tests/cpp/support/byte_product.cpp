// SPDX-License-Identifier: Apache-2.0
// Kernels on the host spend most of their time here, so this file is always optimised
// (cmake/ManymodTests.cmake).
#include "support/byte_product.hpp"

#include <cstring>

namespace manymod::test {

std::int32_t product_of_bytes(const std::uint32_t* const (&row)[4], const std::byte* column,
                              std::size_t step_bytes, unsigned steps) {
  std::uint32_t sum = 0;
  for (unsigned word = 0; word < 2 * steps; ++word) {
    const std::byte* const piece = column + word / 2 * step_bytes + word % 2 * 128;
    const std::uint32_t words[4] = {row[0][word], row[1][word], row[2][word], row[3][word]};
    std::uint8_t left[16];
    std::uint8_t right[16];
    std::memcpy(left, words, sizeof left);
    std::memcpy(right, piece, sizeof right);
    for (unsigned byte = 0; byte < 16; ++byte) sum += std::uint32_t{left[byte]} * right[byte];
  }
  return static_cast<std::int32_t>(sum);
}

}  // namespace manymod::test
