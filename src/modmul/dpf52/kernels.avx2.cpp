// SPDX-License-Identifier: Apache-2.0
// dpf52 on four instances side by side in 256-bit vectors.
#if MANYMOD_X86_64
#include <immintrin.h>

#include "arch/avx2/rounding.hpp"
#include "lanes/digit_loops.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/dpf52/lane_montgomery.hpp"

namespace manymod::dpf52 {
namespace {

/// The vector operations that LaneMontgomery asks of its parameter V.
struct Avx2 {
  static constexpr std::size_t kLanes = 4;
  using Real = __m256d;
  using Word = __m256i;

  static Word load(const Limb* p) { return _mm256_load_si256(reinterpret_cast<const Word*>(p)); }
  static void store(Limb* p, Word x) { _mm256_store_si256(reinterpret_cast<Word*>(p), x); }
  static Real load_real(const Limb* p) { return _mm256_castsi256_pd(load(p)); }
  static void store_real(Limb* p, Real x) { store(p, bits(x)); }
  static Word set(Limb x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  static Real set_real(double x) { return _mm256_set1_pd(x); }
  static Word add(Word x, Word y) { return _mm256_add_epi64(x, y); }
  static Word shift_digit(Word x) { return _mm256_srli_epi64(x, kDigitBits); }
  static Word mask_digit(Word x) { return _mm256_and_si256(x, set((Limb{1} << kDigitBits) - 1)); }
  static Word bits(Real x) { return _mm256_castpd_si256(x); }
  // x + 0x433 2^52 is the bit pattern of 2^52 + x, also for x = 2^52, where the carry runs into the exponent.
  static Real to_real(Word x) {
    return subtract(_mm256_castsi256_pd(add(x, set(Limb{0x433} << kDigitBits))), set_real(0x1p52));
  }
  static Real subtract(Real x, Real y) { return _mm256_sub_pd(x, y); }
  static Real fma(Real x, Real y, Real z) { return _mm256_fmadd_pd(x, y, z); }
};

using Multiplier = LaneMontgomery<Avx2>;
using Linear = lanes::DigitLoops<Avx2, Avx2::kLanes, kDigitBits>;

// DigitKernels' functions: those of LaneMontgomery, with rounding toward zero in force.
void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits, Limb* scratch) {
  avx2::call_rounding_toward_zero(Multiplier::mul, r, a, b, modulus, digits, scratch);
}

void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
  avx2::call_rounding_toward_zero(Multiplier::sqr, r, a, modulus, digits, scratch);
}

void split_product(Limb* high, Limb* low, const Limb* a, const Limb* b) {
  avx2::call_rounding_toward_zero(Multiplier::split_product, high, low, a, b);
}

}  // namespace

const DigitKernels& avx2_kernels() {
  static constexpr DigitKernels kKernels{
      .lanes = Linear::completed({.min_digits = kMinDigits,
                                  .max_digits = kMaxDigits,
                                  .mul = mul,
                                  .sqr = sqr,
                                  .scratch_words = Multiplier::scratch_words}),
      .split_product = split_product,
  };
  return kKernels;
}

}  // namespace manymod::dpf52
#endif
