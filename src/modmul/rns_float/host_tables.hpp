// SPDX-License-Identifier: Apache-2.0
// What the host uploads for a kernel: its tables and M_B^2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "modmul/rns_float/constants.cuda.hpp"
#include "repr/words.hpp"

namespace manymod::rns_float {

/// The tables that a kernel of `Multiplier` with kThreads threads and kPerThread channels each reads from
/// memory; empty if its tables are compiled in.
template <class Multiplier, unsigned kThreads, unsigned kPerThread>
std::vector<std::byte> table_bytes() {
  if constexpr (Multiplier::kTablesFromMemory) {
    const auto& table = host_table<typename Multiplier::KindOfShape, typename Multiplier::BasesOfShape,
                                   kThreads, kPerThread>();
    std::vector<std::byte> bytes(sizeof table.words);
    std::memcpy(bytes.data(), table.words, sizeof table.words);
    return bytes;
  } else {
    return {};
  }
}

/// M_B^2 in little-endian words.
template <class Bases>
std::vector<std::uint32_t> squared_radix() {
  return words::squared_product(Bases::kB);
}

}  // namespace manymod::rns_float
