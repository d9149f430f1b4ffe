// SPDX-License-Identifier: Apache-2.0
// The kernels of technique dpf52.
#include "gpu/opencl/kernels/job.clh"
#include "modmul/dpf52/multiplier.clh"
#include "gpu/opencl/kernels/interpreter.clh"
