// SPDX-License-Identifier: Apache-2.0
// The ifma52 kernels that spread one instance across vectors: digits of 52 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/scalar/word.hpp"
#include "core/cpu_features.hpp"
#include "modmul/ifma52/row.hpp"
#include "repr/limbs.hpp"
#include "support/aligned_words.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"

#if MANYMOD_X86_64

namespace manymod::ifma52 {
namespace {

using naive::Generator;
using naive::Limbs;
using Words = test::AlignedWords;

constexpr unsigned kBits = 52;
constexpr Limb kMask = (Limb{1} << kBits) - 1;

/// Converts digits of from_bits bits to `count` digits of to_bits bits.
Limbs regroup(const Limbs& from, unsigned from_bits, unsigned to_bits, std::size_t count) {
  Limbs to(count, 0);
  for (std::size_t bit = 0; bit < from.size() * from_bits && bit < count * to_bits; ++bit) {
    to[bit / to_bits] |= (from[bit / from_bits] >> (bit % from_bits) & 1) << (bit % to_bits);
  }
  return to;
}

/// The parameter is the number of digits L.
class Ifma52Row : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                               CpuFeature::avx512bw | CpuFeature::avx512vl | CpuFeature::avx512ifma;
    if ((cpu_info().features & needed) != needed) GTEST_SKIP() << "needs AVX-512 F, DQ, BW, VL and IFMA";
  }

  [[nodiscard]] std::size_t digits() const { return GetParam(); }
  [[nodiscard]] Limbs limbs_of(const Limbs& digits_of) const {
    return regroup(digits_of, kBits, 64, (digits() * kBits + 63) / 64);
  }

  /// A number below R / 2^headroom, of L digits that cause long carries.
  [[nodiscard]] Limbs number(Generator& generate, unsigned headroom) const {
    Limbs x(digits());
    for (Limb& digit : x) digit = generate.limb() & kMask;
    x.back() &= kMask >> headroom;
    return x;
  }

  /// An odd modulus below R / 8.
  [[nodiscard]] Limbs odd(Generator& generate) const {
    Limbs n = number(generate, 3);
    n.front() |= 1;
    if (n.back() == 0) n.back() = 1;
    return n;
  }

  /// The modulus block of n.
  [[nodiscard]] Words block(const Limbs& n) const {
    Limbs words = n;
    words.push_back(word::negated_inverse(n[0]) & kMask);
    words.resize(row_kernels().modulus_words(digits()), 0xAAAA);
    Words result(words);
    row_kernels().prepare(result.data(), digits());
    return result;
  }

  /// r R = a b mod n, r < 2 n, exact digits.
  void expect_product(const Limbs& r, const Limbs& a, const Limbs& b, const Limbs& n,
                      const std::string& what) const {
    for (const Limb digit : r) ASSERT_LE(digit, kMask) << what;
    Limbs twice = limbs_of(n);
    Limb carry = 0;
    for (Limb& limb : twice) limb = word::add_carry(limb, limb, carry);
    ASSERT_EQ(limbs::less(limbs_of(r), twice), 1U) << what;
    Limbs shifted(digits(), 0);
    shifted.insert(shifted.end(), r.begin(), r.end());
    const Limbs modulus = limbs_of(n);
    ASSERT_EQ(naive::reduce(regroup(shifted, kBits, 64, 2 * modulus.size()), modulus),
              naive::multiply_mod(limbs_of(a), limbs_of(b), modulus))
        << what;
  }

  /// The product by the kernel under test.
  [[nodiscard]] Limbs multiply(const Limbs& a, const Limbs& b, const Limbs& n) const {
    const Words r(Limbs(digits(), 0xAAAA));
    row_kernels().mul(r.data(), Words(a).data(), Words(b).data(), block(n).data(), digits(), nullptr);
    return r.limbs();
  }
};

TEST_P(Ifma52Row, RandomProducts) {
  Generator generate(1);
  for (int round = 0; round < (kBriefTests ? 12 : 40); ++round) {
    Limbs n = round % 4 == 0 ? Limbs(digits(), kMask) : odd(generate);
    n.back() &= kMask >> 3;
    const Limbs b = naive::reduce(limbs_of(number(generate, 1)), limbs_of(n));
    const Limbs b_digits = regroup(b, 64, kBits, digits());
    const Limbs a = number(generate, 1);
    expect_product(multiply(a, b_digits, n), a, b_digits, n, std::to_string(round));
    expect_product(multiply(b_digits, a, n), a, b_digits, n, std::to_string(round));
  }
}

/// Operands at the ends of their ranges: 0, n, 2 n - 1, R / 2, runs of ones.
TEST_P(Ifma52Row, EdgesOfTheRanges) {
  Generator generate(2);
  Limbs largest(digits(), kMask);
  largest.back() >>= 3;
  Limbs half(digits(), 0);
  half.back() = Limb{1} << (kBits - 1);
  Limbs tiny(digits(), 0);
  tiny.front() = 1;
  for (const Limbs& n : {largest, odd(generate), tiny}) {
    Limbs top(digits());
    Limb carry = 0;
    for (std::size_t i = 0; i < digits(); ++i) {
      const Limb doubled = 2 * n[i] + carry;
      top[i] = doubled & kMask;
      carry = doubled >> kBits;
    }
    --top[0];
    const Limbs zero(digits(), 0);
    expect_product(multiply(top, top, n), top, top, n, "(2n - 1)^2");
    expect_product(multiply(half, n, n), half, n, n, "R / 2 times n");
    expect_product(multiply(n, half, n), half, n, n, "n times R / 2");
    expect_product(multiply(zero, top, n), zero, top, n, "0");
    Limbs one(digits(), 0);
    one[0] = 1;
    expect_product(multiply(top, one, n), top, one, n, "leaving Montgomery form");
  }
}

/// With b = n the result is n. Where n has a run of zero digits, a carry must propagate through all of them.
TEST_P(Ifma52Row, CarryThroughTheResult) {
  Generator generate(5);
  for (int round = 0; round < 40; ++round) {
    Limbs n(digits(), 0);
    n.front() = (generate.limb() & kMask) | 1;
    n.back() = 1 + generate.below(Limb{1} << 48);
    const Limbs a = number(generate, 1);
    ASSERT_EQ(multiply(a, n, n), a == Limbs(digits(), 0) ? a : n) << round;
  }
}

TEST_P(Ifma52Row, ResultMayOverwriteAnOperand) {
  Generator generate(3);
  const Limbs n = odd(generate);
  const Words modulus = block(n);
  const Limbs a = regroup(naive::reduce(limbs_of(number(generate, 1)), limbs_of(n)), 64, kBits, digits());
  const Limbs b = regroup(naive::reduce(limbs_of(number(generate, 1)), limbs_of(n)), 64, kBits, digits());
  const Words x(a);
  const Words y(b);
  row_kernels().mul(x.data(), x.data(), y.data(), modulus.data(), digits(), nullptr);
  EXPECT_EQ(x.limbs(), multiply(a, b, n));
  const Words z(a);
  row_kernels().mul(y.data(), z.data(), y.data(), modulus.data(), digits(), nullptr);
  EXPECT_EQ(y.limbs(), multiply(a, b, n));
  row_kernels().sqr(z.data(), z.data(), modulus.data(), digits(), nullptr);
  EXPECT_EQ(z.limbs(), multiply(a, a, n));
}

TEST_P(Ifma52Row, SelectsEveryEntry) {
  Generator generate(4);
  constexpr std::size_t kEntries = 17;
  const Limbs table = generate.number(kEntries * digits());
  const Words aligned(table);
  const Words r(Limbs(digits() + 1, 0xAAAA));
  for (std::uint32_t index = 0; index < kEntries; ++index) {
    row_kernels().select(r.data(), aligned.data(), kEntries, digits(), digits(), &index);
    const auto first = table.begin() + static_cast<std::ptrdiff_t>(index * digits());
    Limbs expected(first, first + static_cast<std::ptrdiff_t>(digits()));
    expected.push_back(0xAAAA);
    ASSERT_EQ(r.limbs(), expected) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Digits, Ifma52Row,
                         testing::Values(4, 5, 7, 8, 9, 10, 15, 16, 17, 20, 24, 25, 30, 32, 33, 40, 41, 48,
                                         49, 56, 60, 63, 64, 65, 72, 79, 80, 81, 88, 100, 158, 160, 317,
                                         320));

}  // namespace
}  // namespace manymod::ifma52

#endif
