// SPDX-License-Identifier: Apache-2.0
#include "modmul/scalar64/montgomery.hpp"

#include <gtest/gtest.h>

#include "support/kernel_sets.hpp"
#include "support/naive.hpp"

namespace manymod::scalar64 {
namespace {

using naive::Generator;
using naive::Limbs;

class MontgomeryForm : public testing::TestWithParam<test::KernelSet> {
 protected:
  Montgomery mont_{*GetParam().kernels};
  Limbs scratch_;

  void assign(const Limbs& n) {
    mont_.assign(n);
    scratch_.assign(Montgomery::scratch_limbs(n.size()), 0xAAAA);
  }
  Limbs to_montgomery(const Limbs& x, bool negative = false) {
    Limbs r(mont_.limbs());
    mont_.to_montgomery(r.data(), x, negative, scratch_.data());
    return r;
  }
  Limbs from_montgomery(const Limbs& a) {
    Limbs r(mont_.limbs());
    mont_.from_montgomery(r.data(), a.data(), scratch_.data());
    return r;
  }
};

TEST_P(MontgomeryForm, EveryResidueOfEverySmallModulus) {
  for (Limb n = 3; n < 200; n += 2) {
    assign({n});
    for (Limb a = 0; a < n; ++a) {
      const Limbs element = to_montgomery({a});
      ASSERT_EQ(from_montgomery(element), Limbs{a}) << n;
      Limbs square(1);
      mont_.sqr(square.data(), element.data(), scratch_.data());
      ASSERT_EQ(from_montgomery(square), Limbs{a * a % n}) << a << " mod " << n;
      Limbs product(1);
      const Limbs other = to_montgomery({n - a});
      mont_.mul(product.data(), element.data(), other.data(), scratch_.data());
      ASSERT_EQ(from_montgomery(product), Limbs{a * (n - a) % n}) << a << " mod " << n;
    }
  }
}

TEST_P(MontgomeryForm, ProductsAndSquaresAtEverySize) {
  Generator generate(11);
  for (std::size_t size = 1; size <= 34; ++size) {
    for (int round = 0; round < 6; ++round) {
      const Limbs n = round == 0 ? Limbs(size, ~Limb{0}) : generate.odd_modulus(size);
      assign(n);
      const Limbs a = generate.residue(n);
      const Limbs b = generate.residue(n);
      Limbs r(size);
      mont_.mul(r.data(), to_montgomery(a).data(), to_montgomery(b).data(), scratch_.data());
      ASSERT_EQ(from_montgomery(r), naive::multiply_mod(a, b, n)) << size;
      mont_.sqr(r.data(), to_montgomery(a).data(), scratch_.data());
      ASSERT_EQ(from_montgomery(r), naive::multiply_mod(a, a, n)) << size;
      mont_.mul_plain(r.data(), a.data(), b.data(), scratch_.data());
      ASSERT_EQ(r, naive::multiply_mod(a, b, n)) << size;
    }
  }
}

/// Almost reduced elements, 0 <= element < R, give correct results.
TEST_P(MontgomeryForm, AlmostReducedOperandsUpToTheirBound) {
  Generator generate(12);
  for (std::size_t size = kUnrolledLimbs + 1; size <= 26; ++size) {
    for (int round = 0; round < 6; ++round) {
      Limbs n = generate.odd_modulus(size);
      if (round == 0) n.back() = 1;
      assign(n);
      const Limbs a = round == 1 ? Limbs(size, ~Limb{0}) : generate.number(size);
      const Limbs b = round < 3 ? Limbs(size, ~Limb{0}) : generate.number(size);
      Limbs r(size);
      mont_.mul(r.data(), a.data(), b.data(), scratch_.data());
      ASSERT_EQ(from_montgomery(r), naive::multiply_mod(from_montgomery(a), from_montgomery(b), n)) << size;
      mont_.sqr(r.data(), a.data(), scratch_.data());
      ASSERT_EQ(from_montgomery(r), naive::multiply_mod(from_montgomery(a), from_montgomery(a), n)) << size;
    }
  }
}

TEST_P(MontgomeryForm, WideAndNegativeOperandsAreReduced) {
  Generator generate(13);
  for (const std::size_t size : {1U, 2U, 4U, 8U, 9U, 17U}) {
    for (std::size_t width = 1; width <= 4 * size + 1; ++width) {
      const Limbs n = generate.odd_modulus(size);
      assign(n);
      const Limbs x = width % 5 == 0 ? Limbs(width, ~Limb{0}) : generate.number(width);
      const Limbs expected = naive::reduce(x, n);
      ASSERT_EQ(from_montgomery(to_montgomery(x)), expected) << size << " " << width;
      const Limbs sum = from_montgomery(to_montgomery(x, true));
      Limbs total(size);
      limbs::add_mod(total, sum, expected, n);
      ASSERT_EQ(total, Limbs(size, 0)) << size << " " << width;
    }
  }
}

TEST_P(MontgomeryForm, OneIsTheNeutralElementAndStorageIsReused) {
  Generator generate(14);
  for (const std::size_t size : {20U, 3U, 9U, 1U}) {
    const Limbs n = generate.odd_modulus(size);
    assign(n);
    Limbs one(size, 0);
    one[0] = 1;
    EXPECT_EQ(from_montgomery(Limbs(mont_.one(), mont_.one() + size)), one);
  }
}

TEST_P(MontgomeryForm, LanesDoNotDisturbEachOther) {
  Generator generate(15);
  for (const std::size_t size : {1U, 3U, 8U, 10U}) {
    std::vector<Limbs> moduli;
    std::vector<Montgomery> monts;
    for (int lane = 0; lane < 3; ++lane) {
      moduli.push_back(generate.odd_modulus(size));
      monts.emplace_back(*GetParam().kernels);
      monts.back().assign(moduli.back());
    }
    for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}, {1, 1, 0}}) {
      std::vector<const Montgomery*> lanes;
      Limbs scratch(Montgomery::scratch_limbs(size));
      Limbs elements;
      for (const std::size_t lane : order) {
        lanes.push_back(&monts[lane]);
        Limbs element(size);
        monts[lane].to_montgomery(element.data(), Limbs{lane + 2}, false, scratch.data());
        elements.insert(elements.end(), element.begin(), element.end());
      }
      const MontgomeryLanes group(lanes, scratch.data());
      Limbs cube(elements.size());
      group.sqr(cube.data(), elements.data());
      group.mul(cube.data(), cube.data(), elements.data());
      for (std::size_t lane = 0; lane < order.size(); ++lane) {
        Limbs plain(size);
        monts[order[lane]].from_montgomery(plain.data(), cube.data() + lane * size, scratch.data());
        const Limb x = order[lane] + 2;
        EXPECT_EQ(plain, naive::reduce(Limbs{x * x * x}, moduli[order[lane]]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, MontgomeryForm, testing::ValuesIn(test::usable_kernel_sets()),
                         test::kernel_set_name);

}  // namespace
}  // namespace manymod::scalar64
