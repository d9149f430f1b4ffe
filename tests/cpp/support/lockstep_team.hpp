// SPDX-License-Identifier: Apache-2.0
// A warp of a team (arch/cuda/byte_products.cuda.hpp) on the host: its lanes are fibers, and products of
// matrices are plain loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/stream_shape.hpp"
#include "support/byte_product.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

/// The part of the interface that all teams share. A team also starts products whose matrix its warps share,
/// and waits for them.
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
    const std::uint32_t* row[2][4];  // the rows of the quad's threads
    for (unsigned t = 0; t < 4; ++t) {
      const Rows of_thread = warp_.shuffle(Rows{&rows}, lane() / 4 * 4 + t);
      for (unsigned half = 0; half < 2; ++half) row[half][t] = of_thread->words[half];
    }
    for (unsigned four = 0; four < kFours; ++four) {
      for (unsigned byte = 0; byte < 4; ++byte) {
        const std::byte* const column =
            fours + std::size_t{four} * 512 + byte / 2 * 256 + (2 * (lane() % 4) + byte % 2) * 16;
        for (unsigned half = 0; half < 2; ++half) {
          sums.sum[8 * four + 4 * (byte / 2) + 2 * half + byte % 2] =
              product_of_bytes(row[half], column, std::size_t{step_fours} * 512, kSteps);
        }
      }
    }
    warp_.sync();
  }

 private:
  LockstepGroup<32> warp_;
};

/// A team whose matrices are all in memory, so that a product is complete when it has been started.
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

/// A team whose matrices are streamed: the pieces of a cuda::StreamShape, each once per pass and in order, as
/// a ring buffer delivers them. Checks that products are started and waited for in that order.
template <class Shape>
class LockstepStream : public LockstepWarp {
 public:
  LockstepStream(const LockstepGroup<32>& warp, const std::byte* matrices)
      : LockstepWarp(warp), matrices_(matrices) {}

  template <unsigned kSteps, unsigned kFours>
  void start(cuda::ByteSums<kFours>& sums, const cuda::ByteRows<kSteps>& rows, const Matrix& /*matrix*/,
             unsigned piece) const {
    advance(started_, piece);
    if (kFours != Shape::fours(piece)) throw LockstepError("the piece has a different size");
    multiply(sums, rows, matrices_ + Shape::begin(piece), kFours);
  }
  template <unsigned kPending>
  void wait(unsigned piece) const {
    advance(waited_, piece);
    if ((started_ + Shape::kPieces - waited_) % Shape::kPieces != kPending) {
      throw LockstepError("the number of pending products is not the one waited for");
    }
  }
  /// Checks that the last pass has ended.
  void drain() const {
    if (started_ != 0 || waited_ != 0) throw LockstepError("the last pass has not ended");
  }

 private:
  const std::byte* matrices_;
  mutable unsigned started_ = 0, waited_ = 0;  // next piece of a pass to be started, and to be waited for

  static void advance(unsigned& next, unsigned piece) {
    if (piece != next) throw LockstepError("pieces are not in order");
    next = (next + 1) % Shape::kPieces;
  }
};

}  // namespace manymod::test
