// SPDX-License-Identifier: Apache-2.0
// Ranges of remainders and ranks: what the constants of residue number systems guarantee for the largest
// operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "modmul/rns/channel_field.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Limbs;

class RnsRanges : public testing::TestWithParam<unsigned> {};

/// An operand as large as it can be: words, then the rank.
struct LargestOperand {
  unsigned words;
  std::uint32_t word;
  unsigned rank_word;  ///< after the words
  std::uint32_t rank;

  [[nodiscard]] std::uint32_t byte(unsigned v, unsigned p) const {
    if (v < words) return byte_of(word, p);
    // Bytes below the top byte of the rank may have any value.
    return v == rank_word ? std::min(rank >> 8 * p, 255u) : 0;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (unsigned v = 0; v <= rank_word; ++v) {
      for (unsigned p = 0; p < 4; ++p) sum += byte(v, p);
    }
    return sum;
  }
};

/// Of a number in words of radix 2^32.
LargestOperand largest_number(const ConstantsLayout& sizes) { return {sizes.words, ~0u, sizes.words, 0}; }

/// Of coordinates in B, which are at most 2 m.
LargestOperand largest_coordinates(const Moduli& moduli, const ConstantsLayout& sizes) {
  std::vector<std::uint32_t> xi;
  for (const std::uint64_t m : moduli.b) xi.push_back(static_cast<std::uint32_t>(2 * m));
  return {sizes.channels, ~0u, sizes.rank_word(), with_rank(xi, sizes).back()};
}

/// Of residues in A, which are below 2^31, for either instance of a thread quad.
LargestOperand largest_residues(const Block& block) {
  const unsigned n = block.sizes.channels;
  const std::vector<std::uint32_t> most(n, 0x7fffffff);
  const std::uint32_t rank = std::max(with_rank(most, block, 0).back(), with_rank(most, block, 1).back());
  return {n, most[0], block.sizes.rank_word(), rank};
}

/// The largest sums S_b of an operand for one target, and the largest Q of its remainder.
struct LargestSums {
  std::uint64_t sum[4] = {};

  LargestSums(const MatrixView& matrix, unsigned target, const LargestOperand& operand) {
    for (unsigned v = 0; v <= operand.rank_word && v < 8 * matrix.shape.steps; ++v) {
      for (unsigned p = 0; p < 4; ++p) {
        for (unsigned b = 0; b < 4; ++b) sum[b] += operand.byte(v, p) * matrix.digit(v, p, target, b);
      }
    }
  }
  /// Q = S_2 + 2^8 S_3 + floor(S_1 / 2^8).
  [[nodiscard]] std::uint64_t high() const { return sum[2] + (sum[3] << 8) + (sum[1] >> 8); }
};

constexpr std::uint64_t kHalfRadix = std::uint64_t{1} << 31;

/// The largest remainder for S_0 <= low and Q <= high.
std::uint64_t largest_remainder(std::uint64_t low, std::uint64_t high, std::uint64_t m) {
  return kHalfRadix - (1 << 8) + low + (high >> 15) * (kHalfRadix - m);
}

/// Expects remainders to be at most 2 m - 2^8.
void expect_range_of_remainder(std::uint64_t low, std::uint64_t high, std::uint64_t m) {
  ASSERT_LE(largest_remainder(low, high, m), 2 * m - (1 << 8)) << m;
}

TEST_P(RnsRanges, RemaindersAreInRange) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const unsigned n = block.sizes.channels;
  const LargestOperand number = largest_number(block.sizes), of_b = largest_coordinates(moduli, block.sizes),
                       of_a = largest_residues(block);
  EXPECT_LT(of_b.rank, 1u << 16);
  EXPECT_LE(of_a.rank, 892 * n);
  const bool narrow = Form{.channels = n, .words = block.sizes.words}.narrow_sums();
  const auto expect = [&](const MatrixView& matrix, const std::vector<std::uint64_t>& target,
                          const LargestOperand& operand, bool extension) {
    for (unsigned i = 0; i < n; ++i) {
      const LargestSums most(matrix, i, operand);
      for (const std::uint64_t sum : most.sum) ASSERT_LT(sum, kHalfRadix);
      expect_range_of_remainder(most.sum[0], most.high(), target[i]);
      ASSERT_TRUE(most.high() >> 32 == 0 || !(narrow && extension));
    }
  };
  expect(block.b_to_a(), moduli.a, of_b, true);
  expect(block.a_to_b(), moduli.b, of_a, true);
  expect(block.words_to_a(), moduli.a, number, false);
  expect(block.words_to_b(), moduli.b, number, false);
}

/// For a modulus, entries may be any residues below m: T < m times the sum of the operand's bytes.
TEST_P(RnsRanges, RemaindersAreInRangeForAnyModulus) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const std::uint64_t of_b = largest_coordinates(moduli, block.sizes).bytes(),
                      of_a = largest_residues(block).bytes();
  const auto expect = [](const std::vector<std::uint64_t>& target, std::uint64_t bytes) {
    for (const std::uint64_t m : target) expect_range_of_remainder(255 * bytes, bytes * (m - 1) >> 16, m);
  };
  expect(moduli.a, of_b);
  // Matrices into B depend on a modulus if there are roots. Numbers may have more bytes than residues.
  const std::uint64_t of_numbers = largest_number(block.sizes).bytes();
  if (block.sizes.has_roots()) expect(moduli.b, std::max(of_a, of_numbers));
  const Form form{.channels = block.sizes.channels, .words = block.sizes.words};
  EXPECT_LE(of_a, of_b);
  EXPECT_EQ(form.narrow_sums(), of_b <= std::uint64_t{1} << 17);
}

/// B is lazy exactly where products of two remainders are at most 2^32 m.
TEST_P(RnsRanges, LazyRemaindersWhereTheirProductsAreInRange) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const LargestOperand operand = largest_residues(block);
  const std::uint64_t bytes = operand.bytes();
  bool known = true, any = true;
  for (unsigned j = 0; j < moduli.b.size(); ++j) {
    const std::uint64_t m = moduli.b[j];
    const auto is_in_range = [m](std::uint64_t v) { return v < 2 * m && v * v <= m << 32; };
    const LargestSums sums(block.a_to_b(), j, operand);
    known = known && is_in_range(largest_remainder(sums.sum[0], sums.high(), m));
    any = any && is_in_range(largest_remainder(255 * bytes, bytes * (m - 1) >> 16, m));
  }
  const BasePair& bases = bases_of(GetParam());
  EXPECT_EQ(bases.lazy_b, known);
  EXPECT_EQ(bases.lazy_b_of_one_modulus, any);
}

/// x 2^bits.
Digits shifted(const Digits& x, unsigned bits) {
  Digits power(bits / 32 + 1, 0);
  power.back() = 1u << bits % 32;
  return naive::multiply(x, power);
}

/// For w / M_A below one half less the error, the rank is exact. Elements are below c N.
TEST_P(RnsRanges, RanksOfElementsAreExact) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const RankErrors errors(block);
  EXPECT_LT(errors.under, RankErrors::kHalf);
  EXPECT_LT(errors.over, RankErrors::kHalf);
  const std::uint32_t c = element_bound(block.sizes);
  const std::uint64_t room = errors.room();
  const Digits end = naive::multiply(
      Moduli::product(moduli.a), {static_cast<std::uint32_t>(room), static_cast<std::uint32_t>(room >> 32)});
  EXPECT_TRUE(naive::at_least(end, shifted({c}, GetParam() + RankErrors::kBits)));
  // A squaring's result is below c^2 N^2 / M_B + 2 n N.
  const Digits radix = Moduli::product(moduli.b);
  EXPECT_TRUE(naive::at_least(naive::multiply(radix, {c - 2 * block.sizes.channels}),
                              shifted(naive::multiply({c}, {c}), GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsRanges, testing::Values(512, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
