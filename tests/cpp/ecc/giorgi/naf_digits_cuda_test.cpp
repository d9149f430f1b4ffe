// SPDX-License-Identifier: Apache-2.0
// w-NAF digits as kernels store them: both storages hold the same digits, which have the form's properties
// and add up to the scalar.
#include "ecc/giorgi/naf_digits.cuda.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace manymod::test {
namespace {

constexpr unsigned kWords = 12, kBits = 32 * kWords;

struct Scalar {
  std::vector<std::uint32_t> words;
  std::uint32_t operator[](unsigned j) const { return j < words.size() ? words[j] : 0; }
};

std::vector<Scalar> scalars() {
  std::vector<Scalar> r{{std::vector<std::uint32_t>(kWords, 0)}, {std::vector<std::uint32_t>(kWords, ~0u)}};
  std::mt19937 generate(3);
  for (unsigned i = 0; i < 50; ++i) {
    Scalar k;
    for (unsigned j = 0; j < kWords; ++j) {
      // Long runs of ones and zeros among random words.
      k.words.push_back(generate() % 4 == 0 ? 0 - (generate() & 1) : static_cast<std::uint32_t>(generate()));
    }
    r.push_back(k);
  }
  return r;
}

/// Adds digit 2^i to a number in two's complement of kWords + 1 words.
void accumulate(std::vector<std::uint32_t>& sum, std::int32_t digit, unsigned i) {
  std::int64_t carry = static_cast<std::int64_t>(digit) * (std::int64_t{1} << (i % 32));
  for (std::size_t j = i / 32; j < sum.size(); ++j) {
    carry += sum[j];
    sum[j] = static_cast<std::uint32_t>(carry & 0xffffffff);
    carry >>= 32;
  }
}

template <unsigned kWidth>
void check() {
  for (const Scalar& k : scalars()) {
    const ecc::giorgi::NafDigits<kWords, kWidth> basic(k, kBits, false), packed(k, kBits, true);
    std::vector<std::uint32_t> sum(kWords + 1, 0);
    unsigned zeros = kWidth;  // below the next digit
    for (unsigned i = 0; i <= kBits; ++i) {
      const std::int32_t digit = basic[i];
      ASSERT_EQ(packed[i], digit) << i;
      accumulate(sum, digit, i);
      if (digit == 0) {
        ++zeros;
        continue;
      }
      ASSERT_EQ(digit & 1, 1);
      ASSERT_LT(std::abs(digit), 1 << (kWidth - 1));
      ASSERT_GE(zeros, kWidth - 1);
      zeros = 0;
    }
    std::vector<std::uint32_t> expected = k.words;
    expected.push_back(0);
    ASSERT_EQ(sum, expected);
  }
}

TEST(GiorgiNafDigits, Width2) { check<2>(); }
TEST(GiorgiNafDigits, Width3) { check<3>(); }

}  // namespace
}  // namespace manymod::test
