// SPDX-License-Identifier: Apache-2.0
// MM_DEVICE_CALL: a function for devices and the host that is called, not inlined: its arguments pass through
// memory, which costs little where it computes long, and code stays small.
#pragma once

#include "core/portable.hpp"

#if defined(__CUDACC__)
#define MM_DEVICE_CALL __host__ __device__ __noinline__
#else
#define MM_DEVICE_CALL inline
#endif
