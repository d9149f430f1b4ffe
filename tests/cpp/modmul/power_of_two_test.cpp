// SPDX-License-Identifier: Apache-2.0
#include "modmul/power_of_two.hpp"

#include <gtest/gtest.h>

#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;

/// 2^k.
Limbs power_of_two(std::size_t k) {
  Limbs n(k / 64 + 1, 0);
  n.back() = Limb{1} << (k % 64);
  return n;
}

TEST(PowerOfTwoRing, AllProductsAndInversesUpTo256) {
  PowerOfTwoRing ring;
  for (std::size_t k = 1; k <= 8; ++k) {
    ring.assign(k);
    const Limb n = Limb{1} << k;
    for (Limb a = 0; a < n; ++a) {
      for (Limb b = 0; b < n; ++b) {
        Limb r = 0;
        ring.mul(&r, &a, &b);
        ASSERT_EQ(r, a * b % n);
      }
      if (a % 2 == 1) {
        Limb inverse = 0;
        ring.invert(&inverse, &a);
        ASSERT_EQ(a * inverse % n, 1 % n) << a << " mod " << n;
      }
    }
  }
}

TEST(PowerOfTwoRing, WideRings) {
  Generator generate(31);
  PowerOfTwoRing ring;
  for (const std::size_t k : {63U, 64U, 65U, 127U, 128U, 129U, 500U, 2048U, 2113U}) {
    ring.assign(k);
    const Limbs n = power_of_two(k);
    Limbs a = generate.number(ring.words());
    limbs::truncate_bits(a, k);
    a[0] |= 1;
    Limbs b = generate.number(ring.words());
    limbs::truncate_bits(b, k);
    Limbs r(ring.words());
    ring.mul(r.data(), a.data(), b.data());
    Limbs expected = naive::multiply_mod(a, b, n);
    expected.resize(ring.words());
    ASSERT_EQ(r, expected) << k;
    Limbs inverse(ring.words());
    ring.invert(inverse.data(), a.data());
    ring.mul(r.data(), a.data(), inverse.data());
    Limbs one(ring.words(), 0);
    one[0] = 1;
    ASSERT_EQ(r, one) << k;
  }
}

TEST(PowerOfTwoRing, NegativeNumbersWrap) {
  PowerOfTwoRing ring;
  ring.assign(70);
  Limbs r(2);
  ring.reduce(r, Limbs{5, 0, 9}, true);
  EXPECT_EQ(r, (Limbs{~Limb{0} - 4, 0x3F}));
}

/// combine(x mod m, x mod 2^k) = x for every x below every even n up to 400.
TEST(EvenSplit, CombinesEveryResidue) {
  EvenSplit split;
  for (Limb n = 2; n <= 400; n += 2) {
    split.assign(Limbs{n});
    const Limb m = split.odd_part()[0];
    ASSERT_EQ(m << split.ring().bits(), n);
    ASSERT_EQ(split.odd_part_is_one(), m == 1);
    for (Limb x = 0; x < n; ++x) {
      Limb r = 0;
      const Limb x_m = x % m;
      const Limb x_2 = x & ((Limb{1} << split.ring().bits()) - 1);
      split.combine({&r, 1}, {&x_m, 1}, {&x_2, 1});
      ASSERT_EQ(r, x) << "mod " << n;
    }
  }
}

TEST(EvenSplit, WideModuliWithEveryPositionOfTheOddPart) {
  Generator generate(32);
  EvenSplit split;
  for (std::size_t zeros = 1; zeros < 5 * 64; zeros += 13) {
    Limbs n = generate.odd_modulus(5);
    for (std::size_t i = 0; i < zeros / 64; ++i) n[i] = 0;
    n[zeros / 64] = (n[zeros / 64] | 1) << (zeros % 64);
    if (n[zeros / 64] == 0 || n.back() == 0) continue;
    split.assign(n);
    const Limbs x = naive::reduce(generate.number(5), n);
    const Limbs x_m = naive::reduce(x, {split.odd_part().begin(), split.odd_part().end()});
    Limbs x_2(split.ring().words());
    split.ring().reduce(x_2, x, false);
    Limbs r(5);
    split.combine(r, x_m, x_2);
    ASSERT_EQ(r, x) << zeros;
  }
}

}  // namespace
}  // namespace manymod
