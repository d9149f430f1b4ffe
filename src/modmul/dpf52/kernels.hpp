// SPDX-License-Identifier: Apache-2.0
// Technique dpf52: Montgomery arithmetic on 52-bit digits by double-precision fused multiply-add, rounded
// toward zero (Emmart, Zheng, Weems 2018). The proof of exactness is in bounds.hpp.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::dpf52 {

/// One instruction set's form of the technique.
///
/// Elements are exact digits: words below 2^52. No function depends on the caller's rounding mode, exception
/// masks, FTZ or DAZ, and each leaves MXCSR as it found it, the sticky flags included.
struct DigitKernels {
  lanes::Kernels lanes;

  /// One vector of digits, lane by lane: high = floor(a b / 2^52), low = a b mod 2^52, for a, b <= 2^52 (if
  /// both are 2^52, high is 2^52). `lanes.lanes` words each, aligned to 64 bytes.
  void (*split_product)(Limb* high, Limb* low, const Limb* a, const Limb* b) = nullptr;
};

#if MANYMOD_X86_64
/// 8 lanes, AVX-512F and DQ; rounding embedded in each instruction, MXCSR is not touched.
const DigitKernels& avx512f_kernels();
/// 4 lanes, AVX2 and FMA; rounding through MXCSR.
const DigitKernels& avx2_kernels();
#endif

}  // namespace manymod::dpf52
