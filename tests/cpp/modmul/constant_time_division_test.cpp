// SPDX-License-Identifier: Apache-2.0
#include "modmul/constant_time_division.hpp"

#include <gtest/gtest.h>

#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;

Limbs remainder_by(const ConstantTimeDivisor& divisor, const Limbs& n, const Limbs& x, bool negative) {
  Limbs r(n.size(), 0xAAAA);
  divisor.remainder(r, x, negative);
  return r;
}

Limbs expected(const Limbs& x, const Limbs& n, bool negative) {
  Limbs r = naive::reduce(x, n);
  if (negative) limbs::negate_mod(r, r, n);
  return r;
}

TEST(ConstantTimeDivisor, EveryDividendAndDivisorUpTo255) {
  ConstantTimeDivisor divisor;
  for (Limb value = 1; value < 256; ++value) {
    const Limbs n{value};
    divisor.assign(n);
    for (Limb x = 0; x < 256; ++x) {
      ASSERT_EQ(remainder_by(divisor, n, {x}, false), Limbs{x % value});
      ASSERT_EQ(remainder_by(divisor, n, {x}, true), Limbs{(value - x % value) % value});
    }
  }
}

TEST(ConstantTimeDivisor, EdgePatternsOfAllSizes) {
  Generator generate(31);
  ConstantTimeDivisor divisor;
  for (std::size_t size = 1; size <= 10; ++size) {
    for (int round = 0; round < 200; ++round) {
      Limbs n = generate.number(size);
      if (n.back() == 0) n.back() = 1;
      divisor.assign(n);
      const Limbs x = generate.number(1 + generate.below(2 * size + 2));
      ASSERT_EQ(remainder_by(divisor, n, x, round % 2 == 0), expected(x, n, round % 2 == 0))
          << size << " round " << round;
    }
  }
}

/// Divisors whose lower limbs are all ones or zeros below a top limb at an edge, and dividends next to their
/// multiples: the largest errors of quotient digits.
TEST(ConstantTimeDivisor, DividendsNextToMultiples) {
  ConstantTimeDivisor divisor;
  for (std::size_t size = 1; size <= 4; ++size) {
    for (const Limb top : {Limb{1}, Limb{1} << 63, (Limb{1} << 63) - 1, ~Limb{0}, Limb{1} << 62}) {
      for (const Limb below : {Limb{0}, ~Limb{0}}) {
        Limbs n(size, below);
        n.back() = top;
        divisor.assign(n);
        for (const Limb q : {Limb{1}, Limb{1} << 63, ~Limb{0}}) {
          Limbs x = naive::limbs(naive::multiply(naive::digits(n), naive::digits(Limbs(size + 1, q))),
                                 2 * size + 1);
          ASSERT_EQ(remainder_by(divisor, n, x, true), Limbs(size, 0));
          Limb borrow = 1;
          for (Limb& limb : x) limb = word::sub_borrow(limb, 0, borrow);
          ASSERT_EQ(remainder_by(divisor, n, x, false), expected(x, n, false));
        }
      }
    }
  }
}

}  // namespace
}  // namespace manymod
