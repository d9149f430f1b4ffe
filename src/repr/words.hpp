// SPDX-License-Identifier: Apache-2.0
// Little-endian arrays of 32-bit words: the operations from which the tables of residue number systems are
// built. All values are public.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace manymod::words {

/// x = x factor mod 2^(32 size), size = x.size(). @return floor(x factor / 2^(32 size)).
constexpr std::uint32_t multiply_by(std::span<std::uint32_t> x, std::uint32_t factor) {
  std::uint64_t carry = 0;
  for (std::uint32_t& word : x) {
    carry += std::uint64_t{word} * factor;
    word = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return static_cast<std::uint32_t>(carry);
}

/// The square of the product of `factors`, without leading zero words. On input: no factor is 0.
inline std::vector<std::uint32_t> squared_product(std::span<const std::uint32_t> factors) {
  std::vector<std::uint32_t> product{1};
  for (unsigned time = 0; time < 2; ++time) {
    for (const std::uint32_t factor : factors) {
      const std::uint32_t carry = multiply_by(product, factor);
      if (carry != 0) product.push_back(carry);
    }
  }
  return product;
}

}  // namespace manymod::words
