// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "modmul/rns/byte_matrix.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

class RnsConstantsOfAllWidths : public testing::TestWithParam<unsigned> {};

TEST_P(RnsConstantsOfAllWidths, ChannelsAreDistinctPrimesInRange) {
  const Moduli moduli(GetParam());
  std::vector<std::uint64_t> all = moduli.b;
  all.insert(all.end(), moduli.a.begin(), moduli.a.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_LT(all.back(), (std::uint64_t{1} << 31) - (1 << 17));
  for (const std::uint64_t m : all) {
    for (std::uint64_t d = 2; d * d <= m; ++d) ASSERT_NE(m % d, 0u);
  }
}

TEST_P(RnsConstantsOfAllWidths, ChannelsOfTheBases) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    const Channel in_b = block.b(i);
    const Channel in_a = block.a(i);
    ASSERT_EQ(in_b.modulus, moduli.b[i]);
    ASSERT_EQ(in_a.modulus, moduli.a[i]);
    ASSERT_EQ(in_b.modulus * in_b.negative_inverse, ~0u);
    ASSERT_EQ(in_a.modulus * in_a.negative_inverse, ~0u);
    const std::uint64_t radix = std::uint64_t{1} << 32;
    const std::uint64_t cofactor = Moduli::product_mod_m(moduli.b, in_b.modulus, i);
    EXPECT_EQ(in_b.to_coordinate, 0u);
    EXPECT_EQ(in_b.set_up,
              in_b.modulus - product_mod(radix, inverse_mod(cofactor, in_b.modulus), in_b.modulus));
    const std::uint64_t kappa = moduli.kappa(i);
    EXPECT_EQ(in_a.set_up, product_mod(kappa, radix, in_a.modulus));
    const std::uint64_t divisor =
        product_mod(kappa, Moduli::product_mod_m(moduli.a, in_a.modulus, i), in_a.modulus);
    EXPECT_EQ(in_a.to_coordinate, product_mod(radix, inverse_mod(divisor, in_a.modulus), in_a.modulus));
  }
}

/// Every entry of `matrix` from `source` to `target`, times `scales`; words behind the rank are 0.
void expect_extension(const MatrixView& matrix, bool balanced, const std::vector<std::uint64_t>& source,
                      const std::vector<std::uint64_t>& target, const std::vector<std::uint64_t>& scales) {
  for (unsigned i = 0; i < target.size(); ++i) {
    const std::uint64_t m = target[i];
    for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
      std::uint64_t expected = 0;
      if (v < source.size()) expected = product_mod(Moduli::product_mod_m(source, m, v), scales[i], m);
      if (v == source.size()) expected = product_mod(m - Moduli::product_mod_m(source, m), scales[i], m);
      for (unsigned p = 0; p < 4; ++p, expected = expected * 256 % m) {
        const std::uint64_t more = balanced && expected % 0x10000 >= 0xC000 ? m : 0;
        ASSERT_EQ(matrix.entry(v, p, i), expected + more) << v << ' ' << p << ' ' << i;
      }
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, ExtensionMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const bool balanced = bases_of(GetParam()).balanced;
  const std::vector<std::uint64_t> scales(block.sizes.channels(), std::uint64_t{1} << 32);
  expect_extension(block.to_a(), balanced, moduli.b, moduli.a, scales);
  expect_extension(block.to_b(), balanced, moduli.a, moduli.b, scales);
}

TEST_P(RnsConstantsOfAllWidths, InputMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const auto expect = [&](const MatrixView& matrix, std::uint64_t m, unsigned target, std::uint64_t scale) {
    std::uint64_t expected = product_mod(scale, std::uint64_t{1} << 32, m);
    for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
      for (unsigned p = 0; p < 4; ++p, expected = expected * 256 % m) {
        ASSERT_EQ(matrix.entry(v, p, target), v < block.sizes.words ? expected : 0);
      }
    }
  };
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    expect(block.into_b(), moduli.b[i], i, 1);
    expect(block.into_a(), moduli.a[i], i, moduli.kappa(i));
  }
}

TEST_P(RnsConstantsOfAllWidths, OutputMatrix) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const MatrixView out = block.out();
  const unsigned bytes = 16 * block.sizes.output_fours();
  for (unsigned v = 0; v < 8 * out.shape.steps; ++v) {
    Digits x(1, 0);
    if (v < moduli.a.size()) x = Moduli::product(moduli.a, v);
    if (v == moduli.a.size()) {
      x = Moduli::product(moduli.a);
      x.resize(bytes / 4, 0);
      std::uint64_t carry = 1;
      for (std::uint32_t& digit : x) {
        carry += ~digit;
        digit = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    x.resize(std::max<std::size_t>(x.size(), bytes / 4), 0);
    for (unsigned p = 0; p < 4; ++p) {
      for (unsigned i = 0; i < bytes; ++i) {
        const std::uint32_t expected = i < p ? 0 : x[(i - p) / 4] >> 8 * ((i - p) % 4) & 255;
        ASSERT_EQ(out.digit(v, p, i / 4, i % 4), expected) << v << ' ' << p << ' ' << i;
      }
    }
  }
}

/// The largest S_0 + 2^8 S_1 or S_2 + 2^8 S_3, for the largest bytes of each word.
std::uint64_t largest_pair(const MatrixView& matrix, unsigned full_words, std::uint32_t largest_rank) {
  std::uint64_t largest = 0;
  for (unsigned target = 0; target < 4 * matrix.shape.target_fours; ++target) {
    for (unsigned pair = 0; pair < 4; pair += 2) {
      std::uint64_t sum = 0;
      for (unsigned v = 0; v <= full_words && v < 8 * matrix.shape.steps; ++v) {
        for (unsigned p = 0; p < 4; ++p) {
          const std::uint64_t byte = v < full_words ? 255 : std::min(largest_rank >> 8 * p, 255u);
          sum += byte * (matrix.digit(v, p, target, pair) + 256 * matrix.digit(v, p, target, pair + 1));
        }
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

TEST_P(RnsConstantsOfAllWidths, SumsThatRecombineIn32Bits) {
  const Block block(GetParam());
  const BasePair& pair = bases_of(GetParam());
  const unsigned n = block.sizes.channels();
  const std::uint64_t to_a = largest_pair(block.to_a(), n, pair.largest_rank_b);
  const std::uint64_t to_b = largest_pair(block.to_b(), n, pair.largest_rank_a);
  EXPECT_EQ(recombines_in_32_bits(GetParam()), std::max(to_a, to_b) >> 32 == 0);
  const std::uint64_t into_b = largest_pair(block.into_b(), block.sizes.words, 0);
  const std::uint64_t into_a = largest_pair(block.into_a(), block.sizes.words, 0);
  EXPECT_EQ(input_recombines_in_32_bits(GetParam()), std::max(into_a, into_b) >> 32 == 0);
  EXPECT_EQ(output_recombines_in_32_bits(GetParam()),
            largest_pair(block.out(), n, pair.largest_rank_a) >> 32 == 0);
}

TEST_P(RnsConstantsOfAllWidths, RanksAreAtMostTheLargest) {
  const Moduli moduli(GetParam());
  const BasePair& pair = bases_of(GetParam());
  const auto largest = [](const std::vector<std::uint64_t>& base, std::uint32_t offset) {
    std::vector<std::uint32_t> xi;
    for (const std::uint64_t m : base) xi.push_back(static_cast<std::uint32_t>(2 * m - 1));
    return with_rank(xi, offset).back();
  };
  EXPECT_EQ(largest(moduli.b, 0), pair.largest_rank_b);
  EXPECT_EQ(largest(moduli.a, kOffsetOfA), pair.largest_rank_a);
}

TEST_P(RnsConstantsOfAllWidths, SquaredRadix) {
  const Digits radix = Moduli::product(Moduli(GetParam()).b);
  Digits expected = naive::multiply(radix, radix);
  while (expected.back() == 0) expected.pop_back();
  EXPECT_EQ(squared_radix(GetParam()), expected);
}

TEST(RnsConstants, UnknownWidthsAreRefused) {
  for (const unsigned bits : {0u, 511u, 1000u, 16384u})
    EXPECT_THROW(base_constants(bits), std::invalid_argument);
  EXPECT_THROW(modulus_constants(512, Limbs(9, 1)), std::invalid_argument);
}

/// Of IEEE 802.3.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t r = ~0u;
  for (const std::byte byte : bytes) {
    r ^= std::to_integer<std::uint32_t>(byte);
    for (unsigned bit = 0; bit < 8; ++bit) r = r >> 1 ^ (0xedb88320u & (0 - (r & 1)));
  }
  return ~r;
}

struct Checksum {
  unsigned bits;
  unsigned less;  ///< the shared modulus is 2^bits less that; 0: none is shared
  std::uint32_t crc;
};

/// Of reference/rns_layout.py; tests/python/test_reference_rns_tensor.py computes them.
constexpr Checksum kChecksums[] = {
    {512, 0, 0x1327ebe5u},  {512, 5, 0x02978400u},  {1024, 0, 0xaf1024b3u},
    {1024, 5, 0x3e3ae893u}, {4096, 0, 0xd1d8a4fau}, {4096, 5, 0x168b0edfu},
};

TEST(RnsConstants, BytesOfTheReference) {
  for (const Checksum& row : kChecksums) {
    Limbs n(row.bits / 64, ~Limb{0});
    n[0] -= row.less - 1;
    const std::vector<std::byte> block =
        row.less == 0 ? base_constants(row.bits) : modulus_constants(row.bits, n);
    EXPECT_EQ(crc32(block), row.crc) << row.bits << ' ' << row.less;
  }
}

TEST_P(RnsConstantsOfAllWidths, SharedModulusDiffersInItsPartsOnly) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  Generator draw(74);
  const Limbs n = draw.odd_modulus(GetParam() / 64);
  const Block of_n(GetParam(), modulus_constants(GetParam(), n));
  ASSERT_EQ(of_n.bytes.size(), block.bytes.size());
  std::vector<std::uint64_t> scales;
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    const std::uint64_t m = moduli.a[i];
    const std::uint64_t k = moduli.kappa(i);
    scales.push_back(product_mod(product_mod(remainder_of(naive::digits(n), m), k, m), k, m));
    const Channel b = of_n.b(i);
    const std::uint64_t divisor = product_mod(remainder_of(naive::digits(n), b.modulus),
                                              Moduli::product_mod_m(moduli.b, b.modulus, i), b.modulus);
    const std::uint64_t inverse = inverse_mod(divisor, b.modulus);
    EXPECT_EQ(b.to_coordinate, b.modulus - product_mod(power_mod(2, 64, b.modulus), inverse, b.modulus));
    EXPECT_EQ(b.set_up, block.b(i).set_up);
    EXPECT_EQ(of_n.a(i).to_coordinate, block.a(i).to_coordinate);
  }
  expect_extension(of_n.to_a(), bases_of(GetParam()).balanced, moduli.b, moduli.a, scales);
  EXPECT_TRUE(std::equal(of_n.bytes.begin() + static_cast<std::ptrdiff_t>(block.sizes.to_b()),
                         of_n.bytes.end(),
                         block.bytes.begin() + static_cast<std::ptrdiff_t>(block.sizes.to_b())));
}

TEST_P(RnsConstantsOfAllWidths, ModuliThatAreNotPrimeToBAreRefused) {
  const std::size_t limbs = GetParam() / 64;
  const Moduli moduli(GetParam());
  Generator draw(75);
  EXPECT_TRUE(modulus_constants(GetParam(), Limbs(limbs, 0)).empty());
  EXPECT_TRUE(modulus_constants(GetParam(), Limbs()).empty());
  for (const std::size_t j : {std::size_t{0}, std::size_t{1}, moduli.b.size() - 1}) {
    Digits factor = naive::digits(draw.odd_modulus(limbs));
    factor.pop_back();
    const auto times = [&](std::uint64_t m) {
      return naive::limbs(naive::multiply(factor, {static_cast<std::uint32_t>(m)}), limbs);
    };
    EXPECT_TRUE(modulus_constants(GetParam(), times(moduli.b[j])).empty());
    EXPECT_TRUE(modulus_constants(GetParam(), Limbs{moduli.b[j]}).empty());
    EXPECT_FALSE(modulus_constants(GetParam(), times(moduli.a[j])).empty());
  }
  EXPECT_FALSE(modulus_constants(GetParam(), Limbs{1}).empty());
}

/// 65537 times 65535 is 2^32 - 1.
TEST(RnsConstants, PairSumsThatJustFit) {
  for (const std::uint32_t entry : {0x0000ffffu, 0xffff0000u}) {
    PairSums sums;
    for (unsigned word = 0; word < 64; ++word) sums.add({entry, entry, entry, entry}, kAnyBytes);
    sums.add({entry, entry, entry, entry}, largest_bytes(0x0100));
    EXPECT_EQ(sums.excess(), 0u);
    sums.add({entry, entry, entry, entry}, largest_bytes(1));
    EXPECT_EQ(sums.excess(), 0u);
    sums.add({1, 0, 0, 0}, largest_bytes(1));
    sums.add({0x10000, 0, 0, 0}, largest_bytes(1));
    EXPECT_NE(sums.excess(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsConstantsOfAllWidths,
                         testing::Values(512, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
