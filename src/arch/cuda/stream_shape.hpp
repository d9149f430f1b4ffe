// SPDX-License-Identifier: Apache-2.0
// How matrices of bytes are cut for their way through a ring of buffers in shared memory
// (streamed_products.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::cuda {

/// Pieces of a sequence of kMatrices equal matrices that follow each other: kSteps steps by kStepFours fours,
/// in pieces of kPieceFours (the last one of what is left). A piece's bytes are neighbours, step by step.
template <unsigned kMatrices, unsigned kSteps, unsigned kStepFours, unsigned kPieceFours>
struct StreamShape {
  static constexpr unsigned kPiecesOfOne = (kStepFours + kPieceFours - 1) / kPieceFours;
  static constexpr unsigned kPieces = kMatrices * kPiecesOfOne;
  static constexpr unsigned kBufferBytes = kSteps * kPieceFours * 512;
  static constexpr unsigned kMatrixBytes = kSteps * kStepFours * 512;

  /// Of piece p: its first four within its matrix, how many it has, and where it stands in the sequence.
  static constexpr unsigned first(unsigned piece) { return piece % kPiecesOfOne * kPieceFours; }
  static constexpr unsigned fours(unsigned piece) {
    return kStepFours - first(piece) < kPieceFours ? kStepFours - first(piece) : kPieceFours;
  }
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
