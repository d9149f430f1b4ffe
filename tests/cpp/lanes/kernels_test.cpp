// SPDX-License-Identifier: Apache-2.0
// Tests of the arithmetic of every table of lanes::Kernels, the same for all techniques, against slow
// arithmetic on plain integers.
#include <array>
#include <cfenv>

#include "support/lane_kernel_tests.hpp"

namespace manymod::lane_kernel_tests {
namespace {

/// Tables whose digits may have undefined bits above w.
class LooseDigits : public LaneKernels {};

/// Tables with shift_mod.
class ShiftingLanes : public LaneKernels {
 protected:
  /// A modulus that it serves: n >= 2^(w (L - 3)).
  [[nodiscard]] static Limbs shifting_modulus(Generator& generate, std::size_t digits, std::size_t kind) {
    const std::size_t least = digits > 3 ? w() * (digits - 3) : 0;
    Limbs n = modulus(generate, digits, kind % kModulusKinds);
    if (kind % 3 == 0) n = test::small(1, n.size());
    if (test::bit_length(n) > least) return n;
    return test::sum(test::truncated(n, least), test::power_of_two_limbs(least, n.size()));
  }
  /// A value below 2 n, often at the ends or in the middle.
  [[nodiscard]] static Limbs shifted_value(Generator& generate, const Limbs& n) {
    const Limbs one = test::small(1, n.size());
    switch (generate.below(7)) {
      case 0:
        return Limbs(n.size(), 0);
      case 1:
        return test::difference(n, one);
      case 2:
        return n;
      case 3:
        return test::difference(bound(n), one);
      case 4:
        return one;
      default:
        return random_below(generate, bound(n));
    }
  }
  /// Bits to shift by: around whole steps, those that R and R^2 need, and any.
  [[nodiscard]] static std::size_t shift(Generator& generate, std::size_t digits) {
    const std::size_t all = w() * digits;
    const std::array<std::size_t, 8> chosen = {1, 42, 43, 44, 86, 87, all, 1 + generate.below(all + 60)};
    return chosen[generate.below(chosen.size())];
  }
};

/// A rounding mode of the processor's floating-point unit, while it lives.
class Rounding {
 public:
  explicit Rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

TEST(LaneValues, ReductionAgreesWithDivision) {
  Generator generate(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = 1 + generate.below(5);
    const std::size_t bits = kLimbBits * size - generate.below(kLimbBits);
    const Limbs n = generate.odd_modulus(size);
    const Limbs a = test::truncated(generate.number(size), bits);
    const Limbs b = generate.residue(n);
    const Limbs r = test::montgomery_product(a, b, n, bits);
    ASSERT_EQ(naive::multiply_mod(r, test::power_of_two_limbs(bits, size + 1), n),
              naive::multiply_mod(a, b, n));
    ASSERT_TRUE(test::below(r, n));
  }
}

TEST_P(LaneKernels, DigitCountsLeaveTheHeadroom) {
  for (std::size_t bits = 1; bits <= kernels().max_digits * w() - kernels().headroom_bits; ++bits) {
    const std::size_t digits = kernels().digits_for(bits);
    ASSERT_GE(digits * w(), bits + kernels().headroom_bits);
    ASSERT_GE(digits, kernels().min_digits);
    ASSERT_LE(digits, kernels().max_digits);
    ASSERT_EQ(digits % kernels().digit_multiple, 0U);
  }
}

TEST_P(LaneKernels, MultipliesAndSquares) {
  Generator generate(2);
  for (const std::size_t digits : digit_counts(45)) {
    KernelRunner runner(digits, 0xAAAAAAAAAAAAAAAA);
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      const Operands x = almost_reduced(generate, digits, round);
      const GuardedWords n = modulus_block(x.n, digits);
      const GuardedWords a = test::pack(kernels(), x.a, digits);
      const GuardedWords b = test::pack(kernels(), x.b, digits);
      ASSERT_NO_FATAL_FAILURE(expect_product(runner.mul(a, b, n), digits, x.a, x.b, x.n, "mul"));
      ASSERT_NO_FATAL_FAILURE(expect_product(runner.sqr(a, n), digits, x.a, x.a, x.n, "sqr"));
      ASSERT_EQ(a.words(), test::pack(kernels(), x.a, digits).words()) << "an operand is written";
    }
  }
}

TEST_P(LaneKernels, MultipliesAnUnreducedFactor) {
  Generator generate(3);
  for (const std::size_t digits : digit_counts(45)) {
    KernelRunner runner(digits, ~Limb{0});
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      const Operands x = wide_factor(generate, digits, round);
      const GuardedWords& r = runner.mul(test::pack(kernels(), x.a, digits),
                                         test::pack(kernels(), x.b, digits), modulus_block(x.n, digits));
      ASSERT_NO_FATAL_FAILURE(expect_product(r, digits, x.a, x.b, x.n, "a < R", GetParam().slack));
    }
  }
}

TEST_P(LaneKernels, ResultMayBeAnOperand) {
  Generator generate(4);
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    const GuardedWords b = test::pack(kernels(), x.b, digits);
    GuardedWords scratch(kernels().scratch_words(digits));
    KernelRunner runner(digits, 0);
    const std::vector<Limb> product = digits_of(runner.mul(a, b, n));
    const std::vector<Limb> square = digits_of(runner.sqr(a, n));
    GuardedWords first(a);
    kernels().mul(first.data(), first.data(), b.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(first), product) << digits;
    GuardedWords second(b);
    kernels().mul(second.data(), a.data(), second.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(second), product) << digits;
    GuardedWords both(a);
    kernels().mul(both.data(), both.data(), both.data(), n.data(), digits, scratch.data());
    ASSERT_NO_FATAL_FAILURE(expect_product(both, digits, x.a, x.a, x.n, "r, a and b are one"));
    GuardedWords squared(a);
    kernels().sqr(squared.data(), squared.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(squared), square) << digits;
  }
}

TEST_P(LaneKernels, ScratchMayHoldAnything) {
  Generator generate(5);
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    const GuardedWords b = test::pack(kernels(), x.b, digits);
    KernelRunner zeros(digits, 0);
    const std::vector<Limb> product = digits_of(zeros.mul(a, b, n));
    const std::vector<Limb> square = digits_of(zeros.sqr(a, n));
    for (const Limb fill : {~Limb{0}, Limb{0xAAAAAAAAAAAAAAAA}}) {
      KernelRunner filled(digits, fill);
      ASSERT_EQ(digits_of(filled.mul(a, b, n)), product) << digits;
      ASSERT_EQ(digits_of(filled.sqr(a, n)), square) << digits;
    }
  }
}

TEST_P(LaneKernels, PermutedLanesGivePermutedResults) {
  Generator generate(6);
  const auto permuted = [&](LaneValues values, std::size_t shift) {
    std::reverse(values.begin(), values.end());
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shift), values.end());
    return values;
  };
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    KernelRunner runner(digits, 0);
    const auto results = [&](const Operands& y) {
      const GuardedWords n = modulus_block(y.n, digits);
      const GuardedWords a = test::pack(kernels(), y.a, digits);
      LaneValues values;
      const GuardedWords product(runner.mul(a, test::pack(kernels(), y.b, digits), n));
      const GuardedWords square(runner.sqr(a, n));
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs both = test::unpack(kernels(), product.data(), digits, lane);
        const Limbs second = test::unpack(kernels(), square.data(), digits, lane);
        both.insert(both.end(), second.begin(), second.end());
        values.push_back(both);
      }
      return values;
    };
    const LaneValues expected = results(x);
    for (std::size_t shift = 0; shift < lanes(); ++shift) {
      const Operands y{permuted(x.a, shift), permuted(x.b, shift), permuted(x.n, shift)};
      ASSERT_EQ(results(y), permuted(expected, shift)) << digits << " digits, shift " << shift;
    }
  }
}

/// One lane's operands stay the same while all other lanes take extreme operands or random words out of
/// range.
TEST_P(LaneKernels, LanesAreIndependent) {
  if (lanes() == 1) return;
  Generator generate(7);
  for (const std::size_t digits : digit_counts(24)) {
    const Operands x = almost_reduced(generate, digits, digits);
    KernelRunner runner(digits, 0);
    const std::vector<Limb> product = digits_of(runner.mul(
        test::pack(kernels(), x.a, digits), test::pack(kernels(), x.b, digits), modulus_block(x.n, digits)));
    const std::vector<Limb> square =
        digits_of(runner.sqr(test::pack(kernels(), x.a, digits), modulus_block(x.n, digits)));
    const auto expect_unchanged = [&](std::size_t fixed_lane, const GuardedWords& a, const GuardedWords& b,
                                      const GuardedWords& n, const char* what) {
      const std::vector<Limb> p = digits_of(runner.mul(a, b, n));
      const std::vector<Limb> s = digits_of(runner.sqr(a, n));
      for (std::size_t at = fixed_lane; at < p.size(); at += lanes()) {
        ASSERT_EQ(p[at], product[at]) << what << ", lane " << fixed_lane << " of " << digits << " digits";
        ASSERT_EQ(s[at], square[at]) << what << ", lane " << fixed_lane << " of " << digits << " digits";
      }
    };
    for (std::size_t fixed_lane = 0; fixed_lane < lanes(); ++fixed_lane) {
      Operands largest = x;
      Operands zero = x;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        if (lane == fixed_lane) continue;
        const Limbs n = modulus(generate, digits, 0);
        const Limbs top = test::difference(bound(n), test::small(1, n.size()));
        largest.n[lane] = n;
        largest.a[lane] = largest.b[lane] = top;
        zero.a[lane] = zero.b[lane] = Limbs(n.size(), 0);
      }
      for (const Operands& y : {largest, zero}) {
        ASSERT_NO_FATAL_FAILURE(expect_unchanged(fixed_lane, test::pack(kernels(), y.a, digits),
                                                 test::pack(kernels(), y.b, digits),
                                                 modulus_block(y.n, digits), "extreme neighbours"));
      }
#if !MANYMOD_VERIFY  // a VERIFY build stops at operands out of range
      GuardedWords a = test::pack(kernels(), x.a, digits);
      GuardedWords b = test::pack(kernels(), x.b, digits);
      GuardedWords n = modulus_block(x.n, digits);
      const Limb mask = GetParam().loose_digits ? ~Limb{0} : test::low_bits(w());
      for (GuardedWords* element : {&a, &b, &n}) {
        for (std::size_t at = 0; at < element->size(); ++at) {
          if (at % lanes() != fixed_lane) (*element)[at] = generate.limb() & mask;
        }
      }
      ASSERT_NO_FATAL_FAILURE(expect_unchanged(fixed_lane, a, b, n, "random neighbours"));
#endif
    }
  }
}

/// Random bits above the digits of operands do not change any result.
TEST_P(LooseDigits, BitsAboveTheDigitsAreIgnored) {
  Generator generate(8);
  const auto with_random_high_bits = [&](const LaneValues& values, std::size_t digits) {
    GuardedWords element = test::pack(kernels(), values, digits);
    for (std::size_t at = 0; at < element.size(); ++at) element[at] |= generate.limb() << w();
    return element;
  };
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    KernelRunner runner(digits, 0);
    ASSERT_NO_FATAL_FAILURE(
        expect_product(runner.mul(with_random_high_bits(x.a, digits), with_random_high_bits(x.b, digits), n),
                       digits, x.a, x.b, x.n, "mul"));
    ASSERT_NO_FATAL_FAILURE(
        expect_product(runner.sqr(with_random_high_bits(x.a, digits), n), digits, x.a, x.a, x.n, "sqr"));
    GuardedWords r(digits * lanes());
    const GuardedWords m = test::pack(kernels(), x.n, digits);
    LaneValues reduced = x.a;
    for (std::size_t lane = 0; lane < lanes(); ++lane)
      if (!test::below(x.a[lane], x.n[lane])) reduced[lane] = test::difference(x.a[lane], x.n[lane]);
    kernels().add_mod(r.data(), with_random_high_bits(x.a, digits).data(),
                      with_random_high_bits(LaneValues(lanes(), {0}), digits).data(), m.data(), digits);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      ASSERT_EQ(test::unpack(kernels(), r.data(), digits, lane), reduced[lane]) << "add_mod, " << digits;
    }
  }
}

/// Sums a + b < 2 m near 0, m and 2 m; also with m = 2 n, the bound of almost reduced values.
TEST_P(LaneKernels, AddsAtTheEdges) {
  Generator generate(9);
  for (const std::size_t digits : digit_counts(45)) {
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      LaneValues a, b, m, expected;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs n = modulus(generate, digits, (lane + round / 2) % kModulusKinds);
        if (round % 2 == 0) n = bound(n);
        const Limbs one = test::small(1, n.size());
        const Limbs top = test::difference(n, one);
        Limbs x = random_below(generate, n);
        Limbs y = random_below(generate, n);
        switch (generate.below(8)) {
          case 0:  // m - 1
            y = test::difference(top, x);
            break;
          case 1:  // m
            y = test::difference(n, x);
            break;
          case 2:  // m + 1
            x = top;
            y = test::small(2, n.size());
            break;
          case 3:  // 2m - 2
            x = y = top;
            break;
          case 4:  // 2m - 1
            x = n;
            y = top;
            break;
          case 5:
            x = y = Limbs(n.size(), 0);
            break;
          case 6:  // an operand above m
            if (!fully_reduced()) x = test::sum(n, test::difference(top, y));
            break;
          default:
            break;
        }
        expected.push_back(sum_mod(x, y, n));
        a.push_back(x);
        b.push_back(y);
        m.push_back(n);
      }
      GuardedWords r(digits * lanes());
      GuardedWords x = test::pack(kernels(), a, digits);
      const GuardedWords y = test::pack(kernels(), b, digits);
      const GuardedWords modulus = test::pack(kernels(), m, digits);
      const std::vector<Limb> wanted = test::pack(kernels(), expected, digits).words();
      kernels().add_mod(r.data(), x.data(), y.data(), modulus.data(), digits);
      ASSERT_EQ(r.words(), wanted) << digits;
      ASSERT_TRUE(r.guards_intact());
      GuardedWords second(y);
      kernels().add_mod(second.data(), x.data(), second.data(), modulus.data(), digits);
      ASSERT_EQ(second.words(), wanted) << digits;
      kernels().add_mod(x.data(), x.data(), y.data(), modulus.data(), digits);
      ASSERT_EQ(x.words(), wanted) << digits;
    }
  }
}

/// Quotients are estimated by doubles: in every rounding mode they must not be too large, and little too
/// small.
TEST_P(ShiftingLanes, ShiftsAtTheEdges) {
  Generator generate(10);
  for (const std::size_t digits : digit_counts(45)) {
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      LaneValues a, n;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        n.push_back(shifting_modulus(generate, digits, lane + round));
        a.push_back(shifted_value(generate, n.back()));
      }
      const std::size_t bits = shift(generate, digits);
      GuardedWords r = test::pack(kernels(), a, digits);
      const GuardedWords modulus = modulus_block(n, digits);
      {
        const Rounding rounding(std::array{FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}[round % 4]);
        kernels().shift_mod(r.data(), modulus.data(), digits, bits);
      }
      ASSERT_TRUE(r.guards_intact());
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        const Limbs found = test::unpack(kernels(), r.data(), digits, lane);
        ASSERT_TRUE(test::below(found, bound(n[lane]))) << digits << " digits, " << bits << " bits";
        const Limbs power = test::power_of_two_limbs(bits, bits / kLimbBits + 1);
        ASSERT_EQ(naive::multiply_mod(found, test::small(1, 1), n[lane]),
                  naive::multiply_mod(a[lane], power, n[lane]))
            << digits << " digits, " << bits << " bits";
      }
    }
  }
}

#if MANYMOD_X86_64
INSTANTIATE_TEST_SUITE_P(Techniques, LaneKernels, testing::ValuesIn(test::lane_kernel_sets()),
                         test::lane_kernel_set_name);
INSTANTIATE_TEST_SUITE_P(Techniques, LooseDigits,
                         testing::ValuesIn(sets_with([](const auto& set) { return set.loose_digits; })),
                         test::lane_kernel_set_name);
INSTANTIATE_TEST_SUITE_P(Techniques, ShiftingLanes, testing::ValuesIn(sets_with([](const auto& set) {
                           return set.kernels->shift_mod != nullptr;
                         })),
                         test::lane_kernel_set_name);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneKernels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShiftingLanes);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LooseDigits);
#endif

}  // namespace
}  // namespace manymod::lane_kernel_tests
