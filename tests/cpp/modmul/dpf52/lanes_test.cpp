// SPDX-License-Identifier: Apache-2.0
// Tests of dpf52 on CPUs only: the lemmas on edge values, MXCSR, the predicates, the largest column sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "arch/scalar/word.hpp"
#include "core/cpu_features.hpp"
#include "modmul/dpf52/bounds.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "support/naive.hpp"

namespace manymod::dpf52 {
namespace {

constexpr Limb kRadix = Limb{1} << kDigitBits;
constexpr Limb kMask = kRadix - 1;

TEST(Dpf52Bounds, PredicateAcceptsDigitsUpToTheRadix) {
  for (const double digit : {0.0, 1.0, 0x1p51, 0x1p52 - 1, 0x1p52}) {
    EXPECT_TRUE(satisfies_bounds(digit, 0x1p52));
    EXPECT_TRUE(satisfies_bounds(0x1p52, digit));
  }
}

TEST(Dpf52Bounds, PredicateRejectsEverythingElse) {
  using Limits = std::numeric_limits<double>;
  for (const double bad : {-1.0, 0.5, 0x1p51 + 0.5, 0x1p52 + 1, 0x1p53, 0x1p104, Limits::denorm_min(),
                           Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    EXPECT_FALSE(satisfies_bounds(bad, 1)) << bad;
    EXPECT_FALSE(satisfies_bounds(1, bad)) << bad;
  }
}

TEST(Dpf52Bounds, ColumnsFitUpToTheLargestDigitCount) {
  EXPECT_TRUE(columns_fit(kMinDigits));
  EXPECT_TRUE(columns_fit(kMaxDigits));
  EXPECT_FALSE(columns_fit(kMaxDigits + 1));
  EXPECT_GE(kMaxDigits * kDigitBits, kMaxModulusBits + 2);
}

TEST(Dpf52Bounds, ExactDigits) {
  std::array<Limb, 3> words{0, kMask, 7};
  EXPECT_TRUE(exact_digits(words.data(), words.size()));
  words[2] = kRadix;
  EXPECT_FALSE(exact_digits(words.data(), words.size()));
  EXPECT_TRUE(exact_digits(words.data(), 2));
}

#if MANYMOD_X86_64

/// Words on a 64-byte boundary, initially 0.
class Words {
 public:
  explicit Words(std::size_t count) : lines_((count + 7) / 8) {}
  Limb* data() { return lines_.front().words.data(); }
  Limb& operator[](std::size_t i) { return lines_[i / 8].words[i % 8]; }
  friend bool operator==(const Words&, const Words&) = default;

 private:
  struct alignas(64) Line {
    std::array<Limb, 8> words{};
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines_;
};

/// Sets MXCSR for the lifetime of the object, then restores it.
class ScopedMxcsr {
 public:
  explicit ScopedMxcsr(std::uint32_t value) : saved_(read()) { write(value); }
  ~ScopedMxcsr() { write(saved_); }
  ScopedMxcsr(const ScopedMxcsr&) = delete;
  ScopedMxcsr& operator=(const ScopedMxcsr&) = delete;

  static std::uint32_t read() {
    std::uint32_t value = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
  }

 private:
  std::uint32_t saved_;
  static void write(std::uint32_t value) { __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
};

constexpr std::uint32_t kMaskAll = 0x1F80;
constexpr std::uint32_t kMxcsrValues[] = {
    kMaskAll,                             // the initial value of a process
    kMaskAll | 0x2000,                    // round down
    kMaskAll | 0x4000,                    // round up
    kMaskAll | 0x6000,                    // round toward zero
    kMaskAll | 0x8040,                    // flush to zero, denormals are zero
    kMaskAll | 0x8040 | 0x4000,           // both of these, round up
    kMaskAll | 0x0015,                    // some sticky flags
    kMaskAll | 0x003F,                    // all sticky flags
    0x0000,                               // every exception traps
    0xE040,                               // every exception traps, round toward zero, FTZ, DAZ
    (kMaskAll & ~std::uint32_t{0x1000}),  // inexact traps
};

/// The kernels of one instruction set.
struct Set {
  const char* name;
  CpuFeatures needed;
  const DigitKernels& (*kernels)();
};

class Dpf52 : public testing::TestWithParam<Set> {
 protected:
  void SetUp() override {
    const CpuFeatures needed = GetParam().needed;
    if ((cpu_info().features & needed) != needed) {
      GTEST_SKIP() << "needs " << cpu_feature_names(needed);
    }
  }
  [[nodiscard]] static const lanes::Kernels& kernels() { return GetParam().kernels().lanes; }
  [[nodiscard]] static std::size_t lanes() { return kernels().lanes; }

  /// split_product gives the high and the low half of each product of a and b.
  static void expect_split(const std::vector<Limb>& a, const std::vector<Limb>& b) {
    for (std::size_t first = 0; first < a.size(); first += lanes()) {
      Words x(lanes());
      Words y(lanes());
      Words high(lanes());
      Words low(lanes());
      const std::size_t count = std::min(lanes(), a.size() - first);
      std::copy_n(a.data() + first, count, x.data());
      std::copy_n(b.data() + first, count, y.data());
      GetParam().kernels().split_product(high.data(), low.data(), x.data(), y.data());
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        __extension__ using Wide = unsigned __int128;
        const Wide product = Wide{x[lane]} * y[lane];
        ASSERT_EQ(high[lane], static_cast<Limb>(product >> kDigitBits)) << x[lane] << " " << y[lane];
        ASSERT_EQ(low[lane], static_cast<Limb>(product) & kMask) << x[lane] << " " << y[lane];
      }
    }
  }

  /// Operands and modulus of every lane, and the results of mul and sqr.
  struct Case {
    explicit Case(std::size_t count)
        : digits(count), a(count * lanes()), b(a), n((count + 1) * lanes()), product(a), square(a) {}

    std::size_t digits;
    Words a;
    Words b;
    Words n;
    Words product;
    Words square;

    void run() {
      Words scratch(kernels().scratch_words(digits));
      kernels().mul(product.data(), a.data(), b.data(), n.data(), digits, scratch.data());
      kernels().sqr(square.data(), a.data(), n.data(), digits, scratch.data());
    }

    /// The low `count` digits of a lane as limbs.
    [[nodiscard]] static naive::Limbs value(Words& element, std::size_t count, std::size_t lane) {
      naive::Limbs limbs((count * kDigitBits + kLimbBits - 1) / kLimbBits, 0);
      for (std::size_t bit = 0; bit < count * kDigitBits; ++bit) {
        const Limb digit = element[bit / kDigitBits * lanes() + lane];
        limbs[bit / kLimbBits] |= (digit >> (bit % kDigitBits) & 1) << (bit % kLimbBits);
      }
      return limbs;
    }

    void expect_right() {
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        const naive::Limbs x = value(a, digits, lane);
        expect_quotient(product, naive::multiply(naive::digits(x), naive::digits(value(b, digits, lane))),
                        lane);
        expect_quotient(square, naive::multiply(naive::digits(x), naive::digits(x)), lane);
      }
    }

    /// result R = t mod n, result < 2 n, exact digits.
    void expect_quotient(Words& result, const naive::Digits& t, std::size_t lane) {
      const naive::Digits modulus = naive::digits(value(n, digits, lane));
      naive::Digits radix(digits * kDigitBits / 32 + 1, 0);
      radix.back() = std::uint32_t{1} << (digits * kDigitBits % 32);
      const naive::Digits r = naive::digits(value(result, digits, lane));
      ASSERT_EQ(naive::limbs(naive::remainder(naive::multiply(r, radix), modulus), digits),
                naive::limbs(naive::remainder(t, modulus), digits))
          << digits << " digits, lane " << lane;
      ASSERT_FALSE(naive::at_least(r, naive::multiply(modulus, {2}))) << digits << " digits, lane " << lane;
      ASSERT_TRUE(exact_digits(result.data(), digits * lanes()));
    }
  };

  /// Moduli as large as L digits permit. Operands a = 2 n - 1 in even lanes; otherwise random numbers below
  /// n.
  static Case make_case(std::size_t digits, std::uint64_t seed) {
    naive::Generator generate(seed);
    Case c(digits);
    const std::size_t top = digits - 1;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const auto at = [lane](std::size_t digit) { return digit * lanes() + lane; };
      for (std::size_t d = 0; d < digits; ++d) {
        c.n[at(d)] = lane < 2 ? kMask : generate.limb() & kMask;
        c.a[at(d)] = generate.limb() & kMask;
        c.b[at(d)] = lane % 3 == 0 ? kMask : generate.limb() & kMask;
      }
      c.n[at(0)] |= 1;
      c.n[at(top)] = (c.n[at(top)] & (kMask >> 2)) | kRadix >> 3;  // R / 8 < n < R / 4
      c.a[at(top)] &= kMask >> 4;
      c.b[at(top)] &= kMask >> 4;
      if (lane % 2 == 0) {
        for (std::size_t d = 0; d < digits; ++d) {
          const Limb below = d == 0 ? 0 : c.n[at(d - 1)] >> (kDigitBits - 1);
          c.a[at(d)] = (c.n[at(d)] << 1 & kMask) | below;
        }
        c.a[at(0)] -= 1;  // no borrow: as n is odd, the lowest digit of 2 n is not 0
      }
      c.n[at(digits)] = word::negated_inverse(c.n[at(0)]) & kMask;
    }
    return c;
  }
};

TEST_P(Dpf52, SplitProductOfEdgeDigits) {
  const Limb edges[] = {0,
                        1,
                        2,
                        3,
                        Limb{1} << 26,
                        (Limb{1} << 26) + 1,
                        kRadix / 2 - 1,
                        kRadix / 2,
                        kRadix / 2 + 1,
                        kRadix - 2,
                        kRadix - 1,
                        kRadix};
  std::vector<Limb> a;
  std::vector<Limb> b;
  for (const Limb x : edges) {
    for (const Limb y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  expect_split(a, b);
}

TEST_P(Dpf52, SplitProductOfRandomDigits) {
  naive::Generator generate(52);
  std::vector<Limb> a(1 << 16);
  std::vector<Limb> b(a.size());
  for (Limb& x : a) x = generate.limb() % (kRadix + 1);
  for (Limb& y : b) y = generate.limb() % (kRadix + 1);
  expect_split(a, b);
}

TEST_P(Dpf52, EveryKernelPreservesMxcsr) {
  Case c = make_case(5, 1);
  Words scratch(kernels().scratch_words(5));
  Words r(5 * lanes());
  Words other(5 * lanes());
  const auto expect_unchanged = [](std::uint32_t wanted, const char* kernel, auto call) {
    std::uint32_t found = 0;
    {
      const ScopedMxcsr scope(wanted);
      call();
      found = ScopedMxcsr::read();
    }
    EXPECT_EQ(found, wanted) << kernel;
  };
  const std::array<std::uint32_t, 8> indices{};
  for (const std::uint32_t wanted : kMxcsrValues) {
    expect_unchanged(wanted, "mul",
                     [&] { kernels().mul(r.data(), c.a.data(), c.b.data(), c.n.data(), 5, scratch.data()); });
    expect_unchanged(wanted, "sqr",
                     [&] { kernels().sqr(r.data(), c.a.data(), c.n.data(), 5, scratch.data()); });
    expect_unchanged(wanted, "add_mod",
                     [&] { kernels().add_mod(r.data(), c.b.data(), c.b.data(), c.n.data(), 5); });
    expect_unchanged(wanted, "select",
                     [&] { kernels().select(r.data(), c.a.data(), 1, 5 * lanes(), 5, indices.data()); });
    expect_unchanged(wanted, "split_product", [&] {
      GetParam().kernels().split_product(r.data(), other.data(), c.a.data(), c.b.data());
    });
    std::fill_n(other.data(), 5 * lanes(), Limb{0});
  }
}

TEST_P(Dpf52, ResultsDoNotDependOnMxcsr) {
  for (const std::size_t digits : {4U, 5U, 8U, 11U}) {
    Case expected = make_case(digits, digits);
    expected.run();
    expected.expect_right();
    for (const std::uint32_t wanted : kMxcsrValues) {
      Case c = make_case(digits, digits);
      {
        const ScopedMxcsr scope(wanted);
        c.run();
      }
      EXPECT_EQ(c.product, expected.product) << digits << " digits, MXCSR " << wanted;
      EXPECT_EQ(c.square, expected.square) << digits << " digits, MXCSR " << wanted;
    }
  }
}

TEST_P(Dpf52, EveryShapeOfTheLoops) {
  for (std::size_t digits = kMinDigits; digits < 24; ++digits) {
    Case c = make_case(digits, 100 + digits);
    c.run();
    c.expect_right();
  }
}

/// The largest digits in as many columns as are allowed: n = 2^m - 1 with m = 52 L - 2 and a = b = 2 n - 1.
/// Modulo n, R = 4 and a = -1, so that a b / R = 1/4 = 2^(m - 2), possibly plus one n.
TEST_P(Dpf52, LargestColumnSums) {
  for (const std::size_t digits : {std::size_t{316}, kMaxDigits - 1, kMaxDigits}) {
    Case c(digits);
    const std::size_t top = (digits - 1) * lanes();
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      for (std::size_t at = lane; at < top; at += lanes()) c.a[at] = c.b[at] = c.n[at] = kMask;
      c.a[lane] = c.b[lane] = kMask - 2;
      c.a[top + lane] = c.b[top + lane] = kMask >> 1;
      c.n[top + lane] = kMask >> 2;
      c.n[digits * lanes() + lane] = 1;
    }
    c.run();
    for (Words* result : {&c.product, &c.square}) {
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        // 2^(m - 2), or 2^(m - 2) + 2^m - 1.
        const bool plus_n = (*result)[lane] != 0;
        for (std::size_t at = lane; at < top; at += lanes()) ASSERT_EQ((*result)[at], plus_n ? kMask : 0);
        ASSERT_EQ((*result)[top + lane], (kRadix >> 4) + (plus_n ? kMask >> 2 : 0)) << digits;
      }
    }
  }
}

std::string set_name(const testing::TestParamInfo<Set>& set) { return set.param.name; }

INSTANTIATE_TEST_SUITE_P(Sets, Dpf52,
                         testing::Values(Set{"avx512f",
                                             CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                                 CpuFeature::avx512bw | CpuFeature::avx512vl,
                                             avx512f_kernels},
                                         Set{"avx2", CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma,
                                             avx2_kernels}),
                         set_name);

#endif  // MANYMOD_X86_64

}  // namespace
}  // namespace manymod::dpf52
