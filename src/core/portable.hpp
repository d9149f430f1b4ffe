// SPDX-License-Identifier: Apache-2.0
// Macros for sources that are compiled both for CUDA devices and for the host, where they are tested without
// a GPU.
#pragma once

#if defined(__CUDACC__)
#define MM_DEVICE __host__ __device__ __forceinline__
#else
#define MM_DEVICE inline
#endif

// MM_UNROLL unrolls a loop on the device, so that the arrays it indexes stay in registers; MM_ROLLED prevents
// it. Neither matters on the host.
#if defined(__CUDA_ARCH__)
#define MM_UNROLL _Pragma("unroll")
#define MM_ROLLED _Pragma("unroll 1")
#else
#define MM_UNROLL
#define MM_ROLLED
#endif
