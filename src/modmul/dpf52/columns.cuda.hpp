// SPDX-License-Identifier: Apache-2.0
// Column sums of 52-bit products on CUDA devices. The lemmas are those of modmul/dpf52/bounds.hpp.
//
// A product costs two DFMA, one DADD and one 64-bit addition of three operands (IADD3 and IADD3.X), since the
// low product of a column and the high product of the column below are added in one instruction. An H200
// issues at most 64 FP64 instructions, 64 integer additions and 128 instructions in all per clock and
// multiprocessor. A product takes 3, 2 and 5 of these, so the bound is 21.3 products per clock.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>

#include "arch/cuda/doubles.cuda.hpp"
#include "modmul/dpf52/bounds.hpp"
#include "repr/verify.hpp"

namespace manymod::dpf52 {

static_assert(kDigitBits == cuda::kFractionBits);
inline constexpr std::uint64_t kDigitMask = cuda::kFractionMask;

/// The bit patterns of a high and a low product as doubles, exponents included.
struct ProductPatterns {
  std::uint64_t high;
  std::uint64_t low;
};

/// Range checks of VERIFY builds, on the host only.
#if MANYMOD_VERIFY && !defined(__CUDACC__)
#define MM_DPF52_VERIFY(condition) MANYMOD_VERIFY_RANGE(condition)
#else
#define MM_DPF52_VERIFY(condition) static_cast<void>(0)
#endif

/// The double 2^104 + 2^52 floor(a b / 2^52) (Lemma 1). On input: integers, 0 <= a, b <= 2^52.
MM_DEVICE double high_product(double a, double b) {
  MM_DPF52_VERIFY(satisfies_bounds(a, b));
  return cuda::fma_toward_zero(a, b, 0x1p104);
}

/// The patterns 0x467 2^52 + floor(a b / 2^52) and 0x433 2^52 + (a b mod 2^52) (Lemmas 1 and 2). On input:
/// integers, 0 <= a, b <= 2^52.
MM_DEVICE ProductPatterns product(double a, double b) {
  const double high = high_product(a, b);
  const double low = cuda::fma_toward_zero(a, b, cuda::subtract_exact(0x1p104 + 0x1p52, high));
  return {cuda::pattern(high), cuda::pattern(low)};
}

/// The initial value of a column that will take `high` high and `low` low products: with it, the exponents in
/// the patterns cancel and the column ends as the plain sum (Lemma 3).
MM_DEVICE constexpr std::uint64_t initial_value(std::uint64_t high, std::uint64_t low) {
  return 0 - ((high * 0x467 + low * 0x433) << kDigitBits);
}

/// sum += y (v[first] 2^(52 first) + .. + v[last-1] 2^(52 (last-1))), where sum[j] has weight 2^(52 j).
/// Patterns are added with their exponents: one low product to each of sum[first .. last - 1], one high
/// product to each of sum[first + 1 .. last].
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

/// The quotient digits of a Montgomery reduction modulo an odd n: q = t k0 mod 2^52 with t = column mod 2^52,
/// k0 = -1/n mod 2^52.
///
/// t is not converted to a double. The double x = 2^52 + t has the bit pattern 0x433 2^52 + t. With the
/// double c = 2^104 - 2^52 k0, x k0 + c = 2^104 + t k0, so p = fma(x, k0, c) = 2^104 + 2^52 H with H =
/// floor(t k0 / 2^52), by Lemma 1. Then c - p = -2^52 (k0 + H) is a double, since k0 + H < 2^53, and x k0 +
/// (c - p) = t k0 - 2^52 H = q.
class QuotientDigits {
 public:
  /// On input: n odd; only n mod 2^52 matters.
  MM_DEVICE explicit QuotientDigits(std::uint64_t n) {
    // Newton's iteration for -1/n; the number of correct low bits starts at 3 and doubles in each step: 6,
    // 12, 24, 48, 96.
    std::uint64_t x = 0 - n;
    MM_UNROLL
    for (unsigned i = 0; i < 5; ++i) x *= 2 + n * x;
    k0_ = cuda::fraction_to_double(x);
    // 2^52's high word, in a form that the compiler cannot fold into a constant.
    two52_high_ = cuda::kHighPatternOfTwo52 * static_cast<std::uint32_t>(n & 1);
    const double two52 = cuda::from_pattern(std::uint64_t{two52_high_} << 32);
    c_ = cuda::fma_toward_zero(two52, cuda::subtract_exact(two52, k0_), 0);
  }

  /// q. On input: a column, to which any multiple of 2^52, such as the exponents, may have been added.
  MM_DEVICE double of(std::uint64_t column) const {
    const double x = cuda::fraction_plus_two52(column, two52_high_);
    const double high = cuda::fma_toward_zero(x, k0_, c_);
    return cuda::fma_toward_zero(x, k0_, cuda::subtract_exact(c_, high));
  }

  /// The high word of the double 2^52, for cuda::fraction_to_double.
  MM_DEVICE std::uint32_t two52_high() const { return two52_high_; }

 private:
  double k0_;
  double c_;
  std::uint32_t two52_high_;
};

}  // namespace manymod::dpf52
