// SPDX-License-Identifier: Apache-2.0
// The kernels of one curve: MM_POINT_KERNELS(name, Curve) and MM_ECDSA_KERNELS(name, Curve).
#pragma once

#include "arch/cuda/block_group.cuda.hpp"
#include "ecc/cuda/decoding.cuda.hpp"
#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/cuda/string_hash.cuda.hpp"
#include "ecc/cuda/sums.cuda.hpp"

namespace manymod::ecc::cuda {

__device__ __forceinline__ std::uint32_t thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace manymod::ecc::cuda

// Blocks of kPointBlock threads, of which a multiprocessor is to hold at least kBlocks at a time (this
// bounds the registers of a thread).
#define MM_POINT_KERNEL(name, kBlocks, Job, call)                                        \
  extern "C" __global__ void __launch_bounds__(manymod::ecc::cuda::kPointBlock, kBlocks) \
      name(const __grid_constant__ manymod::ecc::cuda::Job job) {                        \
    using namespace manymod::ecc::cuda;                                                  \
    const std::uint32_t item = thread_number();                                          \
    if (item < job.count) call;                                                          \
  }
// Each thread has a chain of items, and a block inverts together.
#define MM_CHAIN_KERNEL(name, Job, function)                                    \
  extern "C" __global__ void __launch_bounds__(manymod::ecc::cuda::kChainBlock) \
      name(const __grid_constant__ manymod::ecc::cuda::Job job) {               \
    using namespace manymod::ecc::cuda;                                         \
    function(manymod::cuda::BlockGroup<kChainBlock>(), job, thread_number());   \
  }

// All threads of a warp compute together; those beyond the last item compute an item again and do not store
// it.
#define MM_BASE_KERNEL(name, kBlocks, function)                                          \
  extern "C" __global__ void __launch_bounds__(manymod::ecc::cuda::kPointBlock, kBlocks) \
      ecc_##name##_base(const __grid_constant__ manymod::ecc::cuda::PointJob job) {      \
    using namespace manymod::ecc::cuda;                                                  \
    const std::uint32_t item = thread_number();                                          \
    const bool inside = item < job.count;                                                \
    function(job, inside ? item : 0, inside);                                            \
  }

// kBaseBlocks: of k G.
#define MM_POINT_KERNELS(name, Curve, kBaseBlocks, kBlocks)                             \
  MM_BASE_KERNEL(name, kBaseBlocks, multiply_base<Curve>)                               \
  MM_POINT_KERNEL(ecc_##name##_multiply, kBlocks, PointJob, multiply<Curve>(job, item)) \
  MM_POINT_KERNEL(ecc_##name##_two, kBlocks, PointJob, multiply_two<Curve>(job, item))  \
  MM_POINT_KERNEL(ecc_##name##_check, kBlocks, PointJob, check_point<Curve>(job, item)) \
  MM_CHAIN_KERNEL(ecc_##name##_affine, AffineJob, normalise<Curve>)

// Arithmetic modulo the order, and comparisons and decoding by functions for special primes or for any.
#define MM_SCALAR_KERNELS(name, Curve)                                                    \
  MM_CHAIN_KERNEL(ecc_##name##_sign, SignJob, sign<Curve>)                                \
  MM_POINT_KERNEL(ecc_##name##_combine, 1, CombineJob, combine_scalars<Curve>(job, item)) \
  MM_CHAIN_KERNEL(ecc_##name##_scalars, VerifyScalarsJob, verification_scalars<Curve>)
#define MM_ECDSA_KERNELS(name, Curve)                                                     \
  MM_SCALAR_KERNELS(name, Curve)                                                          \
  MM_POINT_KERNEL(ecc_##name##_decode, 1, DecodeJob, decode_compressed<Curve>(job, item)) \
  MM_POINT_KERNEL(ecc_##name##_compare, 1, VerifyCompareJob, compare_x<Curve>(job, item))

// Sums of affine points, and of those. Sums: see sums.cuda.hpp.
#define MM_SUM_KERNELS(name, Sums, kBlocks)                                          \
  MM_POINT_KERNEL(ecc_##name##_terms, kBlocks, SumJob, (sum_terms<Sums>(job, item))) \
  MM_POINT_KERNEL(ecc_##name##_points, kBlocks, SumJob, (sum_points<Sums>(job, item)))

// Nonces of RFC 6979, hedged ones, and digests.
#define MM_HASH_KERNELS(name, Curve, Hash)                                                 \
  MM_POINT_KERNEL(ecc_##name##_digest, 1, DigestJob, digest_strings<Hash>(job, item))      \
  MM_POINT_KERNEL(ecc_##name##_nonce, 1, NonceJob, (derive_nonce<Curve, Hash>(job, item))) \
  MM_POINT_KERNEL(ecc_##name##_hedged, 1, NonceJob,                                        \
                  (derive_nonce<Curve, Hash, NonceJob::kExtraBytes>(job, item)))
