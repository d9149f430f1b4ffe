// SPDX-License-Identifier: Apache-2.0
// The device multiplier of dpf52 on the host: the tests of all device multipliers, and tests of dpf52 only:
// doubles rounded toward zero, bit patterns of products, quotient digits, digits of 2^52, the range of
// results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "arch/cuda/doubles.cuda.hpp"
#include "modmul/dpf52/bounds.hpp"
#include "modmul/dpf52/columns.cuda.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "support/device_multiplier_tests.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

template <unsigned kThreads, unsigned kPerThread>
using Shape = DeviceShape<dpf52::Multiplier, kThreads, kPerThread>;

using Shapes = testing::Types<Shape<1, 2>, Shape<1, 3>, Shape<1, 5>, Shape<1, 10>, Shape<1, 15>, Shape<2, 2>,
                              Shape<2, 15>, Shape<4, 5>, Shape<8, 5>, Shape<16, 2>, Shape<32, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Dpf52, DeviceMultiplier, Shapes, DeviceShapeNames);

using SmallShapes = testing::Types<Shape<1, 2>, Shape<1, 3>, Shape<2, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Dpf52, DeviceMultiplierExhaustive, SmallShapes, DeviceShapeNames);

constexpr std::uint64_t kRadix = std::uint64_t{1} << dpf52::kDigitBits;
constexpr std::uint64_t kEdgeDigits[] = {0,
                                         1,
                                         2,
                                         3,
                                         (std::uint64_t{1} << 26) - 1,
                                         std::uint64_t{1} << 26,
                                         (std::uint64_t{1} << 26) + 1,
                                         kRadix / 2 - 1,
                                         kRadix / 2,
                                         kRadix / 2 + 1,
                                         kRadix - 2,
                                         kRadix - 1,
                                         kRadix};

/// A random number up to 2^52, often at an edge.
std::uint64_t random_digit(naive::Generator& generate) {
  const std::uint64_t any = generate.limb() % (kRadix + 1);
  return generate.below(4) == 0 ? kEdgeDigits[generate.below(std::size(kEdgeDigits))]
                                : any >> generate.below(dpf52::kDigitBits);
}

/// The processor's fma, in rounding mode toward zero.
double hardware_fma_toward_zero(double a, double b, double c) {
  const int saved = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  const volatile double x = a;
  const volatile double y = b;
  const volatile double z = c;
  const volatile double r = std::fma(x, y, z);
  std::fesetround(saved);
  return r;
}

TEST(Dpf52Doubles, FmaRoundsTowardZeroAsTheProcessorDoes) {
  naive::Generator generate(1);
  for (unsigned i = 0; i < 200000; ++i) {
    const double a =
        std::ldexp(static_cast<double>(random_digit(generate)), static_cast<int>(generate.below(2)));
    const auto b = static_cast<double>(random_digit(generate));
    const int scale = static_cast<int>(generate.below(55));
    double c = std::ldexp(static_cast<double>(random_digit(generate)), scale);
    for (const double sign : {1.0, -1.0}) {
      c *= sign;
      ASSERT_EQ(cuda::fma_toward_zero(a, b, c), hardware_fma_toward_zero(a, b, c))
          << a << " " << b << " " << c;
      ASSERT_EQ(cuda::fma_toward_zero(-a, b, c), hardware_fma_toward_zero(-a, b, c))
          << a << " " << b << " " << c;
    }
  }
}

TEST(Dpf52Doubles, ConversionsAreExact) {
  naive::Generator generate(2);
  for (unsigned i = 0; i < 20000; ++i) {
    const std::uint64_t x = random_digit(generate);
    ASSERT_EQ(cuda::to_double(x), static_cast<double>(x));
    ASSERT_EQ(cuda::to_integer(static_cast<double>(x)), x);
    const std::uint64_t any = generate.limb();
    ASSERT_EQ(cuda::fraction_to_double(any), static_cast<double>(any % kRadix));
    ASSERT_EQ(cuda::from_pattern(cuda::pattern(cuda::fraction_plus_two52(any, cuda::kHighPatternOfTwo52))),
              static_cast<double>(any % kRadix + kRadix));
  }
}

/// product() gives the high and the low half of a b in its bit patterns.
void expect_patterns(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide exact = Wide{a} * b;
  const dpf52::ProductPatterns p = dpf52::product(static_cast<double>(a), static_cast<double>(b));
  ASSERT_EQ(p.high + dpf52::initial_value(1, 0), static_cast<std::uint64_t>(exact >> dpf52::kDigitBits))
      << a << " " << b;
  ASSERT_EQ(p.low + dpf52::initial_value(0, 1), static_cast<std::uint64_t>(exact) % kRadix) << a << " " << b;
}

TEST(Dpf52Columns, PatternsOfProducts) {
  for (const std::uint64_t a : kEdgeDigits) {
    for (const std::uint64_t b : kEdgeDigits) expect_patterns(a, b);
  }
  naive::Generator generate(3);
  for (unsigned i = 0; i < 100000; ++i) expect_patterns(random_digit(generate), random_digit(generate));
}

TEST(Dpf52Columns, QuotientDigits) {
  naive::Generator generate(4);
  for (unsigned i = 0; i < 20000; ++i) {
    const std::uint64_t n = (i % 4 == 0 ? random_digit(generate) : generate.limb()) | 1;
    const dpf52::QuotientDigits quotient(n);
    for (const std::uint64_t column :
         {random_digit(generate), generate.limb(), ~std::uint64_t{0}, n, 0 - n}) {
      const double q = quotient.of(column);
      ASSERT_TRUE(dpf52::satisfies_bounds(q, q) && q < 0x1p52) << n << " " << column;
      ASSERT_EQ((column + static_cast<std::uint64_t>(q) * n) % kRadix, 0U) << n << " " << column;
    }
  }
}

/// A number as digits, which may be 2^52.
using Digits = std::vector<std::uint64_t>;

/// Multiplication of elements that are given by their digits.
template <class Shape>
class Dpf52Digits : public testing::Test {
 protected:
  using Multiplier = typename Shape::Multiplier;
  using Element = typename Multiplier::Element;
  static constexpr unsigned kPerThread = Multiplier::kLaneWords / 2;
  static constexpr unsigned kDigits = kPerThread * Shape::kThreads;
  static constexpr unsigned kTopBits = 32 * Shape::kWords + 1 - dpf52::kDigitBits * (kDigits - 1);

  /// The number with these digits.
  static Words value(const Digits& digits) {
    Words sum(digits.size() * dpf52::kDigitBits / 32 + 3, 0);
    for (std::size_t d = 0; d < digits.size(); ++d) {
      const std::size_t at = d * dpf52::kDigitBits / 32;
      const unsigned shift = d * dpf52::kDigitBits % 32;
      const std::uint32_t parts[] = {static_cast<std::uint32_t>(digits[d] << shift),
                                     static_cast<std::uint32_t>(digits[d] << shift >> 32),
                                     static_cast<std::uint32_t>(shift == 0 ? 0 : digits[d] >> (64 - shift))};
      std::uint64_t carry = 0;
      for (std::size_t j = at; j < sum.size(); ++j) {
        carry += std::uint64_t{sum[j]} + (j - at < 3 ? parts[j - at] : 0);
        sum[j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    return sum;
  }

  /// A number below 2 W: the top digit is limited so that, with a carry into it, the number is below 2 W.
  static Digits bounded(Digits digits) {
    const std::uint64_t most = (std::uint64_t{1} << kTopBits) - 2;
    digits.back() = std::min(digits.back(), most);
    return digits;
  }

  /// Copies the digits of a lane to or from an element.
  static void set(Element& element, const Digits& digits, unsigned lane) {
    for (unsigned j = 0; j < Multiplier::kLaneWords; ++j) {
      const std::uint64_t bits = cuda::pattern(cuda::to_double(digits[lane * kPerThread + j / 2]));
      Multiplier::set_lane_word(element, j, static_cast<std::uint32_t>(bits >> (32 * (j % 2))));
    }
  }
  static void get(Digits& digits, const Element& element, unsigned lane) {
    for (unsigned j = 0; j < kPerThread; ++j) {
      const double digit = cuda::from_pattern(std::uint64_t{Multiplier::lane_word(element, 2 * j + 1)} << 32 |
                                              Multiplier::lane_word(element, 2 * j));
      EXPECT_TRUE(dpf52::satisfies_bounds(digit, digit));
      EXPECT_TRUE(Shape::kThreads > 1 || digit < 0x1p52);
      digits[lane * kPerThread + j] = static_cast<std::uint64_t>(digit);
    }
  }

  struct Results {
    Digits mul = Digits(kDigits);
    Digits sqr = Digits(kDigits);
  };
  static Results run(const Words& n, const Digits& a, const Digits& b) {
    Results r;
    EXPECT_TRUE(with_multiplier<Shape>(n, [&](const auto& m, const auto& group) {
      Element x;
      Element y;
      set(x, a, group.lane());
      set(y, b, group.lane());
      get(r.mul, m.mul(x, y), group.lane());
      get(r.sqr, m.sqr(x), group.lane());
    }));
    return r;
  }

  /// The number is below 2 n.
  static bool below_twice(const Digits& digits, const Words& n) {
    return !naive::at_least(value(digits), naive::multiply(n, {2}));
  }

  /// Products and squares are congruent to the oracle's and in range.
  static void expect_right(const Words& n, const Digits& a, const Digits& b) {
    const MontgomeryOracle oracle(n, Multiplier::kRadixBits);
    const Words x = value(a);
    const Words y = value(b);
    const Results r = run(n, a, b);
    ASSERT_EQ(oracle.reduce(value(r.mul)), oracle.montgomery(x, y));
    ASSERT_EQ(oracle.reduce(value(r.sqr)), oracle.montgomery(x, x));
    const Words largest(Shape::kWords, 0xffffffffu);  // W - 1
    ASSERT_TRUE(below_twice(r.mul, largest) && below_twice(r.sqr, largest));
    if (below_twice(a, n)) {
      ASSERT_TRUE(below_twice(r.sqr, n));
      ASSERT_TRUE(!below_twice(b, n) || below_twice(r.mul, n));
    }
  }

  static Words all_ones() { return Words(Shape::kWords, 0xffffffffu); }
};

using DigitShapes =
    testing::Types<Shape<1, 2>, Shape<1, 5>, Shape<1, 15>, Shape<2, 10>, Shape<4, 5>, Shape<16, 2>>;
TYPED_TEST_SUITE(Dpf52Digits, DigitShapes, DeviceShapeNames);

/// The largest digits and column sums that can occur.
TYPED_TEST(Dpf52Digits, LargestDigits) {
  naive::Generator generate(6);
  std::vector<Words> moduli = edge_moduli(generate, TypeParam::kWords, 0);
  if (TypeParam::kCost > 256) moduli = {this->all_ones()};
  const Digits radix = this->bounded(Digits(this->kDigits, kRadix));
  const Digits ones = this->bounded(Digits(this->kDigits, kRadix - 1));
  for (const Words& n : moduli) {
    this->expect_right(n, radix, radix);
    this->expect_right(n, ones, ones);
    this->expect_right(n, radix, ones);
  }
}

/// The word that begins in the highest digit of the last lane gets no bits of lane 0.
TYPED_TEST(Dpf52Digits, WordsBeyondTheWidestModulusAreZero) {
  const Words n = this->all_ones();
  GuardedResult r(TypeParam::kWords + 1);
  r.data()[TypeParam::kWords] = 0;
  ASSERT_TRUE(with_multiplier<TypeParam>(n, [&](const auto& m, const auto&) {
    Words below = n;
    --below[0];
    const auto scaled = m.mul(m.from_words(source_of(below)), m.from_words(WordSource{nullptr, 0, 1}));
    m.to_words(sink_of(r, TypeParam::kWords + 1), scaled);
  }));
  ASSERT_NE(r.words()[0], 0U);
  ASSERT_EQ(r.words()[TypeParam::kWords], 0U);
  ASSERT_TRUE(r.guards_intact());
}

TYPED_TEST(Dpf52Digits, RandomDigitsUpToTheRadix) {
  naive::Generator generate(7);
  const unsigned rounds = std::max(2u, 4000 / (TypeParam::kCost * TypeParam::kCost / 16 + 8));
  for (unsigned i = 0; i < rounds; ++i) {
    Words n = i % 4 == 0 ? this->all_ones() : edge_words(generate, TypeParam::kWords);
    n[0] |= 1;
    n[TypeParam::kWords - 1] |= 2;
    Digits a(this->kDigits);
    Digits b(this->kDigits);
    for (std::uint64_t& digit : a) digit = random_digit(generate);
    for (std::uint64_t& digit : b) digit = random_digit(generate);
    this->expect_right(n, this->bounded(a), this->bounded(b));
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace manymod::test
