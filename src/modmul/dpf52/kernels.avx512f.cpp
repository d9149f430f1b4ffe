// SPDX-License-Identifier: Apache-2.0
// dpf52 on eight instances side by side in 512-bit vectors.
#if MANYMOD_X86_64
#include <immintrin.h>

#include "arch/memory_sanitizer.hpp"
#include "lanes/digit_loops.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/dpf52/lane_montgomery.hpp"

namespace manymod::dpf52 {
namespace {

/// The vector operations that LaneMontgomery asks of its parameter V.
struct Avx512f {
  static constexpr std::size_t kLanes = 8;
  using Real = __m512d;
  using Word = __m512i;

  static Word load(const Limb* p) { return _mm512_load_si512(p); }
  static void store(Limb* p, Word x) { _mm512_store_si512(p, x); }
  static Real load_real(const Limb* p) { return _mm512_load_pd(p); }
  static void store_real(Limb* p, Real x) { _mm512_store_pd(p, x); }
  static Word set(Limb x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  static Real set_real(double x) { return _mm512_set1_pd(x); }
  static Word add(Word x, Word y) { return _mm512_add_epi64(x, y); }
  // The unmasked intrinsic makes GCC 12 warn about the undefined pass-through operand in its own header.
  static Word shift_digit(Word x) { return _mm512_maskz_srli_epi64(0xFF, x, kDigitBits); }
  static Word mask_digit(Word x) { return _mm512_and_si512(x, set((Limb{1} << kDigitBits) - 1)); }
  static Word bits(Real x) { return _mm512_castpd_si512(x); }
  static Real to_real(Word x) { return _mm512_cvtepu64_pd(x); }
  static Real subtract(Real x, Real y) { return _mm512_sub_pd(x, y); }
#if MANYMOD_MEMORY_SANITIZER
  // MemorySanitizer treats the operands of instructions that it does not know as branch conditions, so its
  // builds use the plain fma; their test program sets rounding toward zero in MXCSR.
  static Real fma(Real x, Real y, Real z) { return _mm512_fmadd_pd(x, y, z); }
#else
  // Embedded rounding also suppresses exceptions. All other instructions used here are exact and raise none.
  static Real fma(Real x, Real y, Real z) {
    return _mm512_fmadd_round_pd(x, y, z, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
#endif
};

using Multiplier = LaneMontgomery<Avx512f>;
using Linear = lanes::DigitLoops<Avx512f, Avx512f::kLanes, kDigitBits>;

}  // namespace

const DigitKernels& avx512f_kernels() {
  static constexpr DigitKernels kKernels{
      .lanes = Linear::completed({.min_digits = kMinDigits,
                                  .max_digits = kMaxDigits,
                                  .mul = Multiplier::mul,
                                  .sqr = Multiplier::sqr,
                                  .scratch_words = Multiplier::scratch_words}),
      .split_product = Multiplier::split_product,
  };
  return kKernels;
}

}  // namespace manymod::dpf52
#endif
