// SPDX-License-Identifier: Apache-2.0
// Fractions of half length of scalars (ecc/lanes/half_scalars.hpp) on every backend, by libcrypto's numbers.
#include <gtest/gtest.h>
#include <openssl/bn.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "crypto/libcrypto.hpp"
#include "ecc/curve.hpp"
#include "ecc/lanes/edwards_backends.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"

namespace manymod::test {
namespace {

using crypto::Number;
using Limbs = std::vector<Limb>;

/// rho = tau k modulo the order of the group.
struct Fraction {
  Number rho, tau;
  [[nodiscard]] int bits() const { return std::max(BN_num_bits(rho.get()), BN_num_bits(tau.get())); }
};

/// A backend and a curve.
class HalfScalars : public testing::TestWithParam<std::tuple<std::size_t, ecc::CurveId>> {
 protected:
  const ecc::Curve& curve_ = ecc::named_curve(std::get<1>(GetParam()));
  const std::size_t limbs_ = curve_.limbs();
  const ecc::lanes::EdwardsLaneCalls* calls_ = nullptr;
  crypto::Libcrypto<BN_CTX> context_{BN_CTX_new()};
  Number n_ = number(curve_.n), order_{BN_new()};
  std::mt19937_64 random_{31};

  void SetUp() override {
    const std::size_t index = std::get<0>(GetParam());
    if (const std::string obstacle = obstacle_of_edwards_backend(index); !obstacle.empty()) {
      GTEST_SKIP() << obstacle;
    }
    const auto& backend = ecc::lanes::edwards_lane_backends()[index];
    calls_ = curve_.id == ecc::CurveId::ed25519 ? backend.curves25519 : backend.curves448;
    BN_mul(order_.get(), n_.get(), number(curve_.cofactor).get(), context_.get());
  }

  static Number number(const Limbs& limbs) {
    return Number(BN_lebin2bn(reinterpret_cast<const unsigned char*>(limbs.data()),
                              static_cast<int>(limbs.size() * sizeof(Limb)), nullptr));
  }
  [[nodiscard]] Limbs limbs(const Number& x) const {
    Limbs r(limbs_);
    BN_bn2lebinpad(x.get(), reinterpret_cast<unsigned char*>(r.data()),
                   static_cast<int>(r.size() * sizeof(Limb)));
    return r;
  }
  static Number word(Limb value) { return number({value}); }
  /// A number of at most `bits` bits.
  Number random(int bits) {
    Limbs r(limbs_);
    for (Limb& limb : r) limb = random_();
    Number x = number(r);
    if (BN_num_bits(x.get()) > bits) BN_mask_bits(x.get(), bits);
    return x;
  }
  Number random_scalar() {
    Number k = random(static_cast<int>(curve_.order_bits));
    BN_nnmod(k.get(), k.get(), n_.get(), context_.get());
    return k;
  }

  /// Of all scalars, with the numbers of lanes beyond the last one 0.
  [[nodiscard]] std::vector<Fraction> split(const std::vector<Number>& scalars) const {
    const std::size_t lanes = calls_->lanes, vectors = (scalars.size() + lanes - 1) / lanes;
    const std::size_t words = vectors * lanes * limbs_;
    Limbs k(words), rho(words), tau(words), negative(vectors * lanes);
    const auto word_at = [&](std::size_t i, std::size_t limb) {
      return (i / lanes * limbs_ + limb) * lanes + i % lanes;
    };
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const Limbs scalar = limbs(scalars[i]);
      for (std::size_t limb = 0; limb < limbs_; ++limb) k[word_at(i, limb)] = scalar[limb];
    }
    const Limbs order = limbs(order_);
    ecc::lanes::EdwardsBlock block;
    block.vectors = vectors;
    block.scalar = k.data();
    block.group_order = order.data();
    block.rho = rho.data();
    block.tau = tau.data();
    block.mask = negative.data();
    calls_->split(block);
    std::vector<Fraction> r;
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      Limbs numerator(limbs_), denominator(limbs_);
      for (std::size_t limb = 0; limb < limbs_; ++limb) {
        numerator[limb] = rho[word_at(i, limb)];
        denominator[limb] = tau[word_at(i, limb)];
      }
      EXPECT_EQ((numerator[0] | denominator[0]) & 1, 0U);
      Fraction& fraction = r.emplace_back(number(numerator), number(denominator));
      BN_rshift1(fraction.rho.get(), fraction.rho.get());
      BN_rshift1(fraction.tau.get(), fraction.tau.get());
      EXPECT_TRUE(negative[i] == 0 || negative[i] == ~Limb{0});
      BN_set_negative(fraction.rho.get(), negative[i] != 0 ? 1 : 0);
    }
    return r;
  }
  /// Checks that each is a fraction of its scalar with an odd denominator below n.
  void check(const std::vector<Number>& scalars, const std::vector<Fraction>& fractions) {
    const Number product(BN_new());
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const auto& [rho, tau] = fractions[i];
      BN_mul(product.get(), tau.get(), scalars[i].get(), context_.get());
      BN_sub(product.get(), product.get(), rho.get());
      BN_nnmod(product.get(), product.get(), order_.get(), context_.get());
      EXPECT_TRUE(BN_is_zero(product.get())) << i;
      EXPECT_TRUE(BN_is_odd(tau.get())) << i;
      EXPECT_LT(BN_cmp(tau.get(), n_.get()), 0) << i;
      EXPECT_LT(BN_ucmp(rho.get(), n_.get()), 0) << i;
    }
  }
  [[nodiscard]] int half_bits() const { return (BN_num_bits(order_.get()) + 1) / 2; }
};

TEST_P(HalfScalars, OfRandomScalars) {
  constexpr int kCount = 4003;
  std::vector<Number> scalars;
  for (int i = 0; i < kCount; ++i) scalars.push_back(random_scalar());
  const auto fractions = split(scalars);
  check(scalars, fractions);
  const auto longer_by = [&](int bits) {
    return std::ranges::count_if(fractions, [&](const Fraction& f) { return f.bits() > half_bits() + bits; });
  };
  // About one in 8 4^x is longer by more than x bits.
  EXPECT_GT(longer_by(0), 0);
  EXPECT_LT(longer_by(0), kCount / 3);
  EXPECT_LT(longer_by(3), kCount / 200);
  EXPECT_LT(longer_by(8), kCount / 1000);
}

/// Scalars with short fractions, of which those with an odd denominator are found.
TEST_P(HalfScalars, OfShortFractions) {
  std::vector<Number> scalars;
  for (int bits = 1; bits < half_bits() - 2; bits += 3) {
    for (int attempt = 0; attempt < 40; ++attempt) {
      const Number t = random(bits), r = random(half_bits() - 2), k(BN_new());
      BN_set_bit(t.get(), 0);
      BN_mod_inverse(k.get(), t.get(), order_.get(), context_.get());
      BN_mod_mul(k.get(), k.get(), r.get(), order_.get(), context_.get());
      if (BN_cmp(k.get(), n_.get()) >= 0) continue;
      scalars.push_back(Number(BN_dup(k.get())));
    }
  }
  ASSERT_GT(scalars.size(), 50U);
  const auto fractions = split(scalars);
  check(scalars, fractions);
  for (const Fraction& f : fractions) EXPECT_LE(f.bits(), half_bits() + 1);
}

/// Ends of the range, powers of two, and quotients of the order, whose shortest vectors are shorter than any
/// with an odd denominator: there the result may be as long as k, and is no longer.
TEST_P(HalfScalars, OfHostileScalars) {
  std::vector<Number> scalars;
  const auto push = [&](const Number& k) {
    if (BN_is_negative(k.get()) == 0 && BN_cmp(k.get(), n_.get()) < 0)
      scalars.push_back(Number(BN_dup(k.get())));
  };
  const Number x(BN_new()), rest(BN_new());
  for (Limb value = 0; value < 70; ++value) {
    push(word(value));
    BN_sub(x.get(), n_.get(), word(value).get());
    push(x);
    BN_rshift1(x.get(), x.get());
    push(x);
  }
  for (unsigned bit = 0; bit < curve_.order_bits; ++bit) {
    BN_zero(x.get());
    BN_set_bit(x.get(), static_cast<int>(bit));
    push(x);
    for (const int sign : {-1, 0, 1}) {
      // a / b of the order, or next to it.
      const Number divisor = random(static_cast<int>(bit) + 1),
                   factor = random(static_cast<int>(bit) / 2 + 1);
      if (BN_is_zero(divisor.get())) continue;
      BN_mul(x.get(), order_.get(), factor.get(), context_.get());
      BN_div(x.get(), rest.get(), x.get(), divisor.get(), context_.get());
      if (sign < 0) BN_sub_word(x.get(), 1);
      if (sign > 0) BN_add_word(x.get(), 1);
      push(x);
      BN_lshift(divisor.get(), BN_value_one(), static_cast<int>(bit) + 3);
      BN_div(x.get(), rest.get(), order_.get(), divisor.get(), context_.get());
      push(x);
    }
  }
  ASSERT_GT(scalars.size(), 600U);
  const auto fractions = split(scalars);
  check(scalars, fractions);
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    EXPECT_LE(fractions[i].bits(), std::max(BN_num_bits(scalars[i].get()), 1)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HalfScalars,
                         testing::Combine(testing::Range(std::size_t{0}, std::size_t{3}),
                                          testing::Values(ecc::CurveId::ed25519, ecc::CurveId::ed448)));

}  // namespace
}  // namespace manymod::test
