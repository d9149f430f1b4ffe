// SPDX-License-Identifier: Apache-2.0
// Macros for sources that are compiled both for CUDA devices and for the host, where they are tested without
// a GPU. MM_DEVICE functions are inlined on the device. MM_DEVICE_CALL functions are called there: long ones
// that a kernel uses many times. Structures of words that they take and return by value stay in registers.
#pragma once

#if defined(__CUDACC__)
#define MM_DEVICE __host__ __device__ __forceinline__
#define MM_DEVICE_CALL __host__ __device__ __noinline__
#else
#define MM_DEVICE inline
#define MM_DEVICE_CALL inline
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
