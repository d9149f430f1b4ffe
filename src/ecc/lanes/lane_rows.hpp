// SPDX-License-Identifier: Apache-2.0
// Rows of words in memory, one for each lane and each at a place of its own, as vectors of the words with one
// index. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>

#include "arch/unaligned_vectors.hpp"
#include "core/limb.hpp"
#include "ecc/lanes/transposition.hpp"

namespace manymod::ecc::lanes {

/// Rows of kWords words, and some unused ones. `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <class Arch, std::size_t kWords>
class LaneRows {
  using Vector = typename Arch::Vector;
  using Vectors = UnalignedVectors<Arch>;
  static constexpr std::size_t kLanes = Arch::kLanes;

 public:
  static constexpr std::size_t kRowWords = (kWords + kLanes - 1) / kLanes * kLanes;

  /// take(word, vector) for each word of the rows at row(lane).
  template <class Row, class Take>
  static void load(const Row& row, const Take& take) {
    for (std::size_t first = 0; first < kRowWords; first += kLanes) {
      Vector m[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) m[lane] = Vectors::load(row(lane) + first, 0);
      transpose<kLanes>(m);
      for (std::size_t i = 0; i < kLanes; ++i) {
        if (first + i < kWords) take(first + i, m[i]);
      }
    }
  }
  /// Stores give(word) for each word to the rows at row(lane).
  template <class Row, class Give>
  static void store(const Row& row, const Give& give) {
    for (std::size_t first = 0; first < kRowWords; first += kLanes) {
      Vector m[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) m[i] = first + i < kWords ? give(first + i) : Vector{};
      transpose<kLanes>(m);
      for (std::size_t lane = 0; lane < kLanes; ++lane) Vectors::store(row(lane) + first, 0, m[lane]);
    }
  }
};

}  // namespace manymod::ecc::lanes
