// SPDX-License-Identifier: Apache-2.0
// How matrices of bytes are cut for their way through a ring of buffers in shared memory
// (streamed_products.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::cuda {

/// A step's fours in as few pieces as there can be of at most `most` fours. Sizes differ by one at most.
struct Tiles {
  unsigned quads = 0;
  unsigned max_quads = 1;

  [[nodiscard]] constexpr unsigned count() const { return (quads + max_quads - 1) / max_quads; }
  /// The first four of piece p, which for p = count() is `fours`.
  [[nodiscard]] constexpr unsigned first(unsigned tile) const {
    return (tile * quads + count() - 1) / count();
  }
  [[nodiscard]] constexpr unsigned size(unsigned tile) const { return first(tile + 1) - first(tile); }
};

/// A sequence of kMatrices equal matrices that follow each other, of kSteps steps. A piece's bytes are
/// neighbours, step by step.
template <unsigned kMatrices, unsigned kSteps, Tiles kTiling>
struct StreamShape {
  static constexpr unsigned kTilesPerMatrix = kTiling.count();
  static constexpr unsigned kTiles = kMatrices * kTilesPerMatrix;
  static constexpr unsigned kBufferBytes = kSteps * kTiling.max_quads * 512;
  static constexpr unsigned kMatrixBytes = kSteps * kTiling.quads * 512;

  /// Of piece p: its first four within its matrix, how many it has, and where it stands in the sequence.
  static constexpr unsigned first(unsigned tile) { return kTiling.first(tile % kTilesPerMatrix); }
  static constexpr unsigned quads(unsigned tile) { return kTiling.size(tile % kTilesPerMatrix); }
  static constexpr unsigned bytes(unsigned tile) { return kSteps * quads(tile) * 512; }
  static constexpr std::size_t begin(unsigned tile) {
    return std::size_t{tile / kTilesPerMatrix} * kMatrixBytes + std::size_t{kSteps} * first(tile) * 512;
  }
};

/// Where a ring lies in shared memory: buffers aligned to 16 bytes, then the barriers.
template <class Shape, unsigned kRingStages>
struct StreamLayout {
  static constexpr unsigned kStages = kRingStages;
  /// Pieces that warps may be apart.
  static constexpr unsigned kLag = kStages / 2;
  static_assert(kStages >= 2 && Shape::kTiles % kStages == 0, "each piece has a buffer of its own");
  static constexpr std::size_t kBarriersAt = std::size_t{kStages} * Shape::kBufferBytes;
  static constexpr std::size_t kBytes = kBarriersAt + 2 * kStages * sizeof(std::uint64_t);
};

}  // namespace manymod::cuda
