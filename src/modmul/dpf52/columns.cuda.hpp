// SPDX-License-Identifier: Apache-2.0
// Column sums of 52-bit products on CUDA devices. The lemmas are those of modmul/dpf52/bounds.hpp.
//
// A product costs two DFMA, one DADD and one 64-bit addition of three operands (IADD3 and IADD3.X): the low
// product of a column and the high product of the column below are added together. Of an H200's limits for
// each clock of a multiprocessor, 64 for FP64, 64 for integer additions and 128 for issue, that uses 3, 2 and
// 5: at most 21.3 products.
#pragma once

#include <cstdint>

#include "arch/cuda/doubles.cuda.hpp"
#include "modmul/dpf52/bounds.hpp"
#include "repr/verify.hpp"

namespace manymod::dpf52 {

static_assert(kDigitBits == cuda::kFractionBits);
inline constexpr std::uint64_t kDigitMask = cuda::kFractionMask;

/// Bit patterns of a high and a low product, exponents included.
struct ProductPatterns {
  std::uint64_t high;
  std::uint64_t low;
};

/// What a range check of VERIFY builds tests, on the host.
#if MANYMOD_VERIFY && !defined(__CUDACC__)
#define MM_DPF52_VERIFY(condition) MANYMOD_VERIFY_RANGE(condition)
#else
#define MM_DPF52_VERIFY(condition) static_cast<void>(0)
#endif

/// Lemma 1. In: integers, 0 <= a, b <= 2^52
MM_DEVICE double high_product(double a, double b) {
  MM_DPF52_VERIFY(satisfies_bounds(a, b));
  return cuda::fma_toward_zero(a, b, 0x1p104);
}

/// Lemmas 1 and 2. In: integers, 0 <= a, b <= 2^52
MM_DEVICE ProductPatterns product(double a, double b) {
  const double high = high_product(a, b);
  const double low = cuda::fma_toward_zero(a, b, cuda::subtract_exact(0x1p104 + 0x1p52, high));
  return {cuda::pattern(high), cuda::pattern(low)};
}

/// What a column has to start from to end as the sum of its products, `high` and `low` of them (Lemma 3).
MM_DEVICE constexpr std::uint64_t initial_value(std::uint64_t high, std::uint64_t low) {
  return 0 - ((high * 0x467 + low * 0x433) << kDigitBits);
}

/// sum += y (v_first 2^(52 first) + .. + v_(last-1) 2^(52 (last-1))), column j standing at sum[j].
MM_DEVICE void add_products(std::uint64_t* sum, const double* v, double y, unsigned first, unsigned last) {
  std::uint64_t high = 0;
  MM_UNROLL
  for (unsigned j = first; j < last; ++j) {
    const ProductPatterns p = product(v[j], y);
    sum[j] += high + p.low;
    high = p.high;
  }
  if (first < last) sum[last] += high;
}

/// Montgomery's quotient digits modulo an odd n.
///
/// q = t k0 mod 2^52 for t = column mod 2^52, k0 = -1/n mod 2^52, without a conversion of t: x = 2^52 + t is
/// a bit pattern, and with c = 2^104 - 2^52 k0, a double, x k0 + c = 2^104 + t k0. Lemma 1 gives p = 2^104 +
/// 2^52 H for fma(x, k0, c). c - p = -2^52 (k0 + H), k0 + H < 2^53, is a double, and so is x k0 + (c - p) = t
/// k0 - 2^52 H = q.
class QuotientDigits {
 public:
  /// `n`: two 32-bit words, {high, low}; odd
  MM_DEVICE explicit QuotientDigits(std::uint64_t n) {
    // Newton's iteration for -1/n from three right bits: 3, 6, 12, 24, 48, 96.
    std::uint64_t x = 0 - n;
    MM_UNROLL
    for (unsigned i = 0; i < 5; ++i) x *= 2 + n * x;
    k0_ = cuda::fraction_to_double(x);
    two52_high_ = cuda::kHighPatternOfTwo52 *
                  static_cast<std::uint32_t>(n & 1);  // a constant that compilers do not see
    const double two52 = cuda::from_pattern(std::uint64_t{two52_high_} << 32);
    c_ = cuda::fma_toward_zero(two52, cuda::subtract_exact(two52, k0_), 0);
  }

  /// For a column and any multiple of 2^52, such as its exponents.
  MM_DEVICE double of(std::uint64_t column) const {
    const double x = cuda::fraction_plus_two52(column, two52_high_);
    const double high = cuda::fma_toward_zero(x, k0_, c_);
    return cuda::fma_toward_zero(x, k0_, cuda::subtract_exact(c_, high));
  }

  MM_DEVICE std::uint32_t two52_high() const { return two52_high_; }

 private:
  double k0_;
  double c_;
  std::uint32_t two52_high_;
};

}  // namespace manymod::dpf52
