// SPDX-License-Identifier: Apache-2.0
// The kernels of technique rns_float.
#include "gpu/opencl/kernels/job.clh"
#include "modmul/rns_float/half_word.clh"
#include "modmul/rns_float/multiplier.clh"
#include "gpu/opencl/kernels/interpreter.clh"
