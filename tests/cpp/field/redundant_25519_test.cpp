// SPDX-License-Identifier: Apache-2.0
// The field modulo 2^255 - 19 in redundant digits, with digits and columns at the ends of their ranges.
#include <gtest/gtest.h>

#include <cstddef>

#include "core/cpu_features.hpp"
#include "modmul/special_primes/primes.hpp"
#include "support/lane_field_redundant_25519.hpp"
#include "support/naive.hpp"

namespace manymod::test {

const Redundant25519Calls* redundant_25519() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kNeeds = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                 CpuFeature::avx512bw | CpuFeature::avx512vl | CpuFeature::avx512ifma;
  if ((cpu_info().features & kNeeds) == kNeeds) return &avx512ifma_redundant_25519();
#endif
  return nullptr;
}

namespace {

using Calls = Redundant25519Calls;
using Digits = Calls::Digits;
constexpr std::size_t kLanes = Calls::kLanes;
constexpr int kRounds = 200;

class Redundant25519 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (redundant_25519() == nullptr) GTEST_SKIP() << "needs AVX-512 IFMA";
  }
  static const Calls& calls() { return *redundant_25519(); }
  static const naive::Limbs& prime() {
    static const naive::Limbs p(std::begin(primes::Curve25519::kLimb), std::end(primes::Curve25519::kLimb));
    return p;
  }

  /// Digits below `bound`: in the first round all are as large as they can be, later some.
  Digits numbers(int round, Limb bound) {
    Digits r;
    for (Limb& digit : r) digit = round == 0 || random_.below(3) == 0 ? bound - 1 : random_.limb() % bound;
    return r;
  }
  Digits elements(int round) { return numbers(round, calls().digit_bound); }
  Digits uncarried(int round) { return numbers(round, Limb{1} << calls().uncarried_bits); }

  /// The number of a lane modulo p.
  static naive::Limbs value(const Digits& a, std::size_t lane) {
    naive::Limbs r(prime().size(), 0);
    const naive::Limbs radix{Limb{1} << calls().digit_bits, 0, 0, 0};
    for (std::size_t i = Calls::kDigits; i-- > 0;) {
      r = naive::multiply_mod(r, radix, prime());
      r = sum(r, {a[i * kLanes + lane], 0, 0, 0});
    }
    return r;
  }
  /// a + b mod p for numbers below p.
  static naive::Limbs sum(const naive::Limbs& a, const naive::Limbs& b) {
    naive::Limbs r(a.size());
    Limb carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Limb t = a[i] + carry;
      r[i] = t + b[i];
      carry = (t < carry ? 1 : 0) + (r[i] < t ? 1 : 0);
    }
    return naive::reduce(r, prime());
  }
  static naive::Limbs negated(const naive::Limbs& a) {
    naive::Limbs minus_one = prime();
    --minus_one[0];
    return naive::multiply_mod(a, minus_one, prime());
  }

  void expect_carried(const Digits& a) {
    for (const Limb digit : a) EXPECT_LT(digit, calls().digit_bound);
  }
  /// Both forms of a product.
  void expect_product(const Digits& columns, const Digits& carried, std::size_t lane,
                      const naive::Limbs& expected) {
    EXPECT_EQ(value(columns, lane), expected);
    EXPECT_EQ(value(carried, lane), expected);
  }
  void expect_ranges(const Digits& columns, const Digits& carried) {
    expect_carried(carried);
    for (const Limb column : columns) EXPECT_LT(column, Limb{1} << calls().uncarried_bits);
  }

  naive::Generator random_{25519};
};

TEST_F(Redundant25519, Products) {
  for (int round = 0; round < kRounds; ++round) {
    const Digits a = elements(round), b = elements(round);
    Digits columns, r;
    for (const auto product : {calls().mul, calls().mul_fixed}) {
      product(columns, r, a, b);
      expect_ranges(columns, r);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        expect_product(columns, r, lane, naive::multiply_mod(value(a, lane), value(b, lane), prime()));
    }
  }
}

TEST_F(Redundant25519, Squares) {
  for (int round = 0; round < kRounds; ++round) {
    const Digits a = elements(round);
    Digits columns, r;
    calls().sqr(columns, r, a);
    expect_ranges(columns, r);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      expect_product(columns, r, lane, naive::multiply_mod(value(a, lane), value(a, lane), prime()));
  }
}

TEST_F(Redundant25519, SmallProducts) {
  for (int round = 0; round < kRounds; ++round) {
    const Digits a = elements(round);
    for (const Limb k : {Limb{1}, Limb{121665}, (Limb{1} << 20) - 1}) {
      Digits columns, r;
      calls().mul_small(columns, r, a, k);
      expect_ranges(columns, r);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        expect_product(columns, r, lane, naive::multiply_mod(value(a, lane), {k, 0, 0, 0}, prime()));
    }
  }
}

TEST_F(Redundant25519, SumsAndDifferences) {
  for (int round = 0; round < kRounds; ++round) {
    const Digits a = uncarried(round), b = uncarried(round);
    const Digits zero{};
    for (const Digits& first : {a, zero}) {
      Digits r;
      calls().add(r, first, b);
      expect_carried(r);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(value(r, lane), sum(value(first, lane), value(b, lane)));
      calls().sub(r, first, b);
      expect_carried(r);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(value(r, lane), sum(value(first, lane), negated(value(b, lane))));
    }
  }
}

TEST_F(Redundant25519, Limbs) {
  for (int round = 0; round < kRounds; ++round) {
    const Digits a = uncarried(round);
    Calls::Limbs x;
    calls().to_limbs(x, a);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const naive::Limbs limbs{x[lane], x[kLanes + lane], x[2 * kLanes + lane], x[3 * kLanes + lane]};
      EXPECT_EQ(naive::reduce(limbs, prime()), value(a, lane));
    }
    for (std::size_t i = 3 * kLanes; i < x.size(); ++i) x[i] &= ~Limb{0} >> 1;
    Digits r;
    calls().from_limbs(r, x);
    expect_carried(r);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const naive::Limbs limbs{x[lane], x[kLanes + lane], x[2 * kLanes + lane], x[3 * kLanes + lane]};
      EXPECT_EQ(value(r, lane), naive::reduce(limbs, prime()));
    }
  }
}

}  // namespace
}  // namespace manymod::test
