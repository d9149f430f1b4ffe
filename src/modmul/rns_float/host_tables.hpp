// SPDX-License-Identifier: Apache-2.0
// What the host brings to a device for a kernel: its tables and M_B^2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "modmul/rns_float/constants.cuda.hpp"

namespace manymod::rns_float {

template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
std::vector<std::byte> table_bytes() {
  const auto& table = host_table<Kind, Bases, kThreads, kPerThread>();
  std::vector<std::byte> bytes(sizeof table);
  std::memcpy(bytes.data(), table.words, sizeof table.words);
  return bytes;
}

/// Little-endian words of M_B^2.
template <class Bases>
std::vector<std::uint32_t> squared_radix() {
  std::vector<std::uint32_t> product{1};
  for (unsigned i = 0; i < 2 * Bases::kChannels; ++i) {
    std::uint64_t carry = 0;
    for (std::uint32_t& word : product) {
      carry += std::uint64_t{word} * Bases::kB[i % Bases::kChannels];
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) product.push_back(static_cast<std::uint32_t>(carry));
  }
  return product;
}

}  // namespace manymod::rns_float
