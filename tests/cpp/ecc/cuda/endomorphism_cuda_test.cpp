// SPDX-License-Identifier: Apache-2.0
// Scalars of secp256k1 in two halves and multiples with them, compiled for the host.
#include "ecc/cuda/endomorphism.cuda.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "ecc/cuda/points.cuda.hpp"
#include "ecc/lanes/recoding.hpp"
#include "ecc/plain_group.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::cuda {
namespace {

using test::PlainGroup;
using test::PlainPoint;
using Number = std::vector<Limb>;
using C = Secp256k1;

constexpr std::size_t kLimbs = 4;

class Halves : public testing::Test {
 protected:
  const PlainGroup plain_{named_curve(CurveId::secp256k1)};
  const Number& n_ = plain_.curve().n;
  std::mt19937_64 random_{9};

  [[nodiscard]] Number sum(const Number& a, const Number& b) const {
    Number r(kLimbs), less(kLimbs);
    Limb carry = 0, borrow = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) r[i] = word::add_carry(a[i], b[i], carry);
    for (std::size_t i = 0; i < kLimbs; ++i) less[i] = word::sub_borrow(r[i], n_[i], borrow);
    return carry >= borrow ? less : r;
  }
  [[nodiscard]] Number negative(const Number& a) const {
    Number r(kLimbs);
    Limb borrow = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) r[i] = word::sub_borrow(n_[i], a[i], borrow);
    return limbs::less_var(r, n_) ? r : Number(kLimbs);
  }
  /// i + j lambda, for small numbers.
  [[nodiscard]] Number combination(int i, int j) const {
    const Number one{1, 0, 0, 0};
    const Number lambda{0xdf02967c1b23bd72, 0x122e22ea20816678, 0xa5261c028812645a, 0x5363ad4cc05c30e0};
    Number r(kLimbs);
    for (int left = std::abs(i); left > 0; --left) r = sum(r, i < 0 ? negative(one) : one);
    for (int left = std::abs(j); left > 0; --left) r = sum(r, j < 0 ? negative(lambda) : lambda);
    return r;
  }
  Number random_number() {
    Number r(kLimbs);
    do {
      for (Limb& limb : r) limb = random_();
    } while (!limbs::less_var(r, n_));
    return r;
  }

  static std::vector<std::uint32_t> words(const Number& a) {
    std::vector<std::uint32_t> r;
    for (const Limb limb : a) {
      r.push_back(static_cast<std::uint32_t>(limb));
      r.push_back(static_cast<std::uint32_t>(limb >> 32));
    }
    return r;
  }
  void expect_the_hosts_halves(const Number& k) const {
    HalfScalar half[2];
    split_odd(half[0], half[1], words(k).data());
    Limb magnitude[2][lanes::kHalfLimbs];
    lanes::SignedScalar expected[2] = {{magnitude[0], 0}, {magnitude[1], 0}};
    lanes::split_odd(expected[0], expected[1], std::span<const Limb, kLimbs>(k));
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_EQ(half[i].negative, static_cast<std::uint32_t>(expected[i].negative));
      for (unsigned j = 0; j < 2 * lanes::kHalfLimbs; ++j) {
        const auto word = static_cast<std::uint32_t>(magnitude[i][j / 2] >> (32 * (j % 2)));
        EXPECT_EQ(j < kHalfWords ? half[i].words[j] : 0, word);
      }
      EXPECT_EQ(half[i].words[0] & 1, 1U);
      EXPECT_LT(half[i].words[kHalfWords - 1], 2U);
    }
  }
  template <bool kSecret>
  PlainPoint multiple(const PlainPoint& base, const Number& k) const {
    const typename C::Field f;
    const auto source = [](const Number& a) { return integers::Words(a.data(), kLimbs); };
    typename C::Affine p;
    typename C::Point product;
    f.from_limbs(p.x, source(base.x));
    f.from_limbs(p.y, source(base.y));
    multiply_point<kSecret, C>(product, p, words(k).data(), nullptr);
    typename C::Element inverse;
    if (f.inverse(inverse, product.z) == 0) return plain_.neutral();
    jacobian::to_affine(f, p, product, inverse);
    PlainPoint r{Number(kLimbs), Number(kLimbs), false};
    f.to_limbs(integers::WordsOut(r.x.data(), kLimbs), p.x);
    f.to_limbs(integers::WordsOut(r.y.data(), kLimbs), p.y);
    return r;
  }
};

TEST_F(Halves, AreTheHosts) {
  for (const int i : {-17, -2, -1, 0, 1, 2, 16}) {
    for (const int j : {-16, -1, 0, 1, 3}) expect_the_hosts_halves(combination(i, j));
  }
  for (int i = 0; i < 1000; ++i) expect_the_hosts_halves(random_number());
  // Runs of ones.
  for (unsigned bits = 1; bits < 256; ++bits) {
    Number k(kLimbs, ~Limb{0});
    limbs::truncate_bits(k, bits);
    expect_the_hosts_halves(k);
    expect_the_hosts_halves(negative(k));
  }
}

/// Before the last additions the sum is a small multiple of P and phi(P), with which they meet every
/// exceptional case.
TEST_F(Halves, MultiplesByCombinationsOfSmallNumbers) {
  const PlainPoint base = plain_.multiply(random_number(), plain_.generator());
  for (const int i : {-17, -2, -1, 0, 1, 2, 16, 30}) {
    for (const int j : {-16, -1, 0, 1, 15}) {
      const Number k = combination(i, j);
      const PlainPoint expected = plain_.multiply(k, base);
      EXPECT_EQ(multiple<true>(base, k), expected) << i << " " << j;
      EXPECT_EQ(multiple<false>(base, k), expected) << i << " " << j;
    }
  }
}

TEST_F(Halves, MultiplesByAnyScalar) {
  const PlainPoint base = plain_.generator();
  for (int i = 0; i < 10; ++i) {
    const Number k = random_number();
    EXPECT_EQ(multiple<true>(base, k), plain_.multiply(k, base));
  }
}

}  // namespace
}  // namespace manymod::ecc::cuda
