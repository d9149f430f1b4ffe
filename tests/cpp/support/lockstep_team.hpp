// SPDX-License-Identifier: Apache-2.0
// A warp of a team (arch/cuda/byte_products.cuda.hpp) on the host: its lanes are fibers, and matrix products
// are plain loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/stream_shape.hpp"
#include "support/byte_product.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

/// The functions that all teams share. A team also starts products whose matrix its warps share, and waits
/// for them.
class LockstepWarp {
 public:
  explicit LockstepWarp(const LockstepGroup<32>& warp) : warp_(warp) {}

  [[nodiscard]] unsigned lane() const { return warp_.lane(); }
  void sync() const { warp_.sync(); }
  [[nodiscard]] std::uint32_t shuffle(std::uint32_t x, unsigned lane) const { return warp_.shuffle(x, lane); }
  [[nodiscard]] std::uint32_t sum_over_thread_quad(std::uint32_t x) const {
    x += warp_.shuffle(x, lane() ^ 1);
    return x + warp_.shuffle(x, lane() ^ 2);
  }

  struct Matrix {
    Matrix(const std::byte* first, unsigned quads_of_step) : quads(first), step_quads(quads_of_step) {}
    [[nodiscard]] Matrix from(unsigned quad) const { return {quads + std::size_t{quad} * 512, step_quads}; }
    const std::byte* quads;
    unsigned step_quads;
  };

  template <unsigned kQuads>
  void order_after_wait(cuda::ByteSums<kQuads>& /*sums*/) const {}

  template <unsigned kSteps, unsigned kQuads>
  void multiply(cuda::ByteSums<kQuads>& sums, const cuda::ByteRows<kSteps>& rows, const std::byte* quads,
                unsigned step_quads) const {
    using Rows = const cuda::ByteRows<kSteps>*;
    const std::uint32_t* row[2][4];  // words of the thread quad's four threads
    for (unsigned t = 0; t < 4; ++t) {
      const Rows of_thread = warp_.shuffle(Rows{&rows}, lane() / 4 * 4 + t);
      for (unsigned half = 0; half < 2; ++half) row[half][t] = of_thread->words[half];
    }
    for (unsigned quad = 0; quad < kQuads; ++quad) {
      for (unsigned byte = 0; byte < 4; ++byte) {
        const std::byte* const column =
            quads + std::size_t{quad} * 512 + byte / 2 * 256 + (2 * (lane() % 4) + byte % 2) * 16;
        for (unsigned half = 0; half < 2; ++half) {
          sums.sum[8 * quad + 4 * (byte / 2) + 2 * half + byte % 2] =
              product_of_bytes(row[half], column, std::size_t{step_quads} * 512, kSteps);
        }
      }
    }
    warp_.sync();
  }

 private:
  LockstepGroup<32> warp_;
};

/// A team whose matrices are all in memory.
class LockstepTeam : public LockstepWarp {
 public:
  using LockstepWarp::LockstepWarp;

  template <unsigned kSteps, unsigned kQuads>
  void start(cuda::ByteSums<kQuads>& sums, const cuda::ByteRows<kSteps>& rows, const Matrix& matrix,
             unsigned /*tile*/) const {
    multiply(sums, rows, matrix.quads, matrix.step_quads);
  }
  template <unsigned kPending>
  void wait(unsigned /*tile*/) const {}
};

/// A team whose matrices stream. It checks that the tiles of a cuda::StreamShape are used once in each pass
/// and in order, as a ring delivers them.
template <class Shape>
class LockstepStream : public LockstepWarp {
 public:
  LockstepStream(const LockstepGroup<32>& warp, const std::byte* matrices)
      : LockstepWarp(warp), matrices_(matrices) {}

  template <unsigned kSteps, unsigned kQuads>
  void start(cuda::ByteSums<kQuads>& sums, const cuda::ByteRows<kSteps>& rows, const Matrix& /*matrix*/,
             unsigned tile) const {
    expect_next(started_, tile);
    if (kQuads != Shape::quads(tile)) throw LockstepError("the tile has another size");
    multiply(sums, rows, matrices_ + Shape::begin(tile), kQuads);
  }
  template <unsigned kPending>
  void wait(unsigned tile) const {
    expect_next(waited_, tile);
    if ((started_ + Shape::kTiles - waited_) % Shape::kTiles != kPending) {
      throw LockstepError("the number of pending products is not the one waited for");
    }
  }
  /// Checks at the end that all passes are complete.
  void drain() const {
    if (started_ != 0 || waited_ != 0) throw LockstepError("the last pass has not ended");
  }

 private:
  const std::byte* matrices_;
  mutable unsigned started_ = 0, waited_ = 0;  // the next tile of the pass to start, and to wait for

  static void expect_next(unsigned& next, unsigned tile) {
    if (tile != next) throw LockstepError("tiles are not in order");
    next = (next + 1) % Shape::kTiles;
  }
};

}  // namespace manymod::test
