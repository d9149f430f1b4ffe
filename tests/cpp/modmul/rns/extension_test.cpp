// SPDX-License-Identifier: Apache-2.0
// Extensions between the bases of residue number systems as a kernel computes them, in plain loops on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/plain_arithmetic.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

class RnsExtensions : public testing::TestWithParam<unsigned> {};

using Rows = std::vector<std::vector<std::uint32_t>>;

/// Coordinates in B up to 2 m: all the largest, patterns of bytes, zeros, and random ones. Each row once with
/// its rank, as in multiplications, and once with rank 0, as in squarings.
Rows extreme_coordinates(const std::vector<std::uint64_t>& base, const ConstantsLayout& sizes,
                         Generator& draw) {
  Rows rows(6);
  for (const std::uint64_t m : base) {
    const auto most = static_cast<std::uint32_t>(2 * m);
    rows[0].push_back(most);
    rows[1].push_back((most & 0xff000000) - 1);
    rows[2].push_back(0);
    rows[3].push_back(draw.below(2) == 0 ? 0 : most);
    rows[4].push_back(static_cast<std::uint32_t>(draw.below(most)));
    rows[5].push_back(static_cast<std::uint32_t>(draw.below(m)));
  }
  Rows both;
  for (const std::vector<std::uint32_t>& row : rows) {
    both.push_back(with_rank(row, sizes));
    both.push_back(both.back());
    both.back().back() = 0;
  }
  return both;
}

/// Base A with the weights of its bytes, and the exact factors that these estimate.
struct BaseA {
  const Block& block;
  const std::vector<std::uint64_t>& moduli;
  const Moduli::ByteFactors& factors;

  /// A residue below modulus i whose bytes are the largest where the weight is below (too_small) or not below
  /// the exact factor, and 0 elsewhere.
  [[nodiscard]] std::uint32_t bytes_with_errors(unsigned i, bool too_small) const {
    std::uint32_t bytes = 0;
    for (unsigned p = 0; p < 4; ++p) {
      const bool is_small = block.weight(i, p) * moduli[i] < factors[i][p] << 16;
      if (is_small == too_small) bytes |= 0xffu << 8 * p;
    }
    return below(i, bytes & 0x7fffffff);
  }
  [[nodiscard]] std::uint32_t below(unsigned i, std::uint32_t word) const {
    return std::min(word, static_cast<std::uint32_t>(moduli[i] - 1));
  }
};

/// Residues in A. The first two rows make the rank's errors extreme: under, then over.
Rows extreme_residues(const BaseA& base, Generator& draw) {
  constexpr std::uint32_t kPatterns[] = {~0u, 0, 0x7effffff, 0x7f000000, 0x00ffffff, 0x7f00ff00, 0x00ff00ff};
  Rows rows(4 + std::size(kPatterns));
  for (unsigned i = 0; i < base.moduli.size(); ++i) {
    rows[0].push_back(base.bytes_with_errors(i, true));
    rows[1].push_back(base.bytes_with_errors(i, false));
    rows[2].push_back(draw.below(2) == 0 ? 0 : base.below(i, ~0u));
    rows[3].push_back(static_cast<std::uint32_t>(draw.below(base.moduli[i])));
    for (std::size_t k = 0; k < std::size(kPatterns); ++k) rows[4 + k].push_back(base.below(i, kPatterns[k]));
  }
  return rows;
}

/// The words of a thread quad's first instance rearranged for the second one: the two words of a split
/// channel quad in their second places.
std::vector<std::uint32_t> in_second_places(const ConstantsLayout& sizes, std::vector<std::uint32_t> words) {
  const auto rank = words.end() - 1;
  if (sizes.is_split()) std::swap_ranges(rank - 4, rank - 2, rank - 2);
  return words;
}

/// An extension, and operands by place whose last word is the rank.
struct Extension {
  const ConstantsLayout& sizes;
  const std::vector<std::uint64_t>& source;
  Moduli::ByteFactors factors;  ///< of the bytes of a word
  Rows rows;
  bool narrow;

  /// Expects of `matrix` for target i, channel `c`, and each row: the remainder of the sums is the sum of the
  /// row's bytes times their factors and cofactors, less k M, times `scale`. The same for the words of a
  /// split channel quad in their second places.
  void expect(const MatrixView& matrix, unsigned i, const StoredChannel& c, std::uint64_t scale,
              bool lazy = false) const {
    const Moduli::ByteFactors weight = weights(c.modulus);
    for (const std::vector<std::uint32_t>& words : rows) {
      std::uint64_t expected = 0;
      for (std::size_t v = 0; v < words.size(); ++v) {
        for (unsigned p = 0; p < 4; ++p) expected += byte_of(words[v], p) * weight[v][p];
      }
      const std::array<std::uint64_t, 4> sums = matrix.sums(words, i);
      ASSERT_EQ(matrix.sums(in_second_places(sizes, words), i), sums);
      ASSERT_TRUE(high_of(sums) >> 32 == 0 || !narrow);
      const std::uint32_t v = remainder(sums, c);
      ASSERT_TRUE(!lazy || may_be_kept(v, c.modulus, true));
      ASSERT_EQ(corrected(v, c), product_mod(expected, scale, c.modulus));
    }
  }

 private:
  /// By place: the factors times M_j modulo m; then -M 2^(8p) for the rank.
  [[nodiscard]] Moduli::ByteFactors weights(std::uint64_t m) const {
    Moduli::ByteFactors all;
    for (unsigned place = 0; place < sizes.places(); ++place) all.push_back(factors[sizes.channel(place)]);
    all.push_back({1, 1 << 8, 1 << 16, 1 << 24});
    for (unsigned v = 0; v < all.size(); ++v) {
      const bool of_channel = v < sizes.places();
      const std::uint64_t product =
          Moduli::product_mod_m(source, m, of_channel ? sizes.channel(v) : source.size());
      for (std::uint64_t& w : all[v]) w = product_mod(w, of_channel ? product : m - product, m);
    }
    return all;
  }
};

/// Both extensions, with the constants of the bases alone and with those of a modulus.
TEST_P(RnsExtensions, ExtensionsOfExtremeOperands) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  const bool narrow = Form{.channels = block.sizes.channels, .words = block.sizes.words}.narrow_sums();
  Generator draw(71);
  const ConstantsLayout& sizes = block.sizes;
  const Extension b_to_a{sizes, moduli.b, moduli.byte_factors_of_b(),
                         extreme_coordinates(moduli.b, sizes, draw), narrow};
  Extension a_to_b{sizes, moduli.a, factors, extreme_residues({block, moduli.a, factors}, draw), narrow};
  for (std::vector<std::uint32_t>& row : a_to_b.rows) row = with_rank(row, block);
  const Block of_n(GetParam(), modulus_constants(GetParam(), Limbs(GetParam() / 64, ~Limb{0})));
  const BasePair& pair = bases_of(GetParam());
  for (unsigned i = 0; i < sizes.channels; ++i) {
    const std::uint64_t a = moduli.a[i], kappa = moduli.kappa(i);
    b_to_a.expect(block.b_to_a(), i, block.a(i), 1);
    a_to_b.expect(block.a_to_b(), i, block.b(i), 1, pair.lazy_b);
    const std::uint64_t n = remainder_of(Digits(GetParam() / 32, ~0u), a);
    b_to_a.expect(of_n.b_to_a(), i, of_n.a(i), product_mod(n, product_mod(kappa, kappa, a), a));
    // The root is the residue of the number 1.
    a_to_b.expect(of_n.a_to_b(), i, of_n.b(i), of_n.words_to_b().entry(0, 0, i), pair.lazy_b_of_one_modulus);
  }
}

/// Compares ranks with exact sums of bytes times v(i, p) / a_i, and counts those near the ends of the range
/// in which they are exact.
class RankCheck {
 public:
  explicit RankCheck(const BaseA& base) : base_(base), errors_(base.block) {}

  void expect_rank(const std::vector<std::uint32_t>& residues) {
    const word::Wide sum = sum_of(residues);
    const auto floor = static_cast<std::uint64_t>(sum >> RankErrors::kBits);
    const std::uint64_t rest =
        static_cast<std::uint64_t>(sum) & ((std::uint64_t{1} << RankErrors::kBits) - 1);
    // Each term is rounded down, by less than one for each unit of a byte.
    const std::uint64_t tolerance = 892 * residues.size();
    const bool exact = rest + tolerance < errors_.room();
    for (const unsigned instance : {0u, 1u}) {
      const std::uint32_t rank = with_rank(residues, base_.block, instance).back();
      ASSERT_TRUE(rank == floor || (rank == floor + 1 && !exact)) << rank << ' ' << floor;
    }
    if (!exact) return;
    near_begin_ += rest < kNear ? 1 : 0;
    near_end_ += rest + kNear > errors_.room() ? 1 : 0;
  }
  [[nodiscard]] unsigned near_begin() const { return near_begin_; }
  [[nodiscard]] unsigned near_end() const { return near_end_; }

 private:
  static constexpr std::uint64_t kNear = RankErrors::kHalf / 64;
  BaseA base_;
  RankErrors errors_;
  unsigned near_begin_ = 0, near_end_ = 0;

  [[nodiscard]] word::Wide sum_of(const std::vector<std::uint32_t>& residues) const {
    word::Wide sum = 0;
    for (unsigned i = 0; i < residues.size(); ++i) {
      for (unsigned p = 0; p < 4; ++p) {
        const word::Wide v = base_.factors[i][p];
        sum += (v << RankErrors::kBits) / base_.moduli[i] * byte_of(residues[i], p);
      }
    }
    return sum;
  }
};

TEST_P(RnsExtensions, RanksOfExtremeResidues) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  const BaseA base{block, moduli.a, factors};
  Generator draw(79);
  Rows rows = extreme_residues(base, draw);
  RankCheck check(base);
  for (const std::vector<std::uint32_t>& row : rows) check.expect_rank(row);
  // Nearly the largest errors, at random distances from an integer.
  RankCheck under(base), over(base);
  for (unsigned i = 0; i < (kBriefTests ? 200 : 2000) && !HasFatalFailure(); ++i) {
    rows[0][i % 4] = static_cast<std::uint32_t>(draw.below(moduli.a[i % 4]));
    rows[1][i % 4] = static_cast<std::uint32_t>(draw.below(moduli.a[i % 4]));
    under.expect_rank(rows[0]);
    over.expect_rank(rows[1]);
  }
  EXPECT_TRUE(kBriefTests || (under.near_begin() > 0 && over.near_end() > 0));
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsExtensions, testing::Values(512, 1024, 2048, 3072, 4096, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
