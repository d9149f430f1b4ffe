// SPDX-License-Identifier: Apache-2.0
// The kernels of technique reduced_radix. MM_TILE, where it is defined, divides MM_PER_THREAD.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/negative_inverse.clh"
#include "modmul/reduced_radix/digits.clh"
#ifdef MM_TILE
#include "modmul/reduced_radix/tiled.clh"
#else
#include "modmul/reduced_radix/rows.clh"
#endif
#include "gpu/opencl/kernels/interpreter.clh"
