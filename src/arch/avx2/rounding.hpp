// SPDX-License-Identifier: Apache-2.0
// AVX2 instructions take their rounding mode from MXCSR. For *.avx2.cpp files only.
#pragma once

#include <immintrin.h>

namespace manymod::avx2 {
namespace {

/// Calls `function` with rounding toward zero, all exceptions masked, and FTZ and DAZ off, then restores
/// MXCSR. `function` must not throw.
///
/// The compiler does not model MXCSR. Three things keep the arithmetic between the two writes of it: the
/// arithmetic is in a function of its own, the compiler cannot see which function the pointer designates, and
/// operands and results are in memory. In that function no operation has constant operands that the compiler
/// could evaluate.
template <class... Arguments>
void call_rounding_toward_zero(void (*function)(Arguments...), Arguments... arguments) {
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(_MM_ROUND_TOWARD_ZERO | _MM_MASK_MASK);
  __asm__ volatile("" : "+r"(function) : : "memory");
  function(arguments...);
  __asm__ volatile("" : : : "memory");
  _mm_setcsr(saved);
}

}  // namespace
}  // namespace manymod::avx2
