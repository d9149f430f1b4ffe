// SPDX-License-Identifier: Apache-2.0
// Technique radix29: digits of 29 bits, multiplied by vpmuludq (32 x 32 to 64 bits), one instance a lane.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::radix29 {

#if MANYMOD_X86_64
/// 4 lanes, in a 256-bit vector; AVX2.
const lanes::Kernels& avx2_kernels();
/// 8 lanes, in a 512-bit vector; AVX-512F only, without IFMA.
const lanes::Kernels& avx512f_kernels();
#endif

}  // namespace manymod::radix29
