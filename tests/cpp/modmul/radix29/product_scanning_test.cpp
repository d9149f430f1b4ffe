// SPDX-License-Identifier: Apache-2.0
// radix29 at its column bound: for every number of digits, a product whose columns are as large as possible.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "core/cpu_features.hpp"
#include "dispatch/registry.hpp"
#include "modmul/radix29/column_bounds.hpp"
#include "modmul/radix29/kernels.hpp"

#if MANYMOD_X86_64

namespace manymod {
namespace {

using radix29::kDigitBits;
using radix29::kDigitMask;

struct Free {
  void operator()(Limb* words) const { std::free(words); }
};
using Words = std::unique_ptr<Limb[], Free>;

Words aligned_words(std::size_t count) {
  constexpr std::size_t kLine = 64;
  const std::size_t bytes = (count * sizeof(Limb) + kLine - 1) / kLine * kLine;
  return Words(static_cast<Limb*>(std::aligned_alloc(kLine, bytes)));
}

/// Digit `index` of 2^exponent - delta. On input: delta = 0, or 0 < delta < 2^w <= 2^exponent.
Limb digit_of_power(std::size_t exponent, Limb delta, std::size_t index) {
  const std::size_t low = index * kDigitBits;
  if (delta == 0) return exponent / kDigitBits == index ? Limb{1} << exponent % kDigitBits : 0;
  const Limb ones = exponent >= low + kDigitBits ? kDigitMask
                    : exponent > low             ? (Limb{1} << (exponent - low)) - 1
                                                 : 0;
  return index == 0 ? ones + 1 - delta : ones;
}

/// Products with the largest columns, for L >= 2 digits. n = 2^m - 1 with m = w L - 2, so R = 4 mod n and k0
/// = 1. a = 2 n - 1 = -1 mod n, whose digits are all ones except the first and the last. a^2 / R = 1/4 =
/// 2^(m-2) mod n; the result may be one n larger.
void check_fullest_columns(const lanes::Kernels& kernels, std::size_t digits) {
  const std::size_t lanes = kernels.lanes;
  const std::size_t m = kDigitBits * digits - radix29::kHeadroomBits;
  const Words a = aligned_words(digits * lanes);
  const Words r = aligned_words(digits * lanes);
  const Words modulus = aligned_words((digits + 1) * lanes);
  const Words scratch = aligned_words(kernels.scratch_words(digits));
  for (std::size_t word = 0; word < digits * lanes; ++word) {
    modulus[word] = digit_of_power(m, 1, word / lanes);
    a[word] = digit_of_power(m + 1, 3, word / lanes);
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) modulus[digits * lanes + lane] = 1;

  const auto expect_quarter = [&] {
    // 2^(m-2) + n = 2^m + 2^(m-2) - 1. Its digit 0 is odd and that of 2^(m-2) is even, where m - 2 >= w.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      Limb carry = 0;
      const bool one_more = (r[lane] & 1) != 0;
      for (std::size_t d = 0; d < digits; ++d) {
        const Limb sum = digit_of_power(m - 2, 0, d) + (one_more ? digit_of_power(m, 1, d) : 0) + carry;
        ASSERT_EQ(r[d * lanes + lane], sum & kDigitMask)
            << digits << " digits, lane " << lane << ", digit " << d;
        carry = sum >> kDigitBits;
      }
    }
  };
  kernels.mul(r.get(), a.get(), a.get(), modulus.get(), digits, scratch.get());
  expect_quarter();
  kernels.sqr(r.get(), a.get(), modulus.get(), digits, scratch.get());
  expect_quarter();
}

void check_all_lengths(const lanes::Kernels& kernels) {
  ASSERT_GE(kernels.max_digits, kernels.digits_for(kMaxModulusBits));
  for (std::size_t digits = 2; digits <= kernels.max_digits; digits += digits < 150 ? 1 : 13) {
    check_fullest_columns(kernels, digits);
  }
  check_fullest_columns(kernels, kernels.max_digits);
}

TEST(Radix29, FullestColumnsAvx2) {
  const CpuFeatures needed = CpuFeature::avx2 | CpuFeature::fma | CpuFeature::bmi2;
  if ((cpu_info().features & needed) != needed) GTEST_SKIP() << "this processor has no AVX2";
  check_all_lengths(radix29::avx2_kernels());
}

TEST(Radix29, FullestColumnsAvx512f) {
  const CpuFeatures needed = CpuFeature::avx512f | CpuFeature::avx512dq | CpuFeature::avx512bw |
                             CpuFeature::avx512vl | CpuFeature::bmi2;
  if ((cpu_info().features & needed) != needed) GTEST_SKIP() << "this processor has no AVX-512F, DQ, BW, VL";
  check_all_lengths(radix29::avx512f_kernels());
}

}  // namespace
}  // namespace manymod

#endif
