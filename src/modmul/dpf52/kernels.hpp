// SPDX-License-Identifier: Apache-2.0
// Technique dpf52 on CPUs: Montgomery arithmetic on 52-bit digits by double-precision fused multiply-add,
// rounded toward zero (Emmart, Zheng, Weems 2018). The proof of exactness is in bounds.hpp.
#pragma once

#include "lanes/kernels.hpp"

namespace manymod::dpf52 {

/// The kernels of one instruction set.
///
/// Elements have exact digits: words below 2^52. Every function works under any rounding mode, exception
/// masks, FTZ and DAZ of the caller, and leaves MXCSR, its sticky flags included, unchanged. Timing:
/// constant-time.
struct DigitKernels {
  lanes::Kernels lanes;

  /// For one vector of digits, lane by lane: high = floor(a b / 2^52), low = a b mod 2^52.
  /// On input: a, b <= 2^52; `lanes.lanes` words each, aligned to 64 bytes. On output: high <= 2^52, with
  /// equality for a = b = 2^52 only. Aliasing: high and low are distinct.
  void (*split_product)(Limb* high, Limb* low, const Limb* a, const Limb* b) = nullptr;
};

#if MANYMOD_X86_64
/// 8 lanes; AVX-512F and DQ. Rounding is embedded in each instruction; MXCSR is not touched.
const DigitKernels& avx512f_kernels();
/// 4 lanes; AVX2 and FMA. Rounding is set in MXCSR for the duration of a call.
const DigitKernels& avx2_kernels();
#endif

}  // namespace manymod::dpf52
