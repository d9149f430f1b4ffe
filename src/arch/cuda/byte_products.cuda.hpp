// SPDX-License-Identifier: Apache-2.0
// Products of matrices of unsigned bytes with 32-bit accumulators on tensor cores, in the fragment layouts of
// mma.sync m16n8k32 and wgmma m64nNk32.
//
// A team is a warp (Warp) or warpgroup (Warpgroup), or all warpgroups of a block (StreamedWarpgroup). Each
// warp multiplies 16 rows. A step is 32 bytes along K. Lane 4 g + t holds of each step bytes 16 h + 4 t .. 16
// h + 4 t + 3 of rows g and g + 8, as one word for each h = 0, 1, and of each octet (8 columns) the
// accumulators of columns 2 t and 2 t + 1.
//
// The matrix is stored as core matrices of 8 columns by 16 bytes along K, with the bytes of a column
// contiguous. The two core matrices of a step and an octet are adjacent; octets are 256 bytes apart. Two
// octets are a column quad, `quad` in identifiers: 16 columns, 512 bytes for each step; lane 4 g + t holds
// the four accumulators of one target in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// A lane's accumulators of kQuads column quads. The one of quad f, byte column b < 4 (octet b / 2, column 2
/// t + b % 2) and half h (row g + 8 h) is sum[8 f + 4 (b / 2) + 2 h + b % 2].
template <unsigned kQuads>
struct ByteSums {
  std::int32_t sum[8 * kQuads];

  /// The accumulator of a quad, half and byte column.
  MM_DEVICE std::uint32_t at(unsigned quad, unsigned half, unsigned byte) const {
    return static_cast<std::uint32_t>(sum[8 * quad + 4 * (byte / 2) + 2 * half + byte % 2]);
  }
};

/// A lane's words of kSteps steps: words[h][2 s + k] is word 4 (2 s + k) + t of row g + 8 h.
template <unsigned kSteps>
struct ByteRows {
  std::uint32_t words[2][2 * kSteps];
};

#if defined(__CUDACC__)

/// d += rows times one octet for one step, by one mma.sync. a0, a2: words of row g for h = 0, 1; a1, a3: of
/// row g + 8; b0, b1: this lane's words of the octet's core matrices.
__device__ __forceinline__ void multiply_octet(std::int32_t* d, std::uint32_t a0, std::uint32_t a1,
                                               std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                               std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// sums = rows times the first kQuads column quads of a matrix in memory of any kind, by mma.sync. Each step
/// of the matrix has `step_quads` column quads. All threads of the warp call.
template <unsigned kSteps, unsigned kQuads>
__device__ __forceinline__ void multiply_from_memory(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows,
                                                     const std::byte* quads, unsigned step_quads) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned i = 0; i < 8 * kQuads; ++i) sums.sum[i] = 0;
#pragma unroll
  for (unsigned step = 0; step < kSteps; ++step) {
    const auto* const words =
        reinterpret_cast<const std::uint32_t*>(quads + std::size_t{step} * step_quads * 512) + lane;
#pragma unroll
    for (unsigned octet = 0; octet < 2 * kQuads; ++octet) {
      multiply_octet(&sums.sum[4 * octet], rows.words[0][2 * step], rows.words[1][2 * step],
                     rows.words[0][2 * step + 1], rows.words[1][2 * step + 1], words[64 * octet],
                     words[64 * octet + 32]);
    }
  }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

#define MM_LIST_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define MM_LIST_16 MM_LIST_8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define MM_LIST_24 MM_LIST_16 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define MM_LIST_32 MM_LIST_24 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define MM_LIST_40 MM_LIST_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define MM_LIST_48 MM_LIST_40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define MM_LIST_56 MM_LIST_48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define MM_LIST_64 MM_LIST_56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define MM_LIST_72 MM_LIST_64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define MM_SUMS_8(i)                                                                                      \
  "+r"(d.sum[i]), "+r"(d.sum[(i) + 1]), "+r"(d.sum[(i) + 2]), "+r"(d.sum[(i) + 3]), "+r"(d.sum[(i) + 4]), \
      "+r"(d.sum[(i) + 5]), "+r"(d.sum[(i) + 6]), "+r"(d.sum[(i) + 7])
#define MM_SUMS_16 MM_SUMS_8(0), MM_SUMS_8(8)
#define MM_SUMS_24 MM_SUMS_16, MM_SUMS_8(16)
#define MM_SUMS_32 MM_SUMS_24, MM_SUMS_8(24)
#define MM_SUMS_40 MM_SUMS_32, MM_SUMS_8(32)
#define MM_SUMS_48 MM_SUMS_40, MM_SUMS_8(40)
#define MM_SUMS_56 MM_SUMS_48, MM_SUMS_8(48)
#define MM_SUMS_64 MM_SUMS_56, MM_SUMS_8(56)
#define MM_SUMS_72 MM_SUMS_64, MM_SUMS_8(64)
// MM_WGMMA defines start_step<kAdd>(d, ..), which starts d = rows times one step of `quads` column quads, or
// d += that if kAdd. The asm operands after the sums are four words of the rows, the matrix descriptor, and
// kAdd.
#define MM_WGMMA(quads, columns, list, sums, a0, a1, a2, a3, matrix, add)                                  \
  template <bool kAdd>                                                                                     \
  __device__ __forceinline__ void start_step(ByteSums<quads>& d, const std::uint32_t* low_rows,            \
                                             const std::uint32_t* high_rows, std::uint64_t descriptor) {   \
    asm volatile("{.reg .pred add; setp.ne.b32 add, " add ", 0; wgmma.mma_async.sync.aligned.m64n" columns \
                 "k32.s32.u8.u8 {" list "}, {" a0 "," a1 "," a2 "," a3 "}, " matrix ", add;}"              \
                 : sums                                                                                    \
                 : "r"(low_rows[0]), "r"(high_rows[0]), "r"(low_rows[1]), "r"(high_rows[1]),               \
                   "l"(descriptor), "n"(kAdd ? 1 : 0));                                                    \
  }
MM_WGMMA(1, "16", MM_LIST_8, MM_SUMS_8(0), "%8", "%9", "%10", "%11", "%12", "%13")
MM_WGMMA(2, "32", MM_LIST_16, MM_SUMS_16, "%16", "%17", "%18", "%19", "%20", "%21")
MM_WGMMA(3, "48", MM_LIST_24, MM_SUMS_24, "%24", "%25", "%26", "%27", "%28", "%29")
MM_WGMMA(4, "64", MM_LIST_32, MM_SUMS_32, "%32", "%33", "%34", "%35", "%36", "%37")
MM_WGMMA(5, "80", MM_LIST_40, MM_SUMS_40, "%40", "%41", "%42", "%43", "%44", "%45")
MM_WGMMA(6, "96", MM_LIST_48, MM_SUMS_48, "%48", "%49", "%50", "%51", "%52", "%53")
MM_WGMMA(7, "112", MM_LIST_56, MM_SUMS_56, "%56", "%57", "%58", "%59", "%60", "%61")
MM_WGMMA(8, "128", MM_LIST_64, MM_SUMS_64, "%64", "%65", "%66", "%67", "%68", "%69")
MM_WGMMA(9, "144", MM_LIST_72, MM_SUMS_72, "%72", "%73", "%74", "%75", "%76", "%77")
#undef MM_WGMMA
#undef MM_SUMS_72
#undef MM_SUMS_64
#undef MM_SUMS_56
#undef MM_SUMS_48
#undef MM_SUMS_40
#undef MM_SUMS_32
#undef MM_SUMS_24
#undef MM_SUMS_16
#undef MM_SUMS_8
#undef MM_LIST_72
#undef MM_LIST_64
#undef MM_LIST_56
#undef MM_LIST_48
#undef MM_LIST_40
#undef MM_LIST_32
#undef MM_LIST_24
#undef MM_LIST_16
#undef MM_LIST_8
#endif

/// A warp, which multiplies 16 rows. All its threads call every function together. Its products run by
/// mma.sync, synchronously in start().
class Warp {
 public:
  static constexpr unsigned kThreads = 32;

  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % kThreads; }
  /// Memory writes of the warp's threads before the call are visible to all of them after it.
  __device__ __forceinline__ void sync() const { __syncwarp(); }
  /// `x` of the thread `lane` < 32. A secret lane must never be the same for all threads of the warp: that
  /// case takes less time on an H200 (docs/rns/kernels.md, "Constant-time selection").
  __device__ __forceinline__ std::uint32_t shuffle(std::uint32_t x, unsigned lane) const {
    return __shfl_sync(0xffffffffu, x, static_cast<int>(lane));
  }
  /// The sum over the four threads of the thread quad.
  __device__ __forceinline__ std::uint32_t sum_over_thread_quad(std::uint32_t x) const {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }

  /// A matrix in shared memory. `quads`: its first column quad, aligned to 16 bytes; each step has
  /// `step_quads`.
  class Matrix {
   public:
    __device__ __forceinline__ Matrix(const std::byte* quads, unsigned step_quads)
        : quads_(quads), step_quads_(step_quads) {}
    /// The same matrix from column quad `quad` on.
    __device__ __forceinline__ Matrix from(unsigned quad) const {
      return {quads_ + std::size_t{quad} * 512, step_quads_};
    }

    const std::byte* quads_;
    unsigned step_quads_;
  };

  /// Starts sums = rows times the first kQuads column quads of `matrix`. `tile`: the position of these in a
  /// stream (streamed_products.cuda.hpp), unused here.
  template <unsigned kSteps, unsigned kQuads>
  __device__ __forceinline__ void start(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows,
                                        const Matrix& matrix, [[maybe_unused]] unsigned tile) const {
    multiply(sums, rows, matrix.quads_, matrix.step_quads_);
  }
  /// Waits until all but the last kPending started products are complete, the one of `tile` included.
  template <unsigned kPending>
  __device__ __forceinline__ void wait([[maybe_unused]] unsigned tile) const {}
  /// Must be called with the accumulators of a completed product before they are read, see Warpgroup.
  template <unsigned kQuads>
  __device__ __forceinline__ void order_after_wait([[maybe_unused]] ByteSums<kQuads>& sums) const {}

  /// sums = rows times the first kQuads column quads of a matrix in memory of any kind.
  template <unsigned kSteps, unsigned kQuads>
  __device__ __forceinline__ void multiply(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows,
                                           const std::byte* quads, unsigned step_quads) const {
    multiply_from_memory<kSteps, kQuads>(sums, rows, quads, step_quads);
  }
};

/// A warpgroup, each of whose four warps multiplies 16 rows; products run asynchronously by wgmma on devices
/// that have it. All its threads call every function together. Between start() and wait(), neither the
/// accumulators nor the rows may be accessed.
class Warpgroup : public Warp {
 public:
  static constexpr unsigned kThreads = 128;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  /// A matrix in shared memory by the low half of its wgmma descriptor: the start address and the leading
  /// dimension offset of 128 bytes (between core matrices along K), both in units of 16 bytes, without
  /// swizzling.
  class Matrix {
   public:
    __device__ __forceinline__ Matrix(const std::byte* quads, unsigned step_quads)
        : low_((static_cast<std::uint32_t>(__cvta_generic_to_shared(quads)) & 0x3ffff) / 16 | 128 / 16 << 16),
          step_quads_(step_quads) {}
    __device__ __forceinline__ Matrix from(unsigned quad) const {
      Matrix rest(*this);
      rest.low_ += quad * kQuadUnits;
      return rest;
    }
    /// The descriptor of the first step. Opaque to the compiler, which would otherwise keep the descriptors
    /// of many products in registers.
    __device__ __forceinline__ std::uint64_t descriptor() const {
      std::uint32_t low;
      asm volatile("mov.u32 %0, %1;" : "=r"(low) : "r"(low_));
      return std::uint64_t{256 / 16} << 32 | low;  // stride dimension offset: 256 bytes between octets
    }
    /// The difference between the descriptors of consecutive steps.
    __device__ __forceinline__ unsigned step_units() const { return step_quads_ * kQuadUnits; }

   private:
    static constexpr unsigned kQuadUnits = 512 / 16;
    std::uint32_t low_;
    unsigned step_quads_;
  };
#endif

  /// See Warp; the product runs asynchronously.
  template <unsigned kSteps, unsigned kQuads>
  __device__ __forceinline__ void start(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows,
                                        const Matrix& matrix, [[maybe_unused]] unsigned tile) const {
    start_product(sums, rows, matrix);
  }
  template <unsigned kPending>
  __device__ __forceinline__ void wait([[maybe_unused]] unsigned tile) const {
    wait_for_products<kPending>();
  }
  /// Makes the accumulators depend on the preceding wait(), since the compiler does not see that dependence.
  template <unsigned kQuads>
  __device__ __forceinline__ void order_after_wait(ByteSums<kQuads>& sums) const {
#pragma unroll
    for (unsigned i = 0; i < 8 * kQuads; ++i) asm volatile("" : "+r"(sums.sum[i])::"memory");
  }

 protected:
  /// Starts sums = rows times the first kQuads column quads of `matrix`, as one wgmma group.
  template <unsigned kSteps, unsigned kQuads>
  __device__ __forceinline__ static void start_product(ByteSums<kQuads>& sums, const ByteRows<kSteps>& rows,
                                                       const Matrix& matrix) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    const std::uint64_t descriptor = matrix.descriptor();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    start_step<false>(sums, &rows.words[0][0], &rows.words[1][0], descriptor);
#pragma unroll
    for (unsigned step = 1; step < kSteps; ++step) {
      start_step<true>(sums, &rows.words[0][2 * step], &rows.words[1][2 * step],
                       descriptor + step * matrix.step_units());
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    multiply_from_memory<kSteps, kQuads>(sums, rows, matrix.quads_, matrix.step_quads_);
#endif
  }

  template <unsigned kPending>
  __device__ __forceinline__ static void wait_for_products() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
  }
};

#endif

}  // namespace manymod::cuda
