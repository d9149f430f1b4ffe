// SPDX-License-Identifier: Apache-2.0
// The kernels of technique reduced_radix.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/negative_inverse.clh"
#include "modmul/reduced_radix/forms.clh"
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
