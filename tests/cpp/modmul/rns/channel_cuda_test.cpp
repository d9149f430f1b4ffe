// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one channel (modmul/rns/channel.cuda.hpp) at the ends of its ranges, compared with 64-bit
// integers.
#include "modmul/rns/channel.cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "arch/cuda/words.cuda.hpp"
#include "modmul/rns/constants.hpp"
#include "support/naive.hpp"

namespace manymod::rns {
namespace {

/// The first and the last primes of both bases, for the narrowest and the widest width.
constexpr std::uint32_t kModuli[] = {kPrimes[0],   kPrimes[17],  kPrimes[271],
                                     kPrimes[272], kPrimes[289], kPrimes[543]};
constexpr std::uint64_t kRadix = std::uint64_t{1} << 32;

Channel channel_of(std::uint32_t m, std::uint32_t factor = 0) {
  return channel_of(StoredChannel{m, cuda::negative_inverse(m), factor,
                                  static_cast<std::uint32_t>((std::uint64_t{factor} << 32) / m)});
}

/// Words near 0, m / 2, m, 2 m, powers of two and the end of the range, and random ones.
std::vector<std::uint32_t> edges(std::uint32_t m) {
  std::vector<std::uint32_t> words;
  for (const std::uint32_t center :
       {0u, m / 2, m, 2 * m, 1u << 8, 1u << 16, 1u << 31, 0xff00u, 0xffff0000u}) {
    for (std::uint32_t i = 0; i < 5; ++i) words.push_back(center + i - 2);
  }
  naive::Generator draw(m);
  for (unsigned i = 0; i < 100; ++i) words.push_back(static_cast<std::uint32_t>(draw.limb()));
  return words;
}

TEST(RnsChannel, StoredChannelsWithTheirNegatives) {
  for (const std::uint32_t m : kModuli) {
    const Channel channel = channel_of(StoredChannel{m, 2, 3, 4});
    EXPECT_EQ(channel.modulus, m);
    EXPECT_EQ(channel.negative_inverse, 2u);
    EXPECT_EQ(channel.factor, 3u);
    EXPECT_EQ(channel.companion, 4u);
    EXPECT_EQ(channel.negative, kRadix - m);
  }
}

TEST(RnsChannel, Coordinates) {
  for (const std::uint32_t m : kModuli) {
    for (const std::uint32_t seed : edges(m)) {
      const std::uint32_t factor = seed % m;
      const Channel channel = channel_of(m, factor);
      for (const std::uint32_t x : edges(m)) {
        const std::uint64_t xi = coordinate(x, channel);
        ASSERT_LT(xi << 32, (kRadix + x) * m) << x << " times " << factor << " modulo " << m;
        ASSERT_EQ(xi % m, std::uint64_t{x} * factor % m) << x << " times " << factor << " modulo " << m;
      }
    }
  }
}

/// The coordinate in B with roots, for s up to 2 m and both signs.
TEST(RnsChannel, SignedCoordinates) {
  for (const std::uint32_t m : kModuli) {
    const Channel positive = channel_of(StoredChannel{m, cuda::negative_inverse(m), 1, 0});
    const Channel negative = channel_of(StoredChannel{m, cuda::negative_inverse(m), ~0u, 2 * m});
    for (const std::uint32_t s : edges(m)) {
      if (s > 2 * m) continue;
      ASSERT_EQ(signed_coordinate(s, positive), s);
      ASSERT_EQ(signed_coordinate(s, negative), 2 * m - s);
    }
  }
}

/// The constants of a modulus and their quotients, computed from 2^32 times the constants.
TEST(RnsChannel, ConstantsByQuotients) {
  for (const std::uint32_t m : kModuli) {
    const Channel channel = channel_of(m);
    for (const std::uint32_t seed : edges(m)) {
      const std::uint64_t constant = seed % m;
      const auto made = by_quotient(static_cast<std::uint32_t>((constant << 32) % m), channel);
      ASSERT_EQ(made.constant, constant) << m;
      ASSERT_EQ(made.quotient, (constant << 32) / m) << constant << " modulo " << m;
    }
  }
}

TEST(RnsChannel, CorrectedResidues) {
  for (const std::uint32_t m : kModuli) {
    for (const std::uint32_t v : edges(m)) {
      if (v >= 2 * m) continue;
      ASSERT_EQ(corrected(v, channel_of(m)), v % m) << v << " modulo " << m;
    }
    ASSERT_EQ(corrected(2 * m - 1, channel_of(m)), m - 1);
  }
}

using Sums = std::array<std::uint32_t, 4>;

/// The remainder of sums `s` that are surrounded by others as large as they can be.
template <bool kNarrow>
std::uint32_t remainder_of_sums(const Sums& s, const Channel& channel, unsigned place) {
  constexpr unsigned kQuads = 3;
  const unsigned quad = place % kQuads, half = place % 2;
  cuda::ByteSums<kQuads> sums;
  std::fill(std::begin(sums.sum), std::end(sums.sum), 0x7fffffff);
  for (unsigned b = 0; b < 4; ++b) {
    sums.sum[8 * quad + 4 * (b / 2) + 2 * half + b % 2] = static_cast<std::int32_t>(s[b]);
  }
  return remainder<kNarrow>(sums_of(sums, quad, half), channel);
}

/// Q, from which the quotient of a remainder is taken.
std::uint64_t high_of(const Sums& s) { return s[2] + (std::uint64_t{s[3]} << 8) + (s[1] >> 8); }

bool is_in_range(const Sums& s, std::uint32_t m) {
  const std::uint64_t half = kRadix / 2, delta = half - m;
  return s[0] + (high_of(s) >> 15) * delta <= half - 2 * delta;
}

/// Expects the remainder of `s` to be right. @return whether the sums are in the range of the narrow form
bool expect_remainder(const Sums& s, std::uint32_t m, unsigned place) {
  const Channel channel = channel_of(m);
  const std::uint64_t total =
      s[0] + (std::uint64_t{s[1]} << 8) + (std::uint64_t{s[2]} << 16) + (std::uint64_t{s[3]} << 24);
  const std::uint32_t v = remainder_of_sums<false>(s, channel, place);
  EXPECT_EQ(v, total - (high_of(s) >> 15) * m) << m;
  EXPECT_LT(v, 2 * m);
  EXPECT_EQ(v % m, total % m) << m;
  EXPECT_EQ(corrected(v, channel), total % m) << m;
  if (high_of(s) >> 32 != 0) return false;
  EXPECT_EQ(remainder_of_sums<true>(s, channel, place), v) << m;
  return true;
}

/// The largest sums of n coordinates and their rank. Entries are below 2^31, so that their top bytes are
/// below 2^7.
Sums largest_sums(unsigned n) {
  const std::uint32_t bytes = 1020 * (n + 1);
  return {255 * bytes, 255 * bytes, 255 * bytes, 127 * bytes};
}

TEST(RnsChannel, RemaindersOfByteSums) {
  unsigned place = 0;
  for (const BasePair& pair : kBasePairs) {
    const Sums most = largest_sums(pair.channels);
    const std::uint32_t moduli[] = {channel_of_a(0), channel_of_a(pair.channels - 1), channel_of_b(0),
                                    channel_of_b(pair.channels - 1)};
    const auto expect = [&](const Sums& s) {
      for (const std::uint32_t m : moduli) {
        // In A whatever the sums; in B only those that entries of the bases can produce.
        const bool in_range = is_in_range(s, m);
        ASSERT_TRUE(in_range || m < channel_of_a(kMostChannels - 1)) << m << " of " << pair.bits << " bits";
        if (!in_range) continue;
        ASSERT_TRUE(expect_remainder(s, m, ++place) || pair.channels > 127) << pair.bits;
      }
    };
    const auto values = [](std::uint32_t largest) {
      return std::array<std::uint32_t, 8>{0,       1,           (1 << 8) - 1, 1 << 8, (1 << 16) - 1,
                                          1 << 16, largest - 1, largest};
    };
    for (unsigned i = 0; i < 8 * 8 * 8 * 8; ++i) {
      expect({values(most[0])[i % 8], values(most[1])[i / 8 % 8], values(most[2])[i / 64 % 8],
              values(most[3])[i / 512]});
    }
    naive::Generator draw(pair.bits);
    for (unsigned i = 0; i < 1000; ++i) {
      Sums s;
      for (unsigned b = 0; b < 4; ++b) s[b] = static_cast<std::uint32_t>(draw.limb() % (most[b] + 1));
      expect(s);
    }
  }
}

/// At the largest word that Q may be. One more would overflow.
TEST(RnsChannel, NarrowRemaindersUpToTheirBound) {
  for (const std::uint32_t m : {kPrimes[0], kPrimes[5], kPrimes[99]}) {
    const Sums most{255, 0xffff, 0xff00, 0xffff00};
    ASSERT_EQ(high_of(most), kRadix - 1);
    ASSERT_TRUE(is_in_range(most, m));
    EXPECT_TRUE(expect_remainder(most, m, 0));
    const Sums more{255, 0xffff, 0xff01, 0xffff00};
    EXPECT_FALSE(expect_remainder(more, m, 1));
    EXPECT_NE(remainder_of_sums<true>(more, channel_of(m), 1),
              remainder_of_sums<false>(more, channel_of(m), 1));
  }
}

/// S_0 as large as the range allows, with the quotients that leave the most.
TEST(RnsChannel, RemaindersJustBelowTwiceTheModulus) {
  for (const std::uint32_t m : {kPrimes[1], kPrimes[271], kPrimes[272], kPrimes[543]}) {
    for (const std::uint32_t quotient : {0u, 1u, 20000u, 100000u}) {
      const std::uint64_t delta = kRadix / 2 - m;
      const std::uint64_t low = kRadix / 2 - 2 * delta - quotient * delta;
      ASSERT_LT(low, kRadix / 2);
      const Sums s{static_cast<std::uint32_t>(low), 0xff, 0x7fff, quotient << 7};
      ASSERT_TRUE(is_in_range(s, m));
      EXPECT_TRUE(expect_remainder(s, m, quotient));
      EXPECT_EQ(remainder_of_sums<false>(s, channel_of(m), 2), 2 * m - 256);
    }
  }
}

/// A thread's share of the rank has 16 fractional bits, the last 8 of which value() drops.
class RankOfThread {
 public:
  void expect_to_add(std::uint32_t residue, const std::array<std::uint32_t, 4>& weights) {
    StoredChannel channel{kPrimes[0], 1};
    for (unsigned p = 0; p < 4; ++p) {
      channel.factor |= (weights[p] & 255) << 8 * p;
      channel.companion |= (weights[p] >> 8) << 8 * p;
      exact_ += std::uint64_t{residue >> 8 * p & 255} * weights[p];
    }
    sum_.add(residue, channel_of(channel));
    ASSERT_EQ(sum_.value(), exact_ >> 8);
  }
  [[nodiscard]] std::uint32_t value() const { return sum_.value(); }

 private:
  RankSum sum_;
  std::uint64_t exact_ = 0;
};

TEST(RnsChannel, RanksOfTheLargestResiduesAndWeights) {
  RankOfThread rank;
  constexpr std::uint32_t kMost = 0xffff;
  for (unsigned q = 0; q < kMostChannels / 4; ++q) {
    rank.expect_to_add(kPrimes[0] - 1, {kMost, kMost, kMost, kMost});
  }
  // 2^31 - 2. The sum of four threads fits a word.
  EXPECT_EQ(rank.value(), std::uint64_t{kMostChannels / 4} * (254 + 255 + 255 + 127) * kMost >> 8);
  EXPECT_LT(4 * std::uint64_t{rank.value()} + 128, kRadix);
}

TEST(RnsChannel, RanksOfOtherResiduesAndWeights) {
  naive::Generator draw(78);
  for (unsigned i = 0; i < 100; ++i) {
    RankOfThread rank;
    for (unsigned q = 0; q < 13; ++q) {
      std::array<std::uint32_t, 4> weights{};
      for (std::uint32_t& w : weights) w = static_cast<std::uint32_t>(draw.limb() & 0xffff);
      rank.expect_to_add(static_cast<std::uint32_t>(draw.limb() % kPrimes[q]), weights);
    }
  }
}

TEST(RnsChannel, InverseOfResidues) {
  for (const std::uint32_t m : kModuli) {
    const Channel channel = channel_of(m);
    const auto times = [m](std::uint64_t a, std::uint64_t b) { return a * b % m; };
    const std::uint32_t some[] = {0U, 1U, 2U, 3U, m - 1, m - 2, m / 2, 0x12345678U, 0x7000ffffU};
    const auto is_inverse = [&](std::uint32_t x, std::uint32_t a) {
      return x < m && (a == 0 ? x == 0 : times(x, a) == times(kRadix % m, kRadix % m));
    };
    for (const std::uint32_t a : some) {
      EXPECT_TRUE(is_inverse(inverse(a, channel), a)) << a << " modulo " << m;
      for (const std::uint32_t b : some) {
        std::uint32_t both[2] = {a, b};
        invert_both(both, channel);
        EXPECT_TRUE(is_inverse(both[0], a) && is_inverse(both[1], b)) << a << ", " << b << " modulo " << m;
      }
    }
  }
}

/// The largest T, and those at which the result of a reduction changes.
TEST(RnsChannel, ReductionsAtTheEdges) {
  for (const std::uint32_t m : kModuli) {
    const Channel channel = channel_of(m);
    const std::uint64_t most = 0 - (std::uint64_t{m} << 32), squared = std::uint64_t{m - 1} * (m - 1);
    for (const std::uint64_t t :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{m} << 32, std::uint64_t{0xffffffff}, kRadix, most,
          most - 1, squared, 2 * squared, squared + 2 * m - 1, std::uint64_t{2 * m - 1} * (m - 1),
          (std::uint64_t{m} << 32) - 1}) {
      const cuda::Wide wide{static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(t >> 32)};
      const std::uint64_t v = reduce(wide, channel);
      EXPECT_EQ(v % m * (kRadix % m) % m, t % m) << t;
      EXPECT_LE(v, (t >> 32) + m);
      if (v >= 2 * std::uint64_t{m}) continue;
      EXPECT_EQ(corrected(static_cast<std::uint32_t>(v), channel), v % m);
    }
  }
}

}  // namespace
}  // namespace manymod::rns
