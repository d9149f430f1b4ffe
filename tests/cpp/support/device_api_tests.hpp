// SPDX-License-Identifier: Apache-2.0
// Tests that every shape of device::Modulus passes, on the host. A technique's test file instantiates them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "support/device_api.hpp"

namespace manymod::test {

template <class Modulus, class Exponent>
concept TakesExponent =
    requires(const Modulus& m, const typename Modulus::Residue& a, const Exponent& e) { m.pow(a, e, 32); };

template <class Shape>
class DeviceApi : public testing::Test {
 protected:
  using ShapeModulus = typename Shape::Modulus;
  using Residue = typename ShapeModulus::Residue;
  // These have no words beyond the last one, which are read.
  static_assert(!TakesExponent<ShapeModulus, const std::uint32_t*> &&
                !TakesExponent<ShapeModulus, std::uint32_t[2]> &&
                !TakesExponent<ShapeModulus, std::array<std::uint32_t, 2>>);
  static constexpr unsigned kWords = ShapeModulus::kWords;

  static constexpr unsigned repetitions(unsigned most) {
    return std::max(1u, most * 16 / std::max(16u, Shape::kCost));
  }

  static std::vector<Words> moduli(naive::Generator& generate, unsigned random) {
    return edge_moduli(generate, kWords, repetitions(random));
  }

  /// The number that `compute` returns for the residues of a and b.
  template <class Compute>
  static Words result(const Words& n, const Words& a, const Words& b, Compute compute) {
    GuardedResult r(kWords);
    EXPECT_TRUE(with_modulus<Shape>(n, [&](const ShapeModulus& m, unsigned) {
      const Residue x = m.to_montgomery(m.load(a.data())), y = m.to_montgomery(m.load(b.data()));
      m.store(r.data(), m.from_montgomery(compute(m, x, y)));
    }));
    EXPECT_TRUE(r.guards_intact());
    return r.words();
  }

  static Words minus(const Words& a, const Words& b) {
    Words r(a.size());
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t difference = std::uint64_t{a[i]} - (i < b.size() ? b[i] : 0) - borrow;
      r[i] = static_cast<std::uint32_t>(difference);
      borrow = difference >> 63;
    }
    return r;
  }
  static Words plus(const Words& a, const Words& b) {
    Words r(a.size() + 1);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      carry += std::uint64_t{a[i]} + b[i];
      r[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    r.back() = static_cast<std::uint32_t>(carry);
    return r;
  }
  static Words gcd(Words a, Words b, const Words& zero) {
    while (b != zero) {
      Words r = sized(naive::remainder(a, b), a.size());
      a = std::move(b);
      b = std::move(r);
    }
    return a;
  }
};

TYPED_TEST_SUITE_P(DeviceApi);

/// Sums and differences of residues at the upper end of the range stay below its bound and represent the
/// correct residue. Operands are words above n: all ones below B.
TYPED_TEST_P(DeviceApi, SumsAndDifferences) {
  using Shape = TypeParam;
  using Modulus = typename Shape::Modulus;
  naive::Generator generate(11);
  for (const Words& n : this->moduli(generate, 6)) {
    const MontgomeryOracle oracle(n, 0);
    for (const Words& a : edge_operands(generate, n, 1)) {
      const Words b = edge_operands(generate, n, 1)[generate.below(9)];
      const Words x = oracle.reduce(a), y = oracle.reduce(b);
      const Words got = this->result(n, a, b, [](const Modulus& m, auto p, auto q) {
        auto sum = m.add(p, q);
        for (int i = 0; i < 6; ++i) sum = m.add(sum, sum);  // 64 (a + b)
        auto difference = m.sub(p, q);
        for (int i = 0; i < 3; ++i) difference = m.sub(m.neg(difference), q);
        return m.add(sum, difference);
      });
      const Words sum = oracle.reduce(this->plus(x, y));
      Words expected = oracle.times(sum, word_number(64, n.size()));
      // d = a - b, then three times d = -d - b: -a, a - b, -a.
      expected = oracle.reduce(this->minus(this->plus(expected, n), x));
      ASSERT_EQ(got, expected);
    }
  }
}

/// Sums and differences of numbers below B, including the largest, are below B and correct.
TYPED_TEST_P(DeviceApi, ExtremesOfTheRange) {
  using Modulus = typename TypeParam::Modulus;
  constexpr unsigned kBound = Modulus::kBoundBits;
  constexpr std::size_t kCount = kBound / 32 + 1;
  naive::Generator generate(21);
  const auto below_bound = [&] {
    Words a = edge_words(generate, kCount);
    for (unsigned bit = kBound; bit < 32 * kCount; ++bit) a[bit / 32] &= ~(std::uint32_t{1} << (bit % 32));
    return a;
  };
  const Words largest = run_of_ones(0, kBound, kCount), zero(kCount, 0);
  Words before_largest = largest;
  before_largest[0] -= 1;
  for (const Words& n : this->moduli(generate, 12)) {
    const MontgomeryOracle oracle(n, Modulus::kRadixBits);
    const std::vector<Words> operands{
        largest,       before_largest, zero, run_of_ones(kBound - 1, kBound, kCount), word_number(1, kCount),
        below_bound(), below_bound()};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Words &a = operands[i], &b = operands[(i + generate.below(operands.size())) % operands.size()];
      const Words x = oracle.reduce(a), y = oracle.reduce(b);
      GuardedResult sum(this->kWords), difference(this->kWords);
      ASSERT_TRUE(with_modulus<TypeParam>(n, [&](const Modulus& m, unsigned) {
        const typename Modulus::Residue p{m.load(api_words(a)).element}, q{m.load(api_words(b)).element};
        const typename Modulus::Integer last = m.load(api_words(largest));
        EXPECT_LE(m.compare({m.add(p, q).element}, last), 0);
        EXPECT_LE(m.compare({m.sub(p, q).element}, last), 0);
        EXPECT_LE(m.compare({m.one().element}, last), 0);
        m.store(sum.data(), m.from_montgomery(m.add(p, q)));
        m.store(difference.data(), m.from_montgomery(m.sub(p, q)));
      }));
      ASSERT_EQ(sum.words(), oracle.from_montgomery(oracle.reduce(this->plus(x, y))));
      ASSERT_EQ(difference.words(), oracle.from_montgomery(oracle.reduce(this->minus(this->plus(x, n), y))));
    }
  }
}

TYPED_TEST_P(DeviceApi, OneZeroNegAndSelect) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(12);
  const Words zero(this->kWords, 0);
  for (const Words& n : this->moduli(generate, 3)) {
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords);
    const Words x = oracle.reduce(a);
    const auto with = [&](auto compute) { return this->result(n, a, a, compute); };
    EXPECT_EQ(with([](const Modulus& m, auto, auto) { return m.one(); }), word_number(1, this->kWords));
    EXPECT_EQ(with([](const Modulus& m, auto, auto) { return m.zero(); }), zero);
    EXPECT_EQ(with([](const Modulus& m, auto p, auto) { return m.mul(p, m.one()); }), x);
    EXPECT_EQ(with([](const Modulus& m, auto p, auto) { return m.neg(p); }),
              oracle.reduce(this->minus(n, x)));
    EXPECT_EQ(with([](const Modulus& m, auto, auto) { return m.neg(m.zero()); }), zero);
    EXPECT_EQ(with([](const Modulus& m, auto, auto) { return m.to_montgomery(m.modulus()); }), zero);
    EXPECT_EQ(with([](const Modulus& m, auto p, auto) { return m.select(true, p, m.one()); }), x);
    EXPECT_EQ(with([](const Modulus& m, auto p, auto) { return m.select(false, m.one(), p); }), x);
    EXPECT_EQ(
        with([](const Modulus& m, auto p, auto) { return m.to_montgomery(m.from_montgomery(m.sqr(p))); }),
        oracle.times(x, x));
    ASSERT_FALSE(this->HasFailure());
  }
}

TYPED_TEST_P(DeviceApi, ProductsOfSums) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(13);
  for (const Words& n : this->moduli(generate, 6)) {
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords), b = edge_operands(generate, n, 1)[generate.below(9)];
    const Words x = oracle.reduce(a), y = oracle.reduce(b);
    const Words got = this->result(n, a, b, [](const Modulus& m, auto p, auto q) {
      return m.mul(m.add(p, q), m.sqr(m.sub(m.neg(p), m.neg(q))));  // (p + q) (q - p)^2
    });
    const Words difference = oracle.reduce(this->minus(this->plus(y, n), x));
    ASSERT_EQ(got, oracle.times(oracle.reduce(this->plus(x, y)), oracle.times(difference, difference)));
  }
}

TYPED_TEST_P(DeviceApi, Comparisons) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(14);
  for (const Words& n : this->moduli(generate, 2)) {
    const MontgomeryOracle oracle(n, 0);
    std::vector<Words> operands = edge_operands(generate, n, 1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Words& a = operands[i];
      Words b = operands[generate.below(operands.size())];
      if (i % 2 == 1) {  // a number that differs in one word alone
        b = a;
        b[generate.below(b.size())] ^= std::uint32_t{1} << generate.below(32);
      }
      const Words x = oracle.reduce(a), y = oracle.reduce(b);
      const int order = a == b ? 0 : naive::at_least(a, b) ? 1 : -1;
      ASSERT_TRUE(with_modulus<TypeParam>(n, [&](const Modulus& m, unsigned) {
        const auto p = m.load(a.data()), q = m.load(b.data());
        EXPECT_EQ(m.compare(p, q), order);
        EXPECT_EQ(m.compare(q, p), -order);
        EXPECT_EQ(m.equal(p, q), a == b);
        EXPECT_EQ(m.is_zero(p), significant_words(a) == 1 && a[0] == 0);
        const auto r = m.to_montgomery(p), s = m.to_montgomery(q);
        EXPECT_EQ(m.equal(r, s), x == y);
        EXPECT_EQ(m.equal(m.add(r, s), m.sub(r, m.neg(s))), true);
        EXPECT_EQ(m.is_zero(r), significant_words(x) == 1 && x[0] == 0);
        EXPECT_EQ(m.is_zero(m.sub(r, m.to_montgomery(m.load(x.data())))), true);
      }));
      ASSERT_FALSE(this->HasFailure());
    }
  }
}

/// Limbs of 64 bits give the same numbers; nothing is written beyond them, and nothing at all without `keep`.
TYPED_TEST_P(DeviceApi, Limbs) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(15);
  for (const Words& n : this->moduli(generate, 0)) {
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords);
    const naive::Limbs limbs = naive::limbs(a, Modulus::kLimbs), modulus = naive::limbs(n, Modulus::kLimbs);
    naive::Limbs r(Modulus::kLimbs + 2, kGuardWord);
    GuardedColumns memory(TypeParam::kThreads, Modulus::kSharedWords);
    run_lockstep<TypeParam::kThreads>([&](typename TypeParam::Group group) {
      const Modulus m(Modulus::words(modulus.data()), {memory.column(group.lane()), memory.stride()}, group);
      const auto reduced = m.from_montgomery(m.to_montgomery(m.load(limbs.data())));
      m.store(r.data() + 1, m.small(5), false);
      EXPECT_EQ(r[1], kGuardWord);
      group.sync();
      m.store(r.data() + 1, reduced);
    });
    ASSERT_EQ(r.front(), kGuardWord);
    ASSERT_EQ(r.back(), kGuardWord);
    ASSERT_EQ(naive::Limbs(r.begin() + 1, r.end() - 1), naive::limbs(oracle.reduce(a), Modulus::kLimbs));
  }
}

TYPED_TEST_P(DeviceApi, ReductionOfLongNumbers) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(16);
  for (const Words& n : this->moduli(generate, 0)) {
    const MontgomeryOracle oracle(n, 0);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{2} * this->kWords, std::size_t{3} * this->kWords + 1}) {
      const Words a = edge_words(generate, size);
      ASSERT_EQ(this->result(n, n, n, [&](const Modulus& m, auto, auto) { return m.reduce(api_words(a)); }),
                sized(naive::remainder(a, n), this->kWords));
    }
  }
}

TYPED_TEST_P(DeviceApi, Powers) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(17);
  constexpr unsigned kWindow = 3;
  const unsigned longest = TypeParam::kCost <= 64 ? 70 : 11;
  for (const Words& n : this->moduli(generate, 0)) {
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords);
    for (const unsigned bits : {0u, 1u, 3u, 7u, longest}) {
      Words e = edge_words(generate, 3);
      if (bits == 3) e = {0, 0, 0};  // no digit starts a power
      Words lower = e;
      for (unsigned bit = bits; bit < 96; ++bit) lower[bit / 32] &= ~(std::uint32_t{1} << (bit % 32));
      const Words expected = oracle.power(oracle.reduce(a), lower);
      GuardedColumns table(TypeParam::kThreads, Modulus::table_words(kWindow));
      GuardedColumns short_table(TypeParam::kThreads, Modulus::table_words(kWindow - 1));
      std::array<GuardedResult, 4> r{GuardedResult(this->kWords), GuardedResult(this->kWords),
                                     GuardedResult(this->kWords), GuardedResult(this->kWords)};
      ASSERT_TRUE(with_modulus<TypeParam>(n, [&](const Modulus& m, unsigned lane) {
        const auto x = m.to_montgomery(m.load(a.data()));
        const LaneMemory own{table.column(lane), table.stride()};
        const LaneMemory own_short{short_table.column(lane), short_table.stride()};
        m.store(r[0].data(), m.from_montgomery(m.template pow<kWindow>(x, api_words(e), bits, own)));
        m.store(r[1].data(), m.from_montgomery(m.template pow_public<kWindow>(x, api_words(e), bits, own)));
        m.store(r[2].data(),
                m.from_montgomery(m.template pow_uniform<kWindow>(x, api_words(e), bits, own_short)));
        m.store(r[3].data(), m.from_montgomery(m.pow_uniform(x, api_words(e), bits)));
      }));
      for (GuardedResult& one : r) {
        ASSERT_EQ(one.words(), expected) << bits << " bits";
        ASSERT_TRUE(one.guards_intact());
      }
      ASSERT_TRUE(table.guards_intact() && short_table.guards_intact());
    }
    ASSERT_EQ(this->result(n, a, a, [](const Modulus& m, auto x, auto) { return m.pow_uniform(x, 65537); }),
              oracle.power(oracle.reduce(a), 65537));
  }
}

/// Inverses if they exist, else greatest common divisors.
TYPED_TEST_P(DeviceApi, InversesAndCommonDivisors) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(18);
  const Words zero(this->kWords, 0), one = word_number(1, this->kWords);
  unsigned invertible = 0, others = 0;
  for (const Words& n : this->moduli(generate, 4)) {
    const MontgomeryOracle oracle(n, 0);
    for (const Words& a : edge_operands(generate, n, 1)) {
      const Words x = oracle.reduce(a);
      const Words divisor = this->gcd(n, x, zero);
      GuardedResult g(this->kWords), r(this->kWords);
      ASSERT_TRUE(with_modulus<TypeParam>(n, [&](const Modulus& m, unsigned) {
        bool exists = false;
        const auto inverse = m.inverse(m.to_montgomery(m.load(a.data())), exists);
        EXPECT_EQ(exists, divisor == one);
        m.store(r.data(), m.from_montgomery(inverse));
        m.store(g.data(), m.gcd_with_modulus(m.load(a.data())));
      }));
      ASSERT_EQ(g.words(), divisor);
      ASSERT_EQ(divisor == one ? oracle.times(r.words(), x) : r.words(), divisor == one ? one : zero);
      ASSERT_TRUE(g.guards_intact() && r.guards_intact());
      ++(divisor == one ? invertible : others);
    }
  }
  ASSERT_GT(invertible, 5u);
  ASSERT_GT(others, 5u);
}

/// By Fermat, modulo primes: 2^31 - 1, and 2^32 + 15 and others whose words borrow when 2 is subtracted.
TYPED_TEST_P(DeviceApi, InversesModuloPrimes) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(19);
  std::vector<std::uint64_t> primes{3, 0x7fffffff, 0x10000000f, 0xffffffff00000001, 0xffffffffffffffc5};
  if (TypeParam::kCost > 64) primes = {0xffffffff00000001};
  for (const std::uint64_t prime : primes) {
    const Words n = word_number(prime, this->kWords);
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords);
    const Words inverse =
        this->result(n, a, a, [](const Modulus& m, auto x, auto) { return m.inverse_of_prime(x); });
    const Words x = oracle.reduce(a);
    const bool zero = significant_words(x) == 1 && x[0] == 0;
    ASSERT_EQ(oracle.times(inverse, x), word_number(zero ? 0 : 1, this->kWords)) << prime;
  }
}

TYPED_TEST_P(DeviceApi, StoredConstants) {
  using Modulus = typename TypeParam::Modulus;
  naive::Generator generate(20);
  for (const Words& n : this->moduli(generate, 1)) {
    const MontgomeryOracle oracle(n, 0);
    const Words a = edge_words(generate, this->kWords);
    GuardedResult square(this->kWords), r(this->kWords);
    ASSERT_TRUE(with_modulus<TypeParam>(
        n, [&](const Modulus& m, unsigned) { m.store(square.data(), m.radix_squared_modulo()); }));
    const Words radix = oracle.power(word_number(2, 2), Modulus::kRadixBits);
    ASSERT_EQ(square.words(), oracle.times(radix, radix));
    const Words stored = square.words();
    GuardedColumns memory(TypeParam::kThreads, Modulus::kSharedWords);
    run_lockstep<TypeParam::kThreads>([&](typename TypeParam::Group group) {
      const Modulus m = Modulus::with_radix_squared(api_words(n), api_words(stored),
                                                    {memory.column(group.lane()), memory.stride()}, group);
      m.store(r.data(), m.from_montgomery(m.sqr(m.to_montgomery(m.load(a.data())))));
    });
    ASSERT_EQ(r.words(), oracle.times(oracle.reduce(a), oracle.reduce(a)));
  }
}

TYPED_TEST_P(DeviceApi, Validity) {
  using Modulus = typename TypeParam::Modulus;
  const auto valid = [&](const Words& n) { return Modulus::is_valid(api_words(n)); };
  EXPECT_TRUE(valid(word_number(3, this->kWords)));
  EXPECT_FALSE(valid(word_number(1, this->kWords)));
  EXPECT_FALSE(valid(word_number(0, this->kWords)));
  EXPECT_FALSE(valid(word_number(4, this->kWords)));
  EXPECT_TRUE(valid(run_of_ones(0, 32 * this->kWords, this->kWords + 1)));
  EXPECT_FALSE(valid(run_of_ones(0, 32 * this->kWords + 1, this->kWords + 1)));
}

REGISTER_TYPED_TEST_SUITE_P(DeviceApi, SumsAndDifferences, ExtremesOfTheRange, OneZeroNegAndSelect,
                            ProductsOfSums, Comparisons, Limbs, ReductionOfLongNumbers, Powers,
                            InversesAndCommonDivisors, InversesModuloPrimes, StoredConstants, Validity);

}  // namespace manymod::test
