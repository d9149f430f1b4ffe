// SPDX-License-Identifier: Apache-2.0
// Kernel tables of technique ifma52: digits of 52 bits multiplied by AVX-512 IFMA.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64
/// Eight instances side by side, as this processor computes them fastest.
const lanes::Kernels& avx512ifma_kernels();

// Those that it chooses from: selections beside squarings by masked stores, for Intel's processors, or by
// blends, for AMD's.
const lanes::Kernels& storing_kernels();
const lanes::Kernels& blending_kernels();
#endif

}  // namespace manymod::ifma52
