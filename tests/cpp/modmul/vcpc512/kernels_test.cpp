// SPDX-License-Identifier: Apache-2.0
// Tests of vcpc512 only: carries that propagate through all elements and vectors, quotients that leave a
// carry on element 0 in every round, moduli that fill the vectors, sums with a carry out.
#include "modmul/vcpc512/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/scalar/word.hpp"
#include "core/cpu_features.hpp"
#include "repr/limbs.hpp"
#include "support/aligned_words.hpp"
#include "support/naive.hpp"

#if MANYMOD_X86_64

namespace manymod::vcpc512 {
namespace {

using naive::Generator;
using naive::Limbs;
using Words = test::AlignedWords;

Words modulus_block(const Limbs& n) {
  Limbs block = n;
  block.push_back(word::negated_inverse(n[0]));
  return Words(block);
}

Limbs minus_one(Limbs n) {
  --n[0];
  return n;
}

/// The parameter is the number of 512-bit vectors V.
class Vcpc512 : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                               CpuFeature::avx512bw | CpuFeature::avx512vl;
    if ((cpu_info().features & needed) != needed) GTEST_SKIP() << "needs AVX-512F, DQ, BW and VL";
  }

  [[nodiscard]] std::size_t size() const { return GetParam() * kLimbsPerVector; }
  [[nodiscard]] Limbs ones() const { return Limbs(size(), ~Limb{0}); }

  /// The product by the kernel under test.
  [[nodiscard]] Limbs multiply(const Limbs& a, const Limbs& b, const Limbs& n) const {
    const Words r(Limbs(size(), 0xAAAA));
    avx512f_kernels().mul(r.data(), Words(a).data(), Words(b).data(), modulus_block(n).data(), size(),
                          nullptr);
    return r.limbs();
  }

  /// r R = a b mod n, r < n.
  void expect_product(const Limbs& a, const Limbs& b, const Limbs& n, const std::string& what) const {
    const Limbs r = multiply(a, b, n);
    ASSERT_EQ(limbs::less(r, n), 1U) << what;
    Limbs shifted(2 * size(), 0);
    std::copy(r.begin(), r.end(), shifted.begin() + static_cast<std::ptrdiff_t>(size()));
    ASSERT_EQ(naive::reduce(shifted, n), naive::multiply_mod(a, b, n)) << what;
  }

  /// Numbers whose sums have long carries: runs of ones, alternating elements, single bits at the ends.
  [[nodiscard]] std::vector<Limbs> patterns() const {
    Limbs low_half = ones();
    std::fill(low_half.begin() + static_cast<std::ptrdiff_t>(size() / 2), low_half.end(), 0);
    Limbs top_bit(size(), 0);
    top_bit.back() = Limb{1} << 63;
    Limbs one(size(), 0);
    one[0] = 1;
    return {Limbs(size(), 0),
            one,
            ones(),
            minus_one(ones()),
            low_half,
            top_bit,
            Limbs(size(), 0xffffffff),
            Limbs(size(), 0xffffffff00000000)};
  }
};

TEST_P(Vcpc512, CarryPatterns) {
  for (Limbs n : patterns()) {
    n[0] |= 1;
    for (const Limbs& a : patterns()) {
      for (const Limbs& b : patterns()) {
        if (limbs::less(n, b) == 0) expect_product(a, b, n, "pattern");
      }
      expect_product(a, minus_one(n), n, "n - 1");
    }
  }
}

/// With b = n the quotient is -a mod R and the sum of all rounds is n. Each digit of q can thus be chosen,
/// and the final subtraction meets equality.
TEST_P(Vcpc512, ChosenQuotients) {
  Generator generate(1);
  for (int round = 0; round < 200; ++round) {
    Limbs n = round % 3 == 0 ? ones() : generate.number(size());
    n[0] |= 1;
    const Limbs zero(size(), 0);
    for (const Limbs& a : patterns()) {
      ASSERT_EQ(multiply(a, n, n), zero) << round;
      ASSERT_EQ(multiply(n, a, n), zero) << round;
    }
  }
}

TEST_P(Vcpc512, RandomOperands) {
  Generator generate(2);
  for (int round = 0; round < 60; ++round) {
    const Limbs n = round % 4 == 0 ? ones() : generate.odd_modulus(size());
    expect_product(generate.number(size()), generate.residue(n), n, std::to_string(round));
  }
}

/// Moduli much narrower than the vectors, padded with zeros.
TEST_P(Vcpc512, NarrowModuli) {
  Generator generate(3);
  for (std::size_t limbs = 1; limbs < size(); limbs += 3) {
    Limbs n = generate.odd_modulus(limbs);
    n.resize(size(), 0);
    expect_product(generate.residue(n), generate.residue(n), n, std::to_string(limbs));
  }
}

TEST_P(Vcpc512, ResultMayOverwriteAnOperand) {
  Generator generate(4);
  const lanes::Kernels& kernels = avx512f_kernels();
  const Limbs n = generate.odd_modulus(size());
  const Limbs a = generate.residue(n);
  const Limbs b = generate.residue(n);
  const Words block = modulus_block(n);
  const Words x(a);
  const Words y(b);
  kernels.mul(x.data(), x.data(), y.data(), block.data(), size(), nullptr);
  EXPECT_EQ(x.limbs(), multiply(a, b, n));
  const Words z(a);
  kernels.mul(y.data(), z.data(), y.data(), block.data(), size(), nullptr);
  EXPECT_EQ(y.limbs(), x.limbs());
  kernels.sqr(z.data(), z.data(), block.data(), size(), nullptr);
  EXPECT_EQ(z.limbs(), multiply(a, a, n));
}

/// Sums a + b < 2 m up to the largest modulus, with sums of R or more.
TEST_P(Vcpc512, ModularSums) {
  Generator generate(5);
  for (int round = 0; round < 100; ++round) {
    const Limbs m = round % 2 == 0 ? ones() : generate.odd_modulus(size());
    Limbs a = generate.residue(m);
    Limbs b = generate.residue(m);
    if (round % 5 == 0) a = b = minus_one(m);
    Limbs wide_a = a;
    Limbs wide_b = b;
    wide_a.push_back(0);
    wide_b.push_back(0);
    Limb carry = 0;
    for (std::size_t i = 0; i <= size(); ++i) wide_a[i] = word::add_carry(wide_a[i], wide_b[i], carry);
    const Words x(a);
    const Words y(b);
    avx512f_kernels().add_mod(x.data(), x.data(), y.data(), Words(m).data(), size());
    ASSERT_EQ(x.limbs(), naive::reduce(wide_a, m)) << round;
  }
  const Limbs m = ones();
  const Words x(minus_one(m));
  Limbs one(size(), 0);
  one[0] = 1;
  avx512f_kernels().add_mod(x.data(), x.data(), Words(one).data(), Words(m).data(), size());
  EXPECT_EQ(x.limbs(), Limbs(size(), 0));
}

TEST_P(Vcpc512, SelectsEveryEntry) {
  Generator generate(6);
  constexpr std::size_t kEntries = 33;
  const Limbs table = generate.number(kEntries * size());
  const Words aligned(table);
  const Words r(Limbs(size(), 0xAAAA));
  for (std::uint32_t index = 0; index < kEntries; ++index) {
    avx512f_kernels().select(r.data(), aligned.data(), kEntries, size(), size(), &index);
    const auto first = table.begin() + static_cast<std::ptrdiff_t>(index * size());
    ASSERT_EQ(r.limbs(), Limbs(first, first + static_cast<std::ptrdiff_t>(size()))) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, Vcpc512, testing::Range<std::size_t>(1, kMaxBits / 512 + 1));

TEST(Vcpc512Shape, WidthsThatFillTheVectorsNeedNoMoreVectors) {
  const lanes::Kernels& kernels = avx512f_kernels();
  for (std::size_t bits = 512; bits <= kMaxBits; bits += 512) {
    EXPECT_EQ(kernels.digits_for(bits), bits / 64);
    EXPECT_EQ(kernels.digits_for(bits - 511), bits / 64);
  }
  EXPECT_EQ(kernels.max_digits, kMaxBits / 64);
}

}  // namespace
}  // namespace manymod::vcpc512

#endif
