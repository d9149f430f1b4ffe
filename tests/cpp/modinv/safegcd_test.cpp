// SPDX-License-Identifier: Apache-2.0
#include "modinv/safegcd.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "modinv/transition.hpp"
#include "repr/limbs.hpp"
#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;

static_assert(modinv::divsteps_needed(256) == 591);

/// The longest runs are as long as the bound at some lengths.
TEST(Divsteps, EndWithinTheBoundForAllShortNumbers) {
  for (unsigned bits = 1; bits <= 8; ++bits) {
    for (std::int64_t f = 1; f < 1 << bits; f += 2) {
      for (std::int64_t g = 0; g <= 1 << bits; ++g) {
        std::int64_t zeta = modinv::kFirstDivstep, a = f, b = g;
        for (std::size_t left = modinv::divsteps_needed(bits); left > 0; --left) {
          modinv::Transition<std::int64_t> t;
          zeta = modinv::divsteps<1>(zeta, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), t);
          const std::int64_t next = (t.u * a + t.v * b) / 2;
          b = (t.q * a + t.r * b) / 2;
          a = next;
        }
        ASSERT_EQ(b, 0) << f << ' ' << g;
        ASSERT_EQ(a < 0 ? -a : a, std::gcd(f, g)) << f << ' ' << g;
      }
    }
  }
}

class SafeGcdTest : public testing::TestWithParam<bool> {
 protected:
  SafeGcd gcd_;

  Limb invert(Limbs& r, const Limbs& x) { return GetParam() ? gcd_.invert(r, x) : gcd_.invert_var(r, x); }
};

TEST_P(SafeGcdTest, EveryResidueOfEveryOddModulusUpTo301) {
  for (Limb n = 3; n <= 301; n += 2) {
    gcd_.assign(Limbs{n});
    for (Limb x = 0; x < n; ++x) {
      Limbs r(1, 0xAAAA);
      const Limb invertible = invert(r, {x});
      ASSERT_EQ(invertible, std::gcd(x, n) == 1 ? 1U : 0U) << x << " mod " << n;
      ASSERT_EQ(invertible == 1 ? x * r[0] % n : r[0], invertible) << x << " mod " << n;
    }
  }
}

TEST_P(SafeGcdTest, InverseTimesValueIsOne) {
  Generator generate(41);
  for (std::size_t size = 1; size <= 20; ++size) {
    for (int round = 0; round < 20; ++round) {
      const Limbs n = round == 0 ? Limbs(size, ~Limb{0}) : generate.odd_modulus(size);
      gcd_.assign(n);
      Limbs x = generate.residue(n);
      if (round == 1) {
        x = n;
        --x[0];
      }
      Limbs r(size);
      const Limb invertible = invert(r, x);
      Limbs expected(size, 0);
      expected[0] = invertible;
      ASSERT_EQ(invertible == 1 ? naive::multiply_mod(r, x, n) : r, expected) << size << " round " << round;
    }
  }
}

TEST_P(SafeGcdTest, CommonFactorsAreFound) {
  Generator generate(42);
  for (std::size_t size = 2; size <= 12; ++size) {
    const Limbs factor = generate.odd_modulus(size / 2);
    const Limbs n = naive::limbs(
        naive::multiply(naive::digits(factor), naive::digits(generate.odd_modulus(size - size / 2))), size);
    if (n.back() == 0) continue;
    gcd_.assign(n);
    Limbs x = factor;
    x.resize(size, 0);
    Limbs r(size, 0xAAAA);
    EXPECT_EQ(invert(r, x), 0U);
    EXPECT_EQ(r, Limbs(size, 0));
  }
}

TEST_P(SafeGcdTest, BothRoutinesAgreeAt16384Bits) {
  Generator generate(43);
  const Limbs n = generate.odd_modulus(256);
  const Limbs x = naive::reduce(generate.number(256), n);
  gcd_.assign(n);
  Limbs constant(256);
  Limbs variable(256);
  EXPECT_EQ(gcd_.invert(constant, x), gcd_.invert_var(variable, x));
  EXPECT_EQ(constant, variable);
}

std::string routine_name(const testing::TestParamInfo<bool>& info) {
  return info.param ? "constant_time" : "variable_time";
}

INSTANTIATE_TEST_SUITE_P(Routines, SafeGcdTest, testing::Bool(), routine_name);

}  // namespace
}  // namespace manymod
