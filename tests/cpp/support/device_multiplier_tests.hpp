// SPDX-License-Identifier: Apache-2.0
// Tests that every device multiplier passes, on the host. A technique's test file instantiates them for its
// shapes:
//
//   using Shapes = testing::Types<DeviceShape<row32::Multiplier, 1, 8>, ..>;
//   INSTANTIATE_TYPED_TEST_SUITE_P(Row32, DeviceMultiplier, Shapes, DeviceShapeNames);
//
// DeviceMultiplierExhaustive is for shapes of a few words, since it computes thousands of products.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/brief.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {

/// A step of a chain of products: x = x^2, x = x y, x = y x, or x = x x by mul.
enum class ChainStep : std::uint8_t { square, times_factor, factor_times, times_itself };

/// The tests of one shape.
template <class Shape>
class DeviceMultiplier : public testing::Test {
 protected:
  static constexpr unsigned kWords = Shape::kWords;
  static constexpr unsigned kRadixBits = Shape::Multiplier::kRadixBits;

  /// At most `most` repetitions, fewer for expensive shapes and under sanitizers.
  static constexpr unsigned repetitions(unsigned most) {
    return std::max(1u, most * 16 / std::max(16u, Shape::kCost) / (kBriefTests ? 4 : 1));
  }

  /// r = a / R mod n, by mul(a, one), whose result to_words accepts.
  template <class Multiplier, class Element>
  static void store_residue(const Multiplier& m, GuardedResult& r, const Element& a,
                            std::size_t words = kWords) {
    m.to_words(sink_of(r, words), m.mul(a, m.from_words(WordSource{nullptr, 0, 1})));
  }

  /// Results of the operations, each converted by put() except the last.
  struct Products {
    GuardedResult mul{kWords};
    GuardedResult sqr{kWords};
    GuardedResult last{
        kWords};  // a b / R from one multiplication by an integer below n, as to_words accepts it
  };
  /// mul and sqr of a and b, and the product of a and residue_of_b.
  static Products products(const Words& n, const Words& a, const Words& b, const Words& residue_of_b) {
    Products r;
    EXPECT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto&) {
      const auto x = m.from_words(source_of(a));
      store_residue(m, r.mul, m.mul(x, m.from_words(source_of(b))));
      store_residue(m, r.sqr, m.sqr(x));
      m.to_words(sink_of(r.last, kWords), m.mul(x, m.from_words(source_of(residue_of_b))));
    }));
    return r;
  }

  /// The products are those of the oracle.
  static void expect_products(const MontgomeryOracle& oracle, const Words& n, const Words& a,
                              const Words& b) {
    const Products r = products(n, a, b, oracle.reduce(b));
    ASSERT_EQ(r.last.words(), oracle.montgomery(a, b));
    ASSERT_EQ(r.mul.words(), oracle.from_montgomery(oracle.montgomery(a, b)));
    ASSERT_EQ(r.sqr.words(), oracle.from_montgomery(oracle.montgomery(a, a)));
    ASSERT_TRUE(r.mul.guards_intact() && r.sqr.guards_intact());
  }

  /// The result of a chain of products that starts from x = start, with y = factor.
  static Words chain(const Words& n, const Words& start, const Words& factor,
                     const std::vector<ChainStep>& steps) {
    GuardedResult r(kWords);
    EXPECT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto&) {
      auto x = m.from_words(source_of(start));
      const auto y = m.from_words(source_of(factor));
      for (const ChainStep step : steps) {
        switch (step) {
          case ChainStep::square:
            x = m.sqr(x);
            break;
          case ChainStep::times_factor:
            x = m.mul(x, y);
            break;
          case ChainStep::factor_times:
            x = m.mul(y, x);
            break;
          case ChainStep::times_itself:
            x = m.mul(x, x);
            break;
        }
      }
      store_residue(m, r, x);
    }));
    EXPECT_TRUE(r.guards_intact());
    return r.words();
  }

  /// The same by the oracle.
  static Words expected_chain(const MontgomeryOracle& oracle, const Words& start, const Words& factor,
                              const std::vector<ChainStep>& steps) {
    Words x = oracle.reduce(start);
    const Words y = oracle.reduce(factor);
    for (const ChainStep step : steps) {
      const bool by_factor = step == ChainStep::times_factor || step == ChainStep::factor_times;
      x = oracle.montgomery(x, by_factor ? y : x);
    }
    return oracle.from_montgomery(x);
  }
};

TYPED_TEST_SUITE_P(DeviceMultiplier);

/// Conversion from Montgomery form gives the number, in exactly the words that are requested.
TYPED_TEST_P(DeviceMultiplier, RoundTrip) {
  using Shape = TypeParam;
  naive::Generator generate(1);
  for (const Words& n : edge_moduli(generate, Shape::kWords, this->repetitions(20))) {
    const MontgomeryOracle oracle(n, this->kRadixBits);
    const std::size_t words = significant_words(n);
    // Sources end with the numbers: a read beyond their end is out of bounds.
    const Words short_n(n.begin(), n.begin() + static_cast<std::ptrdiff_t>(words));
    for (const Words& a : edge_operands(generate, n, 1)) {
      const Words x = oracle.reduce(a);
      const Words short_x = sized(oracle.to_montgomery(x), words);
      GuardedResult r(words);
      ASSERT_TRUE(with_multiplier<Shape>(short_n, [&](const auto& m, const auto&) {
        this->store_residue(m, r, m.from_words(source_of(short_x)), words);
      }));
      ASSERT_EQ(r.words(), sized(x, words));
      ASSERT_TRUE(r.guards_intact());
    }
  }
}

/// Products and squares of all edge operands modulo all edge moduli.
TYPED_TEST_P(DeviceMultiplier, ProductsOfEdges) {
  naive::Generator generate(2);
  for (const Words& n : edge_moduli(generate, TypeParam::kWords, this->repetitions(10))) {
    const MontgomeryOracle oracle(n, this->kRadixBits);
    const std::vector<Words> operands = edge_operands(generate, n, this->repetitions(8));
    const std::size_t partners = TypeParam::kCost <= 64 ? operands.size() : 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (std::size_t j = 0; j < partners; ++j) {
        this->expect_products(oracle, n, operands[i], operands[(i + j) % operands.size()]);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// Chains of random products, starting from numbers up to R - 1: results of products stay in range.
TYPED_TEST_P(DeviceMultiplier, Chains) {
  naive::Generator generate(3);
  for (const Words& n : edge_moduli(generate, TypeParam::kWords, this->repetitions(20))) {
    const MontgomeryOracle oracle(n, this->kRadixBits);
    std::vector<Words> starts = edge_operands(generate, n, 1);
    if (TypeParam::kCost > 256) starts = {Words(TypeParam::kWords, 0xffffffffu), starts.back()};
    for (const Words& start : starts) {
      const Words factor = edge_operands(generate, n, 1)[generate.below(9)];
      std::vector<ChainStep> steps(1 + generate.below(5 + this->repetitions(40)));
      for (ChainStep& step : steps) step = static_cast<ChainStep>(generate.below(4));
      ASSERT_EQ(this->chain(n, start, factor, steps), this->expected_chain(oracle, start, factor, steps));
    }
  }
}

/// Long runs of squarings, as exponentiations have them.
TYPED_TEST_P(DeviceMultiplier, RepeatedSquaring) {
  naive::Generator generate(4);
  for (const Words& n : edge_moduli(generate, TypeParam::kWords, 2)) {
    const MontgomeryOracle oracle(n, this->kRadixBits);
    const std::vector<ChainStep> steps(this->repetitions(200), ChainStep::square);
    const Words start(TypeParam::kWords, 0xffffffffu);
    ASSERT_EQ(this->chain(n, start, start, steps), this->expected_chain(oracle, start, start, steps));
  }
}

/// lane_word and set_lane_word copy an element word by word.
TYPED_TEST_P(DeviceMultiplier, LaneWords) {
  using Shape = TypeParam;
  using Multiplier = typename Shape::Multiplier;
  naive::Generator generate(5);
  for (const Words& n : edge_moduli(generate, Shape::kWords, 0)) {
    const MontgomeryOracle oracle(n, this->kRadixBits);
    const Words a(Shape::kWords, 0xffffffffu);
    GuardedResult r(Shape::kWords);
    ASSERT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto&) {
      const auto x = m.sqr(m.from_words(source_of(a)));
      typename Multiplier::Element copy;
      for (unsigned j = 0; j < Multiplier::kLaneWords; ++j) {
        Multiplier::set_lane_word(copy, j, Multiplier::lane_word(x, j));
      }
      this->store_residue(m, r, m.mul(copy, x));
    }));
    const Words square = oracle.montgomery(a, a);
    ASSERT_EQ(r.words(), oracle.from_montgomery(oracle.montgomery(square, square)));
  }
}

REGISTER_TYPED_TEST_SUITE_P(DeviceMultiplier, RoundTrip, ProductsOfEdges, Chains, RepeatedSquaring,
                            LaneWords);

template <class Shape>
class DeviceMultiplierExhaustive : public DeviceMultiplier<Shape> {};

TYPED_TEST_SUITE_P(DeviceMultiplierExhaustive);

/// All odd n with 3 <= n < 64 (32 in sanitizer builds) and all factors below n.
TYPED_TEST_P(DeviceMultiplierExhaustive, SmallModuli) {
  using Shape = TypeParam;
  for (std::uint32_t modulus = 3; modulus < (kBriefTests ? 32 : 64); modulus += 2) {
    const Words n = word_number(modulus, Shape::kWords);
    const MontgomeryOracle oracle(n, this->kRadixBits);
    const std::uint32_t inverse = oracle.from_montgomery(word_number(1, 1))[0];
    const std::uint32_t scale = inverse * inverse % modulus;
    std::vector<GuardedResult> r(std::size_t{modulus} * modulus, GuardedResult(1));
    std::vector<GuardedResult> squares(modulus, GuardedResult(1));
    ASSERT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto&) {
      for (std::uint32_t a = 0; a < modulus; ++a) {
        const auto x = m.from_words(source_of(word_number(a, 1)));
        this->store_residue(m, squares[a], m.sqr(x), 1);
        for (std::uint32_t b = 0; b < modulus; ++b) {
          this->store_residue(m, r[a * modulus + b], m.mul(x, m.from_words(source_of(word_number(b, 1)))), 1);
        }
      }
    }));
    for (std::uint32_t a = 0; a < modulus; ++a) {
      ASSERT_EQ(squares[a].words()[0], a * a * scale % modulus) << a << "^2 mod " << modulus;
      for (std::uint32_t b = 0; b < modulus; ++b) {
        const GuardedResult& product = r[a * modulus + b];
        ASSERT_EQ(product.words()[0], a * b * scale % modulus) << a << " " << b << " mod " << modulus;
        ASSERT_TRUE(product.guards_intact());
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(DeviceMultiplierExhaustive, SmallModuli);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceMultiplierExhaustive);

}  // namespace manymod::test
