// SPDX-License-Identifier: Apache-2.0
// The kernels of technique cios32.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/negative_inverse.clh"
#include "modmul/cios32/multiplier.clh"
#include "gpu/opencl/kernels/interpreter.clh"
