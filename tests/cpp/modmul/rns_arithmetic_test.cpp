// SPDX-License-Identifier: Apache-2.0
// What a kernel computes with the constants of residue number systems, in plain loops on the host.
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/scalar/word.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

/// At most T / 2^32 + m.
std::uint32_t reduce(std::uint64_t t, const Channel& c) {
  const std::uint32_t q = static_cast<std::uint32_t>(t) * c.negative_inverse;
  const word::Wide sum = word::Wide{q} * c.modulus + t;
  EXPECT_EQ(static_cast<std::uint64_t>(sum >> 64), 0u);
  return static_cast<std::uint32_t>(sum >> 32);
}

std::uint32_t reduce_product(std::uint64_t a, std::uint64_t b, const Channel& c) { return reduce(a * b, c); }

std::uint32_t corrected(std::uint32_t v, const Channel& c) {
  EXPECT_LT(v, 2 * c.modulus);
  return v < c.modulus ? v : v - c.modulus;
}

/// x times the factor of the channel by Shoup's product, below (1 + x / 2^32) m.
std::uint32_t coordinate(std::uint32_t x, const Channel& c) {
  const std::uint64_t quotient = std::uint64_t{x} * c.companion >> 32;
  const std::uint64_t xi = std::uint64_t{x} * c.to_coordinate - quotient * c.modulus;
  EXPECT_LT(xi << 32, ((std::uint64_t{1} << 32) + x) * c.modulus);
  return static_cast<std::uint32_t>(xi);
}

/// In B with roots: s, or 2 m - s.
std::uint32_t signed_coordinate(std::uint32_t s, const Channel& c) {
  EXPECT_LT(s, 2 * c.modulus);
  if (c.to_coordinate == 1) return s;
  EXPECT_EQ(c.to_coordinate, ~0u);
  return 2 * c.modulus - s;
}

/// What the quotient of a remainder is made of.
std::uint64_t high_of(const std::array<std::uint64_t, 4>& s) { return s[2] + (s[3] << 8) + (s[1] >> 8); }

/// T mod m, below 2 m.
std::uint32_t remainder(const std::array<std::uint64_t, 4>& s, const Channel& c) {
  for (const std::uint64_t sum : s) EXPECT_LT(sum, std::uint64_t{1} << 31);
  const std::uint64_t total = s[0] + (s[1] << 8) + (s[2] << 16) + (s[3] << 24);
  const std::uint64_t rest = total - (high_of(s) >> 15) * c.modulus;
  EXPECT_LT(rest, std::uint64_t{2} * c.modulus);
  return static_cast<std::uint32_t>(rest);
}

class RnsArithmetic : public testing::TestWithParam<unsigned> {};

/// Coordinates of nothing but the largest values, bytes or zeros, and others, up to `halves` / 2 m.
std::vector<std::vector<std::uint32_t>> extreme_coordinates(const std::vector<std::uint64_t>& base,
                                                            unsigned halves, Generator& draw) {
  std::vector<std::vector<std::uint32_t>> rows(6);
  for (const std::uint64_t m : base) {
    const auto most = static_cast<std::uint32_t>(halves * m / 2);
    rows[0].push_back(most);
    rows[1].push_back((most & 0xff000000) - 1);
    rows[2].push_back(0);
    rows[3].push_back(draw.below(2) == 0 ? 0 : most);
    rows[4].push_back(static_cast<std::uint32_t>(draw.below(most)));
    rows[5].push_back(static_cast<std::uint32_t>(draw.below(m)));
  }
  return rows;
}

/// M_j modulo m, and behind them -M.
std::vector<std::uint64_t> weights(const std::vector<std::uint64_t>& base, std::uint64_t m) {
  std::vector<std::uint64_t> all;
  for (std::size_t j = 0; j < base.size(); ++j) all.push_back(Moduli::product_mod_m(base, m, j));
  all.push_back(m - Moduli::product_mod_m(base, m));
  return all;
}

/// `matrix` takes each row, sum xi_j M_j - k M, to channel `c`, its target i, with a factor.
void expect_extensions(const MatrixView& matrix, unsigned i, const Channel& c, std::uint64_t scale,
                       const std::vector<std::uint64_t>& source,
                       const std::vector<std::vector<std::uint32_t>>& rows, bool narrow) {
  const std::vector<std::uint64_t> weight = weights(source, c.modulus);
  for (const std::vector<std::uint32_t>& words : rows) {
    std::uint64_t expected = 0;
    for (std::size_t j = 0; j < words.size(); ++j) expected += product_mod(words[j], weight[j], c.modulus);
    const std::array<std::uint64_t, 4> sums = matrix.sums(words, i);
    ASSERT_TRUE(high_of(sums) >> 32 == 0 || !narrow);
    ASSERT_EQ(corrected(remainder(sums, c), c), product_mod(expected, scale, c.modulus));
  }
}

/// Of both bases, and to A with a modulus in the matrix.
TEST_P(RnsArithmetic, ExtensionsOfExtremeCoordinates) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const bool narrow = Form{.fours = block.sizes.fours, .words = block.sizes.words}.narrow_sums();
  Generator draw(71);
  const auto rows_of = [&](const std::vector<std::uint64_t>& base, unsigned halves, std::uint32_t offset) {
    auto rows = extreme_coordinates(base, halves, draw);
    for (std::vector<std::uint32_t>& row : rows) row = with_rank(row, offset);
    return rows;
  };
  const auto from_b = rows_of(moduli.b, 4, 0), from_a = rows_of(moduli.a, 3, kOffsetOfA);
  Limbs n(GetParam() / 64, ~Limb{0});
  const Block of_n(GetParam(), modulus_constants(GetParam(), n));
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    const std::uint64_t a = moduli.a[i], kappa = moduli.kappa(i);
    expect_extensions(block.to_a(), i, block.a(i), 1, moduli.b, from_b, narrow);
    expect_extensions(block.to_b(), i, block.b(i), 1, moduli.a, from_a, narrow);
    const std::uint64_t scale =
        product_mod(remainder_of(naive::digits(n), a), product_mod(kappa, kappa, a), a);
    expect_extensions(of_n.to_a(), i, of_n.a(i), scale, moduli.b, from_b, narrow);
    // Of the number 1: the root.
    expect_extensions(of_n.to_b(), i, of_n.b(i), of_n.into_b().entry(0, 0, i), moduli.a, from_a, narrow);
  }
}

/// An element as a kernel keeps it.
struct Element {
  std::vector<std::uint32_t> b, a;
};

/// A kernel's arithmetic modulo N in plain loops.
class Ring {
 public:
  /// The constants of the modulus from those of the bases: for instances with a modulus each.
  Ring(const Block& block, const Limbs& n) : block_(block), shared_(false) {
    const Element residues = load(naive::digits(n));
    for (unsigned i = 0; i < size(); ++i) {
      const Channel b = block_.b(i);
      const Channel a = block_.a(i);
      std::uint32_t power = corrected(reduce_product(1, fourth_power_of_radix(b), b), b);
      for (unsigned bit = 32; bit-- > 0;) {
        power = corrected(reduce_product(power, power, b), b);
        if (((b.modulus - 2) >> bit & 1) != 0) power = corrected(reduce_product(power, residues.b[i], b), b);
      }
      to_coordinate_.push_back(corrected(reduce_product(power, block_.set_up_b(i), b), b));
      scaled_n_.push_back(corrected(reduce_product(residues.a[i], block_.set_up_a(i), a), a));
    }
  }
  /// For instances that share the modulus of the block.
  explicit Ring(const Block& block) : block_(block), shared_(true) {}

  [[nodiscard]] const std::vector<std::uint32_t>& to_coordinate() const { return to_coordinate_; }
  [[nodiscard]] Element load(Digits x) const {
    x.resize(block_.sizes.words, 0);
    Element element;
    for (unsigned i = 0; i < size(); ++i) {
      element.b.push_back(residue_of(block_.into_b(), x, i, block_.b(i)));
      element.a.push_back(residue_of(block_.into_a(), x, i, block_.a(i)));
    }
    return element;
  }

  /// (x y + t' N) / M_B
  [[nodiscard]] Element multiply(const Element& x, const Element& y) const {
    std::vector<std::uint32_t> t;
    for (unsigned j = 0; j < size(); ++j) {
      const std::uint32_t s = reduce_product(x.b[j], y.b[j], block_.b(j));
      t.push_back(coordinate_of_t(s, j));
    }
    const std::vector<std::uint32_t> words = with_rank(t, 0);
    Element w;
    for (unsigned i = 0; i < size(); ++i) {
      const Channel channel = block_.a(i);
      std::uint64_t sum = remainder(block_.to_a().sums(words, i), channel);
      if (!shared_) sum = std::uint64_t{corrected(static_cast<std::uint32_t>(sum), channel)} * scaled_n_[i];
      w.a.push_back(corrected(reduce(std::uint64_t{x.a[i]} * y.a[i] + sum, channel), channel));
    }
    const std::vector<std::uint32_t> back = coordinates(w);
    for (unsigned j = 0; j < size(); ++j) w.b.push_back(residue_of(block_.to_b(), back, j, block_.b(j)));
    return w;
  }

  /// The integer that the residues in A stand for: what the last multiplication leaves.
  [[nodiscard]] Limbs store(const Element& w) const {
    const std::vector<std::uint32_t> words = coordinates(w);
    const unsigned count = 4 * block_.sizes.output_fours();
    Digits x(count);
    std::uint64_t carry = 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t total = block_.out().total(words, i);
      EXPECT_EQ(total >> 56, 0u);
      carry += total;
      x[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return naive::limbs(x, count / 2);
  }

 private:
  const Block& block_;
  bool shared_;
  std::vector<std::uint32_t> to_coordinate_, scaled_n_;

  [[nodiscard]] unsigned size() const { return block_.sizes.channels(); }

  [[nodiscard]] std::uint32_t coordinate_of_t(std::uint32_t s, unsigned j) const {
    const Channel channel = block_.b(j);
    if (!shared_) return reduce_product(s, to_coordinate_[j], channel);
    return block_.sizes.has_roots() ? signed_coordinate(s, channel) : coordinate(s, channel);
  }

  static std::uint32_t residue_of(const MatrixView& matrix, const Digits& words, unsigned i,
                                  const Channel& channel) {
    return corrected(remainder(matrix.sums(words, i), channel), channel);
  }

  // 2^64 mod m, what makes 2^32 mod m of 1.
  static std::uint32_t fourth_power_of_radix(const Channel& c) {
    return static_cast<std::uint32_t>(power_mod(2, 64, c.modulus));
  }

  [[nodiscard]] std::vector<std::uint32_t> coordinates(const Element& w) const {
    std::vector<std::uint32_t> xi;
    for (unsigned i = 0; i < size(); ++i) {
      xi.push_back(coordinate(w.a[i], block_.a(i)));
    }
    return with_rank(xi, kOffsetOfA);
  }
};

void expect_element(const Element& x, const Digits& value, const Moduli& moduli) {
  for (std::size_t i = 0; i < moduli.b.size(); ++i) {
    ASSERT_EQ(x.b[i], remainder_of(value, moduli.b[i]));
    ASSERT_EQ(x.a[i], product_mod(remainder_of(value, moduli.a[i]), moduli.kappa(i), moduli.a[i]));
  }
}

TEST_P(RnsArithmetic, NumbersIntoResiduesAndBack) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const std::size_t limbs = GetParam() / 64;
  Limbs odd(limbs, ~Limb{0});
  const Ring ring(block, odd);
  Generator draw(72);
  std::vector<Limbs> values{Limbs(limbs, 0), Limbs(limbs, ~Limb{0}), draw.number(limbs), draw.number(limbs)};
  values.emplace_back(limbs, 0).front() = 1;
  for (const Limbs& value : values) {
    const Element x = ring.load(naive::digits(value));
    expect_element(x, naive::digits(value), moduli);
    Limbs back = ring.store(x);
    back.resize(std::max(back.size(), limbs));
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i < limbs ? value[i] : 0);
  }
}

/// x y mod n through Montgomery form with M_B^2 mod n.
void expect_product(const Ring& ring, const Limbs& n, const Limbs& x, const Limbs& y) {
  const std::vector<std::uint32_t> squared = squared_radix(static_cast<unsigned>(64 * n.size()));
  const Digits start = naive::remainder(squared, naive::digits(n));
  const Element to_form = ring.load(Digits(start.begin(), start.end() - 1));
  const Element u = ring.multiply(ring.load(naive::digits(x)), to_form);
  const Element v = ring.multiply(ring.load(naive::digits(y)), to_form);
  const Limbs result = ring.store(ring.multiply(ring.multiply(u, v), ring.load({1})));
  ASSERT_EQ(naive::reduce(result, n), naive::multiply_mod(x, y, n));
  const Digits twice = naive::multiply(naive::digits(n), {2});
  ASSERT_FALSE(naive::at_least(naive::digits(result), twice));
}

TEST_P(RnsArithmetic, ProductsWithConstantsOfBothKinds) {
  const Block block(GetParam());
  const std::size_t limbs = GetParam() / 64;
  Generator draw(73);
  std::vector<Limbs> moduli{Limbs(limbs, ~Limb{0}), draw.odd_modulus(limbs), draw.odd_modulus(limbs)};
  moduli.emplace_back(limbs, 0).front() = 3;
  // Zeros in a channel of B: their coordinates may be 2 m.
  Limbs zero_in_b(limbs, 0);
  zero_in_b.front() = channel_of_b(0);
  for (const Limbs& n : moduli) {
    const Block of_n(GetParam(), modulus_constants(GetParam(), n));
    ASSERT_EQ(of_n.bytes.size(), block.bytes.size());
    const Ring each(block, n);
    const Ring shared(of_n);
    for (unsigned j = 0; j < of_n.sizes.channels() && !of_n.sizes.has_roots(); ++j) {
      const Channel b = of_n.b(j);
      ASSERT_EQ(each.to_coordinate()[j], product_mod(b.to_coordinate, std::uint64_t{1} << 32, b.modulus));
    }
    const Limbs x = draw.number(limbs), y = draw.number(limbs), ones(limbs, ~Limb{0});
    for (const Ring* ring : {&each, &shared}) {
      expect_product(*ring, n, x, y);
      expect_product(*ring, n, ones, ones);
      expect_product(*ring, n, Limbs(limbs, 0), y);
      expect_product(*ring, n, zero_in_b, y);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsArithmetic, testing::Values(512, 1024, 2048, 4096, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
