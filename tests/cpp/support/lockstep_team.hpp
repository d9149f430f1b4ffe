// SPDX-License-Identifier: Apache-2.0
// A warp of a team (arch/cuda/byte_products.hpp) on the host: its lanes are fibers, and products of matrices
// are plain loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arch/cuda/byte_products.hpp"
#include "arch/cuda/stream_shape.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

/// What all teams have. A team besides starts products whose matrix its warps share, and waits for them.
class LockstepWarp {
 public:
  explicit LockstepWarp(const LockstepGroup<32>& warp) : warp_(warp) {}

  [[nodiscard]] unsigned lane() const { return warp_.lane(); }
  void sync() const { warp_.sync(); }
  [[nodiscard]] std::uint32_t shuffle(std::uint32_t x, unsigned lane) const { return warp_.shuffle(x, lane); }
  [[nodiscard]] std::uint32_t sum_of_quad(std::uint32_t x) const {
    x += warp_.shuffle(x, lane() ^ 1);
    return x + warp_.shuffle(x, lane() ^ 2);
  }

  struct Matrix {
    Matrix(const std::byte* first, unsigned of_step) : fours(first), step_fours(of_step) {}
    [[nodiscard]] Matrix from(unsigned four) const { return {fours + std::size_t{four} * 512, step_fours}; }
    const std::byte* fours;
    unsigned step_fours;
  };

  template <unsigned kFours>
  void settle(cuda::ByteSums<kFours>& /*sums*/) const {}

  template <unsigned kSteps, unsigned kFours>
  void multiply(cuda::ByteSums<kFours>& sums, const cuda::ByteRows<kSteps>& rows, const std::byte* fours,
                unsigned step_fours) const {
    using Rows = const cuda::ByteRows<kSteps>*;
    Rows of_quad[4];
    for (unsigned t = 0; t < 4; ++t) of_quad[t] = warp_.shuffle(Rows{&rows}, lane() / 4 * 4 + t);
    for (unsigned four = 0; four < kFours; ++four) {
      for (unsigned byte = 0; byte < 4; ++byte) {
        const std::byte* const column =
            fours + std::size_t{four} * 512 + byte / 2 * 256 + (2 * (lane() % 4) + byte % 2) * 16;
        for (unsigned half = 0; half < 2; ++half) {
          sums.sum[8 * four + 4 * (byte / 2) + 2 * half + byte % 2] =
              dot(of_quad, half, column, std::size_t{step_fours} * 512);
        }
      }
    }
    warp_.sync();
  }

 private:
  LockstepGroup<32> warp_;

  static std::uint32_t dot_of_words(std::uint32_t a, std::uint32_t b) {
    return (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
           (a >> 24) * (b >> 24);
  }

  // Of a row of the quad's and a column whose steps are `step` bytes apart.
  template <unsigned kSteps>
  static std::int32_t dot(const cuda::ByteRows<kSteps>* const (&quad)[4], unsigned half,
                          const std::byte* column, std::size_t step) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 2 * kSteps; ++i) {
      const std::byte* const piece = column + i / 2 * step + i % 2 * 128;
      for (unsigned t = 0; t < 4; ++t) {
        std::uint32_t entries = 0;
        std::memcpy(&entries, piece + 4 * t, sizeof entries);
        sum += dot_of_words(quad[t]->words[half][i], entries);
      }
    }
    return static_cast<std::int32_t>(sum);
  }
};

/// A team whose matrices all lie in memory.
class LockstepTeam : public LockstepWarp {
 public:
  using LockstepWarp::LockstepWarp;

  template <unsigned kSteps, unsigned kFours>
  void start(cuda::ByteSums<kFours>& sums, const cuda::ByteRows<kSteps>& rows, const Matrix& matrix,
             unsigned /*piece*/) const {
    multiply(sums, rows, matrix.fours, matrix.step_fours);
  }
  template <unsigned kPending>
  void wait(unsigned /*piece*/) const {}
};

/// A team whose matrices stream: a cuda::StreamShape's pieces, each once a pass and in their order, as a
/// ring has to bring them.
template <class Shape>
class LockstepStream : public LockstepWarp {
 public:
  LockstepStream(const LockstepGroup<32>& warp, const std::byte* matrices)
      : LockstepWarp(warp), matrices_(matrices) {}

  template <unsigned kSteps, unsigned kFours>
  void start(cuda::ByteSums<kFours>& sums, const cuda::ByteRows<kSteps>& rows, const Matrix& /*matrix*/,
             unsigned piece) const {
    go_on(started_, piece);
    if (kFours != Shape::fours(piece)) throw LockstepError("a piece of another size");
    multiply(sums, rows, matrices_ + Shape::begin(piece), kFours);
  }
  template <unsigned kPending>
  void wait(unsigned piece) const {
    go_on(read_, piece);
    if ((started_ + Shape::kPieces - read_) % Shape::kPieces != kPending) {
      throw LockstepError("other products under way than are waited for");
    }
  }
  /// To be called at the end.
  void drain() const {
    if (started_ != 0 || read_ != 0) throw LockstepError("a pass that has not ended");
  }

 private:
  const std::byte* matrices_;
  mutable unsigned started_ = 0, read_ = 0;  // of a pass, next

  static void go_on(unsigned& next, unsigned piece) {
    if (piece != next) throw LockstepError("a piece that is not the next one");
    next = (next + 1) % Shape::kPieces;
  }
};

}  // namespace manymod::test
