// SPDX-License-Identifier: Apache-2.0
// Products with matrices that are too large for shared memory. All warpgroups of a block read them together,
// tile by tile, in a sequence that repeats, while the next tiles are being copied.
//
// A tile is several column quads of all steps (byte_products.cuda.hpp). The ring has kStages buffers, and the
// number of tiles in the sequence is a multiple of that, so that a tile always uses the same buffer. Each
// buffer has two barriers: `full` completes when a copy has arrived, `empty` when all warps have read it. The
// block's first warp refills: after reading a tile itself, it waits until the buffer of the tile kLag tiles
// earlier is empty, which is the case unless another warp is that far behind. So some warps can use their
// sums while others multiply.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/stream_shape.hpp"

namespace manymod::cuda {

#if defined(__CUDACC__)

/// An mbarrier object in shared memory.
class Barrier {
 public:
  __device__ __forceinline__ explicit Barrier(const std::uint64_t* barrier)
      : address_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barrier))) {}

  /// Initialises the barrier for phases of `arrivals` arrivals.
  __device__ __forceinline__ void init(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_), "r"(arrivals) : "memory");
  }
  __device__ __forceinline__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_) : "memory");
  }
  /// Arrives; the phase also waits until `bytes` bytes of copies have arrived.
  __device__ __forceinline__ void arrive_and_expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_), "r"(bytes)
                 : "memory");
  }
  /// Waits until the phase of this parity is complete. The whole warp takes the same branch, so that the
  /// compiler knows that it does not diverge.
  __device__ __forceinline__ void wait(unsigned parity) const {
    while (!__all_sync(0xffffffffu, is_over(parity))) continue;
  }
  /// Starts a copy of `bytes`, a multiple of 16, from global to shared memory; the phase waits for it.
  __device__ __forceinline__ void copy(std::uint32_t to, const std::byte* from, unsigned bytes) const {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(address_)
        : "memory");
  }

 private:
  std::uint32_t address_;

  // Whether the phase of this parity is complete; may wait for a while.
  [[nodiscard]] __device__ __forceinline__ int is_over(unsigned parity) const {
    int over;
    asm volatile(
        "{.reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.s32 %0, 1, 0, over;}"
        : "=r"(over)
        : "r"(address_), "r"(parity)
        : "memory");
    return over;
  }
};

/// A Warpgroup for all warpgroups of a block, which start the same products in the same order: those with the
/// tiles of the sequence, one after the other.
template <class Shape, class Layout>
class StreamedWarpgroup : public Warpgroup {
  static constexpr unsigned kStages = Layout::kStages;
  static constexpr unsigned kLag = Layout::kLag;

 public:
  /// Empty: the order of the calls determines the matrix and the tile.
  struct Matrix {
    __device__ __forceinline__ Matrix(const std::byte*, unsigned) {}
    __device__ __forceinline__ Matrix from(unsigned) const { return *this; }
  };

  /// `ring`: Layout::kBytes of shared memory. `matrices`: the sequence in global memory, aligned to 16 bytes.
  /// All threads of the block call.
  __device__ __forceinline__ StreamedWarpgroup(std::byte* ring, const std::byte* matrices)
      : ring_(ring), matrices_(matrices), refills_(__reduce_max_sync(~0u, threadIdx.x / kWarp) == 0) {
    if (threadIdx.x == 0) {
      for (unsigned stage = 0; stage < kStages; ++stage) {
        full(stage).init(1);
        empty(stage).init(blockDim.x / kWarp);
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    for (unsigned tile = 0; refills_ && tile < kStages; ++tile) fill(tile);
  }

  /// Waits for the copies in flight that will not be read. Call once, after whole passes of the sequence.
  __device__ __forceinline__ void drain() const {
    if (!refills_) return;
    // The buffers of the last kLag tiles have not been filled again.
    const unsigned filled = passes_ == 0 ? kStages : kStages - kLag;
    for (unsigned tile = 0; tile < filled; ++tile) full(tile).wait(phase(passes_, tile));
  }

  /// Starts sums = rows times the tile number `tile` of the sequence, which has kQuads column quads.
  template <unsigned kSteps, unsigned kQuads>
  __device__ __forceinline__ void start(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows, const Matrix&,
                                        unsigned tile) const {
    const unsigned stage = tile % kStages;
    full(stage).wait(phase(passes_, tile));
    start_product(sums, rows, Warpgroup::Matrix(ring_, kQuads).from(stage * (Shape::kBufferBytes / 512)));
  }

  /// Waits until all but the last kPending started products are complete, the one of `tile` included, and
  /// releases the buffer of `tile`.
  template <unsigned kPending>
  __device__ __forceinline__ void wait(unsigned tile) const {
    wait_for_products<kPending>();
    release(tile);
    if (tile + 1 == Shape::kTiles) ++passes_;
  }

 private:
  static constexpr unsigned kWarp = 32;

  std::byte* ring_;
  const std::byte* matrices_;
  bool refills_;                 // whether this is the block's first warp
  mutable unsigned passes_ = 0;  // complete passes of the sequence

  // The parity of the phase in which the copy of `tile` in pass `pass` arrives or is read: a buffer has
  // kTiles / kStages copies in a pass.
  __device__ __forceinline__ static unsigned phase(unsigned pass, unsigned tile) {
    return (pass * (Shape::kTiles / kStages) + tile / kStages) % 2;
  }
  __device__ __forceinline__ const std::uint64_t* barriers() const {
    return reinterpret_cast<const std::uint64_t*>(ring_ + Layout::kBarriersAt);
  }
  __device__ __forceinline__ Barrier full(unsigned stage) const { return Barrier(barriers() + stage); }
  __device__ __forceinline__ Barrier empty(unsigned stage) const {
    return Barrier(barriers() + kStages + stage);
  }

  // Releases the buffer of `tile`, which this warp has read, and refills an earlier one.
  __device__ __forceinline__ void release(unsigned tile) const {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) empty(tile % kStages).arrive();
    // For the first kLag tiles of a pass, the earlier tile is in the previous pass, if there was one.
    if (refills_ && (tile >= kLag || passes_ > 0)) {
      const unsigned before = (tile + Shape::kTiles - kLag) % Shape::kTiles;
      empty(before % kStages).wait(phase(tile >= kLag ? passes_ : passes_ - 1, before));
      fill((before + kStages) % Shape::kTiles);
    }
    __syncwarp();
  }

  // Starts the copy of a tile. One elected thread does, in a way that the compiler recognises: otherwise it
  // would start copies in a loop over the threads, as a copy takes its operands from uniform registers.
  __device__ __forceinline__ void fill(unsigned tile) const {
    const unsigned stage = tile % kStages;
    if (elected()) {
      full(stage).arrive_and_expect(Shape::bytes(tile));
      const auto to = static_cast<std::uint32_t>(
          __cvta_generic_to_shared(ring_ + std::size_t{stage} * Shape::kBufferBytes));
      full(stage).copy(to, matrices_ + Shape::begin(tile), Shape::bytes(tile));
    }
    __syncwarp();
  }
  // Whether this is the one thread of the warp that the hardware elects.
  __device__ __forceinline__ static bool elected() {
    int one;
    asm volatile("{.reg .pred one; elect.sync _|one, 0xffffffff; selp.s32 %0, 1, 0, one;}" : "=r"(one));
    return one != 0;
  }
};

#endif

}  // namespace manymod::cuda
