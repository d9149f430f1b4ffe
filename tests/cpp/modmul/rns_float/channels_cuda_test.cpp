// SPDX-License-Identifier: Apache-2.0
// The four representations of residues, one channel at a time: every residue of small moduli, and the ends of
// what binary32 holds for large ones. Every result is the right residue and within its bounds.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "modmul/rns_float/base_pair.hpp"
#include "modmul/rns_float/full_word.cuda.hpp"
#include "modmul/rns_float/half_word.cuda.hpp"
#include "modmul/rns_float/pairs.cuda.hpp"

namespace manymod::test {
namespace {

using namespace manymod::rns_float;  // NOLINT(google-build-using-namespace)

std::int64_t integer(float x) {
  EXPECT_EQ(x, std::trunc(x));
  EXPECT_LE(std::fabs(x), 0x1p24F);
  return static_cast<std::int64_t>(x);
}

std::int64_t mod(std::int64_t x, std::int64_t m) { return (x % m + m) % m; }

/// One channel, the integers that its residues represent, and their bounds.
template <class Kind>
class Channel {
 public:
  using Residue = typename Kind::Residue;
  using Constant = typename Kind::Constant;

  explicit Channel(std::uint32_t m, std::uint32_t first_factor = 1)
      : m_(m), encoder_(m, first_factor), factors_({first_factor, m / first_factor}) {
    float words[Kind::kModulusWords] = {};
    Kind::encode_modulus(words, m, first_factor);
    record_ = Kind::modulus(words);
  }

  [[nodiscard]] std::int64_t m() const { return m_; }
  [[nodiscard]] std::int64_t digit_bound() const { return (m_ + 1) / 2; }
  [[nodiscard]] const typename Kind::Modulus& record() const { return record_; }

  /// The residue that represents an integer, which need not be of least magnitude.
  [[nodiscard]] Residue residue(std::int64_t x) const {
    if constexpr (Kind::kResidueWords == 2) {
      return {{part(x, factors_[0]), part(x, factors_[1])}};
    } else {
      return {{static_cast<float>(x)}};
    }
  }
  [[nodiscard]] Constant constant(std::int64_t c) const {
    float words[Kind::kConstantWords];
    encoder_.encode(words, static_cast<std::uint32_t>(mod(c, m_)));
    Constant r;
    for (unsigned i = 0; i < Kind::kConstantWords; ++i) r.word[i] = words[i];
    return r;
  }

  /// The residue in [0, m) that `a` represents; checks the bounds of a.
  [[nodiscard]] std::int64_t value(const Residue& a) const {
    if constexpr (Kind::kResidueWords == 2) {
      for (unsigned i = 0; i < 2; ++i) EXPECT_LE(std::abs(integer(a.word[i])), (factors_[i] + 1) / 2);
    } else {
      constexpr bool kLoose = std::is_same_v<Kind, FullWord>;
      EXPECT_LE(std::abs(integer(a.word[0])), kLoose ? m_ : digit_bound()) << "modulo " << m_;
    }
    const std::int64_t digit = integer(Kind::digit(record_, a));
    EXPECT_LE(std::abs(digit), digit_bound()) << "modulo " << m_;
    if constexpr (Kind::kResidueWords == 2) {
      for (unsigned i = 0; i < 2; ++i) {
        EXPECT_EQ(mod(digit, factors_[i]), mod(integer(a.word[i]), factors_[i])) << "modulo " << m_;
      }
    } else {
      EXPECT_EQ(mod(digit, m_), mod(integer(a.word[0]), m_)) << "modulo " << m_;
    }
    return mod(digit, m_);
  }

 private:
  std::int64_t m_;
  typename Kind::Encoder encoder_;
  std::array<std::int64_t, 2> factors_;
  typename Kind::Modulus record_;

  // The residue of least magnitude, or of two about as large the other one.
  static float part(std::int64_t x, std::int64_t p) {
    const std::int64_t r = mod(x, p);
    return static_cast<float>(r > (x > 0 ? (p + 1) / 2 : p / 2) ? r - p : r);
  }
};

/// Checks products, sums and steps of two residues x, y of a channel, with digits of `digits`.
template <class Kind>
void check_pair(const Channel<Kind>& channel, std::int64_t x, std::int64_t y,
                const std::vector<std::int64_t>& digits) {
  const auto& m = channel.record();
  const auto a = channel.residue(x), b = channel.residue(y);
  const auto c = channel.constant(y);
  ASSERT_EQ(channel.value(Kind::multiply(m, a, b)), mod(x * y, channel.m())) << x << " " << y;
  ASSERT_EQ(channel.value(Kind::multiply_by(m, a, c)), mod(x * y, channel.m())) << x << " " << y;
  ASSERT_EQ(channel.value(Kind::add(m, a, b)), mod(x + y, channel.m())) << x << " " << y;
  ASSERT_EQ(channel.value(Kind::negate(a)), mod(-x, channel.m())) << x;
  for (const std::int64_t d : digits) {
    const auto left = Kind::divide_step(m, a, static_cast<float>(d), c);
    ASSERT_EQ(channel.value(left), mod((x - d) * y, channel.m())) << x << " " << y << " " << d;
  }
}

/// Checks sums of as many products as there may be between two reductions, repeatedly.
template <class Kind>
void check_sums(const Channel<Kind>& channel, const std::vector<std::int64_t>& digits,
                const std::vector<std::int64_t>& constants) {
  const auto& m = channel.record();
  for (const std::int64_t d : digits) {
    for (const std::int64_t c : constants) {
      typename Kind::Sum sum{};
      std::int64_t expected = 0;
      for (unsigned i = 0; i < 3 * Kind::kBurst; ++i) {
        Kind::add_product(m, sum, static_cast<float>(d), channel.constant(c));
        expected += d * c;
        if (i % Kind::kBurst != Kind::kBurst - 1) continue;
        Kind::settle(m, sum);
      }
      typename Kind::Residue total = Kind::total(m, sum);
      ASSERT_EQ(channel.value(total), mod(expected, channel.m())) << d << " " << c;
    }
  }
}

/// Checks the conversion of an integer in slices, from the most significant one down.
template <class Kind>
void check_slices(const Channel<Kind>& channel, std::uint64_t x) {
  typename Kind::Partial sum{};
  std::int64_t expected = 0;
  for (unsigned shift = 64; shift > 0;) {
    shift -= Kind::kSliceBits;
    const std::uint64_t slice = x >> shift & ((std::uint64_t{1} << Kind::kSliceBits) - 1);
    sum = Kind::append(channel.record(), sum, static_cast<float>(slice));
    expected = mod((expected << Kind::kSliceBits) + static_cast<std::int64_t>(slice), channel.m());
  }
  ASSERT_EQ(channel.value(Kind::total(channel.record(), sum)), expected) << x;
}

/// Extreme residues of a channel, and their neighbours.
template <class Kind>
std::vector<std::int64_t> edges(const Channel<Kind>& channel) {
  const std::int64_t m = channel.m();
  const std::int64_t most = std::is_same_v<Kind, FullWord> ? m : channel.digit_bound();
  std::set<std::int64_t> found;
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, m / 4, m / 3, m / 2 - 1,
                               m / 2, channel.digit_bound(), most - 1, most}) {
    if (x > most) continue;
    found.insert(x);
    found.insert(-x);
  }
  return {found.begin(), found.end()};
}

/// `largest_digit`: of the digits of other channels.
template <class Kind>
void check_edges(const Channel<Kind>& channel, std::int64_t largest_digit) {
  const std::vector<std::int64_t> digits = {0, 1, -1, largest_digit, -largest_digit, largest_digit / 3};
  const std::vector<std::int64_t> residues = edges(channel);
  for (const std::int64_t x : residues) {
    for (const std::int64_t y : residues) check_pair(channel, x, y, digits);
  }
  check_sums(channel, digits, residues);
  for (const std::uint64_t x : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000001}}) {
    check_slices(channel, x);
  }
}

template <class Kind>
void check_all(const Channel<Kind>& channel, std::int64_t largest_digit) {
  std::vector<std::int64_t> residues;
  for (std::int64_t x = -channel.digit_bound(); x <= channel.digit_bound(); ++x) residues.push_back(x);
  const std::vector<std::int64_t> digits = {largest_digit, -largest_digit, 1};
  for (const std::int64_t x : residues) {
    for (const std::int64_t y : residues) check_pair(channel, x, y, digits);
  }
  check_sums(channel, digits, residues);
}

/// Checks the first, middle and last channels of both bases.
template <class Kind, class Bases>
void check_bases() {
  static_assert(meets_base_conditions<Bases>() && meets_channel_conditions<Kind, Bases>());
  const auto largest = static_cast<std::int64_t>(range_of<Bases>(false).largest);
  for (const BaseView& base : {base_b<Bases>(), base_a<Bases>()}) {
    for (const unsigned i : {0U, base.channels / 2, base.channels - 1}) {
      check_edges(Channel<Kind>(base.moduli[i], base.factor(i)), (largest + 1) / 2);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

constexpr std::uint32_t kSmallPrimes[] = {5, 7, 11, 13, 17, 19, 23, 29, 31};

TEST(RnsFloatChannels, EveryHalfWordResidue) {
  for (const std::uint32_t m : kSmallPrimes) check_all(Channel<HalfWord>(m), 2047);
}

TEST(RnsFloatChannels, EveryFullWordResidue) {
  for (const std::uint32_t m : kSmallPrimes) check_all(Channel<FullWord>(m), 16);
}

TEST(RnsFloatChannels, EveryResidueOfTwoFactors) {
  for (const auto& [p, q] : {std::pair{5U, 7U}, std::pair{13U, 11U}, std::pair{31U, 5U}}) {
    check_all(Channel<Smooth>(p * q, p), 1 << 22);
    check_all(Channel<Pairs>(p * q, p), 1 << 22);
  }
}

TEST(RnsFloatChannels, EdgesOfHalfWords) {
  check_bases<HalfWord, rns::Half512>();
  check_bases<HalfWord, rns::Half1024>();
  check_bases<HalfWord, rns::Half2048>();
}

TEST(RnsFloatChannels, EdgesOfFullWords) {
  check_bases<FullWord, rns::Fused512>();
  check_bases<FullWord, rns::Fused1024>();
  check_bases<FullWord, rns::Fused2048>();
}

TEST(RnsFloatChannels, EdgesOfSmoothModuli) {
  check_bases<Smooth, rns::Smooth512>();
  check_bases<Smooth, rns::Smooth1024>();
  check_bases<Smooth, rns::Smooth2048>();
}

TEST(RnsFloatChannels, EdgesOfPairs) {
  check_bases<Pairs, rns::Smooth512>();
  check_bases<Pairs, rns::Smooth1024>();
  check_bases<Pairs, rns::Smooth2048>();
}

/// pack() and unpack() are inverse to each other.
TEST(RnsFloatChannels, Packing) {
  for (const float a : {-2047.0F, -2046.0F, -1.0F, 0.0F, 1.0F, 1000.0F, 2047.0F}) {
    for (const float b : {-2047.0F, -2.0F, 0.0F, 1.0F, 2046.0F, 2047.0F}) {
      float low, high;
      unpack(pack(a, b), low, high);
      EXPECT_EQ(low, a);
      EXPECT_EQ(high, b);
    }
  }
}

/// The conditions fail for moduli that are too large.
TEST(RnsFloatChannels, ConditionsHaveLimits) {
  EXPECT_TRUE(HalfWord::conditions({5, 4095}));
  EXPECT_FALSE(HalfWord::conditions({5, 4099}));
  EXPECT_FALSE(HalfWord::conditions({3, 4093}));
  EXPECT_TRUE(FullWord::conditions({21 << 18, 21 << 18}));
  EXPECT_FALSE(FullWord::conditions({(1 << 22) * 3 / 2, (1 << 22) * 3 / 2}));
  EXPECT_FALSE(FullWord::conditions({1 << 20, 21 << 18}));
  EXPECT_TRUE(Pairs::conditions({5, 4093}, {25, 4093 * 4091}));
  EXPECT_FALSE(Pairs::conditions({5, 4099}, {25, 4093 * 4091}));
  EXPECT_FALSE(Pairs::conditions({5, 4093}, {25, 1 << 24}));
}

}  // namespace
}  // namespace manymod::test
