// SPDX-License-Identifier: Apache-2.0
// Kernel tables of technique ifma52 on 8 lanes: digits of 52 bits multiplied by AVX-512 IFMA.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64
/// Eight instances side by side: the one of the two tables below that is faster on this processor.
const lanes::Kernels& avx512ifma_kernels();

// They differ in how a selection that runs beside a squaring writes the selected entry: with masked stores
// (faster on Intel processors) or with blends (faster on AMD processors).
const lanes::Kernels& storing_kernels();
const lanes::Kernels& blending_kernels();
#endif

}  // namespace manymod::ifma52
