// SPDX-License-Identifier: Apache-2.0
// Kernel tables of technique ifma52: digits of 52 bits multiplied by AVX-512 IFMA.
#pragma once

#include "modmul/lanes/kernels.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64
/// Eight instances side by side.
const lanes::Kernels& avx512ifma_kernels();
#endif

}  // namespace manymod::ifma52
