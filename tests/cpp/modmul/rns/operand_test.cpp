// SPDX-License-Identifier: Apache-2.0
// The operands that the threads of a thread quad contribute to an extension (modmul/rns/montgomery.cuda.hpp),
// for all of a warp's instances: their channels, the words along K and the ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "modmul/rns/constants.hpp"
#include "modmul/rns/montgomery.cuda.hpp"
#include "support/lockstep_team.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::test {
namespace {

constexpr unsigned kLanes = 32, kInstances = 16;

template <class Bits>
class RnsOperands : public testing::Test {
 protected:
  static constexpr unsigned kBits = Bits::value;
  static constexpr rns::ConstantsLayout kSizes = rns::sizes_of(kBits);
  static constexpr unsigned kQ = kSizes.quads();
  using Operand = rns::Operand<LockstepTeam, kSizes.channels>;
  using Bases = rns::Bases<LockstepTeam, kSizes.channels, kSizes.words>;
  using Rows = std::array<std::vector<std::uint32_t>, kInstances>;

  const rns::Block block_{kBits};

  /// Calls use(team, bases) in all lanes.
  template <class Use>
  void run(Use use) const {
    run_lockstep<kLanes>([&](const LockstepGroup<kLanes>& warp) {
      const LockstepTeam team(warp);
      use(team, Bases(team, block_.bytes.data()));
    });
  }

  /// Words of at most most(i) for each channel i: all the largest, patterns of bytes, zeros, and random ones.
  template <class Most>
  static Rows extreme_rows(Most most) {
    constexpr std::uint32_t kPatterns[] = {~0u,        0,          0x7effffff, 0x7f000000,
                                           0x00ffffff, 0xff00ff00, 0x00ff00ff};
    naive::Generator draw(kBits);
    Rows rows;
    for (unsigned k = 0; k < kInstances; ++k) {
      for (unsigned i = 0; i < kSizes.channels; ++i) {
        const bool drawn = k >= std::size(kPatterns);
        const auto word = drawn ? static_cast<std::uint32_t>(draw.limb()) : kPatterns[k];
        rows[k].push_back(std::min<std::uint32_t>(word, most(i)));
      }
    }
    return rows;
  }

  /// The instance of a thread and half.
  static unsigned instance(const LockstepTeam& team, unsigned half) { return team.lane() / 4 * 2 + half; }
  /// By place: the two instances of a thread quad use different places of a split channel quad.
  static Rows by_place(const Rows& rows) {
    Rows placed;
    for (unsigned k = 0; k < kInstances; ++k) placed[k] = rns::by_place(kSizes, rows[k], k % 2);
    return placed;
  }
  /// Stores this thread's operand words of its two instances.
  static void read(Rows& words, const LockstepTeam& team, const Operand& operand) {
    for (unsigned half = 0; half < 2; ++half) {
      std::vector<std::uint32_t>& all = words[instance(team, half)];
      all.resize(8 * std::size_t{kSizes.steps()});
      for (unsigned v = 0; v < 2 * kSizes.steps(); ++v) {
        all[4 * v + team.lane() % 4] = operand.rows().words[half][v];
      }
    }
  }
  /// Words behind the rank, within its channel quad, are arbitrary; all later ones are 0.
  static void expect_words(const Rows& words, unsigned k, const std::vector<std::uint32_t>& expected) {
    ASSERT_EQ(expected.size(), kSizes.places() + 1);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), words[k].begin())) << k;
    for (std::size_t v = kSizes.places() + 4; v < words[k].size(); ++v) ASSERT_EQ(words[k][v], 0U);
  }
};

using Widths = testing::Types<std::integral_constant<unsigned, 512>, std::integral_constant<unsigned, 1024>,
                              std::integral_constant<unsigned, 1536>, std::integral_constant<unsigned, 4096>,
                              std::integral_constant<unsigned, 8192>>;
TYPED_TEST_SUITE(RnsOperands, Widths);

bool is_channel(const rns::Channel& channel, const rns::StoredChannel& stored) {
  return channel.modulus == stored.modulus && channel.negative_inverse == stored.negative_inverse &&
         channel.factor == stored.factor && channel.companion == stored.companion &&
         channel.negative + stored.modulus == 0;
}

TYPED_TEST(RnsOperands, ChannelsOfThreads) {
  unsigned right = 0;
  this->run([&](const LockstepTeam& team, const typename TestFixture::Bases& bases) {
    for (unsigned q = 0; q < this->kQ; ++q) {
      const unsigned place = 4 * q + team.lane() % 4, i = this->kSizes.channel(place);
      const rns::StoredChannel a = this->block_.a(i), b = this->block_.b(i);
      right += is_channel(bases.a(q), a) && is_channel(bases.channel(q), a) &&
                       bases.set_up(q) == this->block_.set_up_a(i)
                   ? 1
                   : 0;
      right += is_channel(bases.b(q), b) && is_channel(bases.channel(this->kQ + q), b) &&
                       bases.set_up(this->kQ + q) == this->block_.set_up_b(i)
                   ? 1
                   : 0;
    }
  });
  EXPECT_EQ(right, 2 * kLanes * this->kQ);
}

TYPED_TEST(RnsOperands, ResiduesWithTheirRanks) {
  const auto rows = this->extreme_rows([&](unsigned i) { return this->block_.a(i).modulus - 1; });
  const auto placed = this->by_place(rows);
  typename TestFixture::Rows words;
  this->run([&](const LockstepTeam& team, const typename TestFixture::Bases& bases) {
    typename TestFixture::Operand operand;
    for (unsigned q = 0; q < this->kQ; ++q) {
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint32_t w = placed[this->instance(team, half)][4 * q + team.lane() % 4];
        operand.set_residue(half, q, w, bases.a(q));
      }
    }
    operand.set_residues_ranks(team);
    this->read(words, team, operand);
  });
  for (unsigned k = 0; k < kInstances; ++k) {
    this->expect_words(words, k, rns::with_rank(rows[k], this->block_, k % 2));
  }
}

TYPED_TEST(RnsOperands, CoordinatesWithAndWithoutRanks) {
  const auto rows = this->extreme_rows([&](unsigned j) { return 2 * this->block_.b(j).modulus; });
  const auto placed = this->by_place(rows);
  for (const bool ranks : {true, false}) {
    typename TestFixture::Rows words;
    this->run([&](const LockstepTeam& team, const typename TestFixture::Bases&) {
      typename TestFixture::Operand operand;
      for (unsigned q = 0; q < this->kQ; ++q) {
        for (unsigned half = 0; half < 2; ++half) {
          operand.set_coordinate(half, q, placed[this->instance(team, half)][4 * q + team.lane() % 4]);
        }
      }
      if (ranks) operand.set_coordinates_ranks(team);
      if (!ranks) operand.set_no_ranks();
      this->read(words, team, operand);
    });
    for (unsigned k = 0; k < kInstances; ++k) {
      std::vector<std::uint32_t> expected = rns::with_rank(rows[k], this->kSizes, k % 2);
      if (!ranks) expected.back() = 0;
      this->expect_words(words, k, expected);
    }
  }
}

}  // namespace
}  // namespace manymod::test
