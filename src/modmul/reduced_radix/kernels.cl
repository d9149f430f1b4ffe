// SPDX-License-Identifier: Apache-2.0
// The kernels of technique reduced_radix: numbers of one work-item are in registers up to MM_MOST_SCANNED digits,
// longer ones in tiles; groups of work-items have a tile each.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/negative_inverse.clh"
#define MM_MOST_SCANNED 20
#if MM_THREADS > 1
#define MM_TILE MM_PER_THREAD
#elif MM_PER_THREAD > MM_MOST_SCANNED
#define MM_ROLLED
#ifndef MM_TILE
#define MM_TILE 10
#endif
#endif
#include "modmul/reduced_radix/digits.clh"
#ifdef MM_TILE
#include "modmul/reduced_radix/tile.clh"
#endif
#if MM_THREADS > 1
#include "modmul/reduced_radix/lanes.clh"
#else
#include "modmul/reduced_radix/words.clh"
#ifdef MM_TILE
#include "modmul/reduced_radix/tiled.clh"
#else
#include "modmul/reduced_radix/rows.clh"
#endif
#endif
#include "gpu/opencl/kernels/interpreter.clh"
