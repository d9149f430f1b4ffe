// SPDX-License-Identifier: Apache-2.0
// What lets one source be compiled for CUDA devices and, for tests without a GPU, for the host.
#pragma once

#if defined(__CUDACC__)
#define MM_DEVICE __host__ __device__ __forceinline__
#else
#define MM_DEVICE inline
#endif

// Unrolling is what keeps an array in registers on the device; the host has no need of it.
#if defined(__CUDA_ARCH__)
#define MM_UNROLL _Pragma("unroll")
#define MM_ROLLED _Pragma("unroll 1")
#else
#define MM_UNROLL
#define MM_ROLLED
#endif
