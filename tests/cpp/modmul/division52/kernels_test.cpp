// SPDX-License-Identifier: Apache-2.0
// The kernels of division52 against schoolbook arithmetic, at edges: every width of up to 64 limbs, even
// moduli, powers of two, operands next to the modulus and longer than it, addends of any value, results in
// place of operands; and all products of small moduli.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "core/cpu_features.hpp"
#include "modmul/division52/kernels.hpp"
#include "repr/limbs.hpp"
#include "support/naive.hpp"

#if MANYMOD_X86_64

namespace manymod::division52 {
namespace {

using naive::Generator;
using naive::Limbs;

std::size_t bits_of(const Limbs& x) {
  for (std::size_t i = x.size(); i-- > 0;) {
    if (x[i] != 0) return i * 64 + static_cast<std::size_t>(std::bit_width(x[i]));
  }
  return 0;
}

Limbs number(Generator& generate, std::size_t limbs) {
  Limbs x(limbs);
  for (Limb& limb : x) limb = generate.limb();
  return x;
}

/// x y + z mod n, in as many limbs as n has.
Limbs multiply_add_mod(const Limbs& x, const Limbs& y, const Limbs& z, const Limbs& n) {
  naive::Digits sum = naive::multiply(naive::digits(x), naive::digits(y));
  const naive::Digits addend = naive::digits(z);
  sum.resize(std::max(sum.size(), addend.size()) + 1, 0);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    carry += std::uint64_t{sum[i]} + (i < addend.size() ? addend[i] : 0);
    sum[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return naive::limbs(naive::remainder(sum, naive::digits(n)), n.size());
}

/// One vector of products, its expected results, and the lanes that must be computed.
struct Vector {
  std::array<Limbs, kLanes> x, y, n, r, expected;
  std::array<Limbs, kLanes> z;  ///< without limbs where nothing is added
  std::array<bool, kLanes> ordinary{};

  Vector(Generator& generate, std::size_t limbs, std::size_t x_limbs, std::size_t y_limbs,
         std::size_t z_limbs = 0) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      n[lane] = number(generate, limbs);
      Limb& top = n[lane].back();
      while (top == 0 || (limbs == 1 && top == 1)) top = generate.limb();
      x[lane] = number(generate, x_limbs);
      y[lane] = number(generate, y_limbs);
      near_modulus(generate, lane);
      z[lane] = number(generate, z_limbs);
      r[lane].assign(limbs, 0x5555);
    }
    expect();
  }

  void expect() {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      expected[lane] = multiply_add_mod(x[lane], y[lane], z[lane], n[lane]);
    }
  }

  /// In a third of the lanes each: operands just below n, random ones below n, and whatever they are.
  void near_modulus(Generator& generate, std::size_t lane) {
    if (lane % 3 == 0 && x[lane].size() == n[lane].size()) {
      x[lane] = n[lane];
      if (x[lane][0] > 3) x[lane][0] -= 1 + generate.below(3);
    }
    if (lane % 3 == 1) {
      for (Limb& limb : x[lane]) limb = generate.below(~Limb{0});
      for (Limb& limb : n[lane]) limb = generate.below(~Limb{0}) | 1;
      x[lane].resize(n[lane].size());
      x[lane] = naive::reduce(x[lane], n[lane]);
      ordinary[lane] = true;
    }
  }
  [[nodiscard]] Products products() {
    Products p{};
    p.x_limbs = SIZE_MAX;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      p.x_limbs = std::min(p.x_limbs, x[lane].size());
      p.x[lane] = x[lane].data();
      p.y[lane] = y[lane].data();
      p.z[lane] = z[lane].data();
      p.r[lane] = r[lane].data();
    }
    p.y_limbs = y[0].size();
    p.z_limbs = z[0].size();
    p.limbs = n[0].size();
    return p;
  }
  void set_divisors_in(const Kernels& kernels, Limb* block, Limb* scratch) {
    const Limb* moduli[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) moduli[lane] = n[lane].data();
    kernels.set_divisors(block, moduli, n[0].size(), scratch);
  }
  /// Lanes may be left over if x is longer than n, or a quotient has long runs of zeros.
  void check(unsigned computed, const std::array<Limbs, kLanes>& results) const {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool done = (computed >> lane & 1) != 0;
      EXPECT_TRUE(done || !ordinary[lane]) << "lane " << lane;
      EXPECT_TRUE(!done || bits_of(x[lane]) <= bits_of(n[lane])) << "lane " << lane;
      EXPECT_EQ(results[lane], done ? expected[lane] : Limbs(n[lane].size(), 0x5555)) << "lane " << lane;
    }
  }
};

struct Form {
  const char* name;
  const Kernels& (*kernels)();
  CpuFeatures needed;
};

const Form kForms[] = {
    {"avx512", avx512_kernels,
     CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq | CpuFeature::avx512bw |
         CpuFeature::avx512vl | CpuFeature::avx512ifma},
    {"avx2", avx2_kernels, CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma},
};

/// The parameters are the kernels and the number of limbs.
class Division52 : public testing::TestWithParam<std::tuple<Form, std::size_t>> {
 protected:
  void SetUp() override {
    const CpuFeatures needed = std::get<0>(GetParam()).needed;
    if ((cpu_info().features & needed) != needed) {
      GTEST_SKIP() << "needs a processor with " << cpu_feature_names(needed);
    }
  }

  std::size_t size = std::get<1>(GetParam());
  int rounds = size <= 20 ? 12 : 2;
  Generator generate{size};
  const Kernels& kernels = std::get<0>(GetParam()).kernels();
  limbs::Buffer block{divisor_words(size)};
  limbs::Buffer other_block{divisor_words(size)};
  limbs::Buffer scratch{2 * scratch_words(size)};
};

TEST_P(Division52, MultipliesModuloEachModulus) {
  for (int round = 0; round < rounds; ++round) {
    Vector v(generate, size, size, size);
    v.set_divisors_in(kernels, block.data(), scratch.data());
    v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
  }
}

TEST_P(Division52, ExtendsNarrowOperands) {
  const std::size_t narrow = 1 + generate.below(size);
  Vector v(generate, size, size, narrow);
  v.set_divisors_in(kernels, block.data(), scratch.data());
  v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
}

TEST_P(Division52, MultipliesPairsOfVectors) {
  size = 1 + (size - 1) % kPairedLimbs;
  for (int round = 0; round < rounds; ++round) {
    Vector a(generate, size, size, size, round % 2 == 0 ? 0 : size);
    Vector b(generate, size, size, size, round % 3 == 0 ? 0 : size);
    a.set_divisors_in(kernels, block.data(), scratch.data());
    b.set_divisors_in(kernels, other_block.data(), scratch.data());
    const unsigned computed = kernels.multiply_pair({a.products(), b.products()},
                                                    {block.data(), other_block.data()}, scratch.data());
    a.check(computed & 0xff, a.r);
    b.check(computed >> kLanes, b.r);
  }
}

/// Moduli with 0 to 63 zeros above their highest bits, and addends of all lengths up to `size` limbs.
TEST_P(Division52, AddsToProducts) {
  for (int round = 0; round < rounds; ++round) {
    const std::size_t z_limbs = round % 2 == 0 ? size : 1 + generate.below(size);
    Vector v(generate, size, size, size, z_limbs);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (Limb& limb : v.n[lane]) limb = generate.below(~Limb{0});
      for (Limb& limb : v.x[lane]) limb = generate.below(~Limb{0});
      for (Limb& limb : v.y[lane]) limb = generate.below(~Limb{0});
      v.n[lane].back() = (v.n[lane].back() | Limb{1} << 63) >> (size == 1 ? 5 : 9) * lane;
      v.x[lane] = naive::reduce(v.x[lane], v.n[lane]);
      if (lane % 4 == 0) v.z[lane].assign(z_limbs, 0);
      if (lane % 4 == 1) v.z[lane].assign(z_limbs, ~Limb{0});
      if (lane % 4 == 2) std::copy_n(v.n[lane].begin(), z_limbs, v.z[lane].begin());
      v.ordinary[lane] = true;
    }
    v.expect();
    v.set_divisors_in(kernels, block.data(), scratch.data());
    v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
  }
}

/// All ones: x as long as n in bits, y and z as long as its limbs.
TEST_P(Division52, AddsToTheGreatestProducts) {
  for (const std::size_t z_limbs : {std::size_t{0}, size}) {
    Vector v(generate, size, size, size, z_limbs);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t zeros = 9 * lane;
      v.n[lane].back() = (v.n[lane].back() | Limb{1} << 63) >> zeros;
      if (lane % 2 == 0) v.n[lane].assign(size, 0);
      if (lane % 2 == 0) v.n[lane].back() = Limb{1} << (63 - zeros);
      v.x[lane].assign(size, ~Limb{0});
      v.x[lane].back() >>= zeros;
      v.y[lane].assign(size, ~Limb{0});
      v.z[lane].assign(z_limbs, ~Limb{0});
      v.ordinary[lane] = false;
    }
    v.expect();
    v.set_divisors_in(kernels, block.data(), scratch.data());
    v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
  }
}

TEST_P(Division52, WritesInPlaceOfAnOperand) {
  Vector v(generate, size, size, size);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    v.n[lane].back() |= Limb{1} << 63;  // no x is longer
  }
  v.expect();
  v.set_divisors_in(kernels, block.data(), scratch.data());
  const Vector before = v;
  Products p = v.products();
  for (std::size_t lane = 0; lane < kLanes; ++lane) p.r[lane] = v.x[lane].data();
  const unsigned computed = kernels.multiply(p, block.data(), scratch.data());
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const bool done = (computed >> lane & 1) != 0;
    EXPECT_EQ(v.x[lane], done ? v.expected[lane] : before.x[lane]) << "lane " << lane;
  }
}

/// Moduli at the ends of the range of D: its reciprocal is next to 1 and to 2.
TEST_P(Division52, DividesByExtremeModuli) {
  Vector v(generate, size, size, size);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    v.n[lane].assign(size, lane % 2 == 0 ? ~Limb{0} : 0);
    v.n[lane].back() = lane % 2 == 0 ? ~Limb{0} : Limb{1} << 63;
    if (lane >= 4) v.n[lane][0] ^= lane;
    for (Limb& limb : v.x[lane]) limb = generate.below(~Limb{0});
    v.x[lane].back() >>= 1;
    for (Limb& limb : v.y[lane]) limb = generate.below(~Limb{0});
    v.ordinary[lane] = true;
  }
  v.expect();
  v.set_divisors_in(kernels, block.data(), scratch.data());
  v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
}

class Division52OfSmallModuli : public Division52 {};

/// x y and x y + 5 for all x, y < n, for moduli of `size` limbs whose upper limbs, if any, are those of 2^(64
/// (size - 1)): n = 2 to 20 of one limb, and x and y next to the ends of their range of more.
TEST_P(Division52OfSmallModuli, MultipliesAllOperands) {
  for (Limb low = 2; low <= 20; ++low) {
    Vector v(generate, size, size, size, size);
    std::size_t lane = 0;
    const auto run = [&] {
      v.expect();
      v.set_divisors_in(kernels, block.data(), scratch.data());
      v.check(kernels.multiply(v.products(), block.data(), scratch.data()), v.r);
      for (Limbs& r : v.r) r.assign(size, 0x5555);
    };
    for (Limb x = 0; x < low; ++x) {
      for (Limb y = 0; y < low; ++y, lane = (lane + 1) % kLanes) {
        v.n[lane] = v.x[lane] = v.y[lane] = v.z[lane] = Limbs(size);
        v.n[lane][0] = low;
        v.x[lane][0] = x;
        v.y[lane][0] = y;
        v.z[lane][0] = (x + y) % 2 * 5;
        v.ordinary[lane] = size == 1;
        if (size == 2) {
          v.n[lane][1] = v.x[lane][1] = v.y[lane][1] = 1;
          if (x % 2 == 0) v.x[lane] = {~Limb{0} - x, 0};
        }
        if (lane == kLanes - 1) run();
      }
    }
    run();
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Form, std::size_t>>& parameters) {
  return std::string(std::get<0>(parameters.param).name) + "_" +
         std::to_string(std::get<1>(parameters.param));
}

INSTANTIATE_TEST_SUITE_P(Limbs, Division52OfSmallModuli,
                         testing::Combine(testing::ValuesIn(kForms), testing::Values(1, 2)), name_of);
INSTANTIATE_TEST_SUITE_P(Limbs, Division52,
                         testing::Combine(testing::ValuesIn(kForms),
                                          testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                                          16, 17, 18, 20, 25, 26, 32, 39, 48, 64)),
                         name_of);

}  // namespace
}  // namespace manymod::division52

#endif
