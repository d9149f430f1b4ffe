// SPDX-License-Identifier: Apache-2.0
// How matrices of bytes are cut into tiles that stream through a ring of buffers in shared memory
// (streamed_products.cuda.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::cuda {

/// The column quads of a matrix (byte_products.cuda.hpp) in as few tiles as possible of at most max_quads
/// each. Sizes of tiles differ by at most one.
struct Tiles {
  unsigned quads = 0;
  unsigned max_quads = 1;

  /// The number of tiles.
  [[nodiscard]] constexpr unsigned count() const { return (quads + max_quads - 1) / max_quads; }
  /// The first column quad of a tile; for tile = count() it is `quads`.
  [[nodiscard]] constexpr unsigned first(unsigned tile) const {
    return (tile * quads + count() - 1) / count();
  }
  [[nodiscard]] constexpr unsigned size(unsigned tile) const { return first(tile + 1) - first(tile); }
};

/// A sequence of kMatrices matrices of equal shape, kSteps steps each, one after the other. The bytes of a
/// tile are contiguous, step by step.
template <unsigned kMatrices, unsigned kSteps, Tiles kTiling>
struct StreamShape {
  static constexpr unsigned kTilesPerMatrix = kTiling.count();
  static constexpr unsigned kTiles = kMatrices * kTilesPerMatrix;
  static constexpr unsigned kBufferBytes = kSteps * kTiling.max_quads * 512;
  static constexpr unsigned kMatrixBytes = kSteps * kTiling.quads * 512;

  /// For a tile of the sequence: its first column quad within its matrix, its number of column quads, its
  /// bytes, and its offset in the sequence.
  static constexpr unsigned first(unsigned tile) { return kTiling.first(tile % kTilesPerMatrix); }
  static constexpr unsigned quads(unsigned tile) { return kTiling.size(tile % kTilesPerMatrix); }
  static constexpr unsigned bytes(unsigned tile) { return kSteps * quads(tile) * 512; }
  static constexpr std::size_t begin(unsigned tile) {
    return std::size_t{tile / kTilesPerMatrix} * kMatrixBytes + std::size_t{kSteps} * first(tile) * 512;
  }
};

/// The layout of a ring in shared memory: buffers aligned to 16 bytes, then the barriers.
template <class Shape, unsigned kRingStages>
struct StreamLayout {
  static constexpr unsigned kStages = kRingStages;
  /// The number of tiles by which the warps of a block may be apart.
  static constexpr unsigned kLag = kStages / 2;
  static_assert(kStages >= 2 && Shape::kTiles % kStages == 0, "each tile has a fixed buffer");
  static constexpr std::size_t kBarriersAt = std::size_t{kStages} * Shape::kBufferBytes;
  static constexpr std::size_t kBytes = kBarriersAt + 2 * kStages * sizeof(std::uint64_t);
};

}  // namespace manymod::cuda
