// SPDX-License-Identifier: Apache-2.0
#include "modmul/division.hpp"

#include <gtest/gtest.h>

#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;

/// u mod n by the code under test.
Limbs remainder_by(const Divisor& divisor, const Limbs& u) {
  Limbs r(divisor.limbs(), 0xAAAA);
  Limbs scratch(Divisor::scratch_limbs(u.size()));
  divisor.remainder_var(r, u, scratch.data());
  return r;
}

TEST(Divisor, EveryDividendAndDivisorUpTo255) {
  Divisor divisor;
  for (Limb n = 1; n < 256; ++n) {
    divisor.assign(Limbs{n});
    for (Limb u = 0; u < 256; ++u) ASSERT_EQ(remainder_by(divisor, {u}), Limbs{u % n});
  }
}

TEST(Divisor, EdgePatternsOfAllSizes) {
  Generator generate(21);
  Divisor divisor;
  for (std::size_t size = 1; size <= 12; ++size) {
    for (int round = 0; round < 300; ++round) {
      Limbs n = generate.number(size);
      if (n.back() == 0) n.back() = 1;
      divisor.assign(n);
      const Limbs u = generate.number(1 + generate.below(2 * size + 2));
      ASSERT_EQ(remainder_by(divisor, u), naive::reduce(u, n)) << size << " round " << round;
    }
  }
}

/// Dividends q n + r, with q of all ones and r = n - 1, give the largest estimates of quotient digits.
TEST(Divisor, LargestQuotientDigits) {
  Generator generate(22);
  Divisor divisor;
  for (std::size_t size = 1; size <= 8; ++size) {
    for (const Limb top : {Limb{1} << 63, (Limb{1} << 63) + 1, ~Limb{0}, Limb{1}}) {
      Limbs n = generate.number(size);
      n.back() = top;
      divisor.assign(n);
      Limbs u = naive::limbs(naive::multiply(naive::digits(n), naive::digits(Limbs(size + 1, ~Limb{0}))),
                             2 * size + 1);
      ASSERT_EQ(remainder_by(divisor, u), Limbs(size, 0));
      Limb borrow = 1;
      for (Limb& limb : u) limb = word::sub_borrow(limb, 0, borrow);
      Limbs expected = n;
      borrow = 1;
      for (Limb& limb : expected) limb = word::sub_borrow(limb, 0, borrow);
      ASSERT_EQ(remainder_by(divisor, u), expected);
    }
  }
}

TEST(Divisor, RemainderMayOverwriteTheDividend) {
  Divisor divisor;
  divisor.assign(Limbs{7, 5});
  Limbs u{3, 9, 1, 4};
  const Limbs expected = naive::reduce(u, {7, 5});
  Limbs scratch(Divisor::scratch_limbs(u.size()));
  divisor.remainder_var(std::span(u).first(2), u, scratch.data());
  EXPECT_EQ(Limbs(u.begin(), u.begin() + 2), expected);
}

}  // namespace
}  // namespace manymod
