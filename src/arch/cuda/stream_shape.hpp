// SPDX-License-Identifier: Apache-2.0
// How matrices of bytes are cut for their way through a ring of buffers in shared memory
// (streamed_products.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::cuda {

/// A step's fours in as few pieces as there can be of at most `most` fours. Sizes differ by one at most.
struct Pieces {
  unsigned fours = 0;
  unsigned most = 1;

  [[nodiscard]] constexpr unsigned count() const { return (fours + most - 1) / most; }
  /// The first four of piece p, which for p = count() is `fours`.
  [[nodiscard]] constexpr unsigned first(unsigned piece) const {
    return (piece * fours + count() - 1) / count();
  }
  [[nodiscard]] constexpr unsigned size(unsigned piece) const { return first(piece + 1) - first(piece); }
};

/// A sequence of kMatrices equal matrices that follow each other, of kSteps steps. A piece's bytes are
/// neighbours, step by step.
template <unsigned kMatrices, unsigned kSteps, Pieces kCut>
struct StreamShape {
  static constexpr unsigned kPiecesOfOne = kCut.count();
  static constexpr unsigned kPieces = kMatrices * kPiecesOfOne;
  static constexpr unsigned kBufferBytes = kSteps * kCut.most * 512;
  static constexpr unsigned kMatrixBytes = kSteps * kCut.fours * 512;

  /// Of piece p: its first four within its matrix, how many it has, and where it stands in the sequence.
  static constexpr unsigned first(unsigned piece) { return kCut.first(piece % kPiecesOfOne); }
  static constexpr unsigned fours(unsigned piece) { return kCut.size(piece % kPiecesOfOne); }
  static constexpr unsigned bytes(unsigned piece) { return kSteps * fours(piece) * 512; }
  static constexpr std::size_t begin(unsigned piece) {
    return std::size_t{piece / kPiecesOfOne} * kMatrixBytes + std::size_t{kSteps} * first(piece) * 512;
  }
};

/// Where a ring lies in shared memory: buffers aligned to 16 bytes, then the barriers.
template <class Shape, unsigned kRingStages>
struct StreamLayout {
  static constexpr unsigned kStages = kRingStages;
  /// Pieces that warps may be apart.
  static constexpr unsigned kLag = kStages / 2;
  static_assert(kStages >= 2 && Shape::kPieces % kStages == 0, "each piece has a buffer of its own");
  static constexpr std::size_t kBarriersAt = std::size_t{kStages} * Shape::kBufferBytes;
  static constexpr std::size_t kBytes = kBarriersAt + 2 * kStages * sizeof(std::uint64_t);
};

}  // namespace manymod::cuda
