// SPDX-License-Identifier: Apache-2.0
// The kernels of technique reduced_radix.
#include "gpu/opencl/kernels/job.clh"
#include "modmul/reduced_radix/multiplier.clh"
#include "gpu/opencl/kernels/interpreter.clh"
