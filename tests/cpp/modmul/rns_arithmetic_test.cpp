// SPDX-License-Identifier: Apache-2.0
// What a kernel computes with the constants of residue number systems, in plain loops on the host.
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/scalar/word.hpp"
#include "modmul/rns/constants.hpp"
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

std::uint32_t corrected(std::uint32_t v, const Channel& c) { return v < c.modulus ? v : v - c.modulus; }

class RnsArithmetic : public testing::TestWithParam<unsigned> {};

/// Coordinates of nothing but the largest values, bytes or zeros, and others, below 2 m.
std::vector<std::vector<std::uint32_t>> coordinates(const std::vector<std::uint64_t>& base, Generator& draw) {
  std::vector<std::vector<std::uint32_t>> rows(6);
  for (const std::uint64_t m : base) {
    rows[0].push_back(static_cast<std::uint32_t>(2 * m - 1));
    rows[1].push_back(0xfeffffff);
    rows[2].push_back(0);
    rows[3].push_back(draw.below(2) == 0 ? 0 : static_cast<std::uint32_t>(2 * m - 1));
    rows[4].push_back(static_cast<std::uint32_t>(draw.below(2 * m)));
    rows[5].push_back(static_cast<std::uint32_t>(draw.below(m)));
  }
  return rows;
}

/// The sum of xi_j M_j - k M modulo m, term by term.
std::uint64_t extended(const std::vector<std::uint32_t>& words, const std::vector<std::uint64_t>& base,
                       std::uint64_t m) {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < base.size(); ++j) {
    sum += product_mod(words[j], Moduli::product_mod_m(base, m, j), m);
  }
  return (sum + product_mod(words.back(), m - Moduli::product_mod_m(base, m), m)) % m;
}

TEST_P(RnsArithmetic, ExtensionsOfExtremeCoordinates) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  Generator draw(71);
  const auto expect = [&](const MatrixView& matrix, const std::vector<std::uint64_t>& from,
                          const std::vector<std::uint64_t>& to, bool to_a) {
    for (const std::vector<std::uint32_t>& xi : coordinates(from, draw)) {
      const std::vector<std::uint32_t> words = with_rank(xi, to_a ? 0 : kOffsetOfA);
      for (unsigned i = 0; i < to.size(); ++i) {
        const std::array<std::uint64_t, 4> s = matrix.sums(words, i);
        const std::uint64_t pairs = (s[0] + (s[1] << 8)) | (s[2] + (s[3] << 8));
        ASSERT_TRUE(pairs >> 32 == 0 || !recombines_in_32_bits(GetParam()));
        const Channel channel = to_a ? block.a(i) : block.b(i);
        const std::uint32_t r = reduce(matrix.total(words, i), channel);
        ASSERT_EQ(r % to[i], extended(words, from, to[i]));
        ASSERT_LE(r, to[i] + (to[i] >> 13));
      }
    }
  };
  expect(block.to_a(), moduli.b, moduli.a, true);
  expect(block.to_b(), moduli.a, moduli.b, false);
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
      to_coordinate_.push_back(corrected(reduce_product(power, b.set_up, b), b));
      scaled_n_.push_back(corrected(reduce_product(residues.a[i], a.set_up, a), a));
    }
  }
  /// For instances that share the modulus of the block.
  explicit Ring(const Block& block) : block_(block), shared_(true) {
    for (unsigned j = 0; j < size(); ++j) to_coordinate_.push_back(block_.b(j).to_coordinate);
  }

  [[nodiscard]] const std::vector<std::uint32_t>& to_coordinate() const { return to_coordinate_; }
  [[nodiscard]] const std::vector<std::uint32_t>& scaled_n() const { return scaled_n_; }

  [[nodiscard]] Element load(Digits x) const {
    x.resize(block_.sizes.words, 0);
    Element element;
    for (unsigned i = 0; i < size(); ++i) {
      element.b.push_back(corrected(reduce(block_.into_b().total(x, i), block_.b(i)), block_.b(i)));
      element.a.push_back(corrected(reduce(block_.into_a().total(x, i), block_.a(i)), block_.a(i)));
    }
    return element;
  }

  /// (x y + t' N) / M_B
  [[nodiscard]] Element multiply(const Element& x, const Element& y) const {
    std::vector<std::uint32_t> t;
    for (unsigned j = 0; j < size(); ++j) {
      const std::uint32_t s = reduce_product(x.b[j], y.b[j], block_.b(j));
      t.push_back(reduce_product(s, to_coordinate_[j], block_.b(j)));
    }
    const std::vector<std::uint32_t> words = with_rank(t, 0);
    Element w;
    for (unsigned i = 0; i < size(); ++i) {
      const Channel channel = block_.a(i);
      std::uint64_t sum = block_.to_a().total(words, i);
      if (!shared_) sum = std::uint64_t{reduce(sum, channel)} * scaled_n_[i];
      w.a.push_back(corrected(reduce(std::uint64_t{x.a[i]} * y.a[i] + sum, channel), channel));
    }
    const std::vector<std::uint32_t> back = coordinates(w);
    for (unsigned j = 0; j < size(); ++j) w.b.push_back(reduce(block_.to_b().total(back, j), block_.b(j)));
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

  // 2^64 mod m, what makes 2^32 mod m of 1.
  static std::uint32_t fourth_power_of_radix(const Channel& c) {
    return static_cast<std::uint32_t>(power_mod(2, 64, c.modulus));
  }

  [[nodiscard]] std::vector<std::uint32_t> coordinates(const Element& w) const {
    std::vector<std::uint32_t> xi;
    for (unsigned i = 0; i < size(); ++i) {
      xi.push_back(reduce_product(w.a[i], block_.a(i).to_coordinate, block_.a(i)));
    }
    return with_rank(xi, kOffsetOfA);
  }
};

void expect_element(const Element& x, const Digits& value, const Moduli& moduli) {
  for (std::size_t i = 0; i < moduli.b.size(); ++i) {
    ASSERT_EQ(x.b[i] % moduli.b[i], remainder_of(value, moduli.b[i]));
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

/// x y mod n through Montgomery form with M_B^2 mod n; the two kinds of constants give the same residues.
void expect_product(const Ring& each, const Ring& shared, const Limbs& n, const Limbs& x, const Limbs& y) {
  const std::vector<std::uint32_t> squared = squared_radix(static_cast<unsigned>(64 * n.size()));
  const Digits start = naive::remainder(squared, naive::digits(n));
  Limbs results[2];
  for (const Ring* ring : {&each, &shared}) {
    const Element to_form = ring->load(Digits(start.begin(), start.end() - 1));
    const Element u = ring->multiply(ring->load(naive::digits(x)), to_form);
    const Element v = ring->multiply(ring->load(naive::digits(y)), to_form);
    const Element one = ring->load({1});
    results[ring == &shared ? 1 : 0] = ring->store(ring->multiply(ring->multiply(u, v), one));
  }
  ASSERT_EQ(results[0], results[1]);
  ASSERT_EQ(naive::reduce(results[0], n), naive::multiply_mod(x, y, n));
  Digits twice = naive::multiply(naive::digits(n), {2});
  ASSERT_FALSE(naive::at_least(naive::digits(results[0]), twice));
}

TEST_P(RnsArithmetic, ProductsWithConstantsOfBothKinds) {
  const Block block(GetParam());
  const std::size_t limbs = GetParam() / 64;
  Generator draw(73);
  std::vector<Limbs> moduli{Limbs(limbs, ~Limb{0}), draw.odd_modulus(limbs), draw.odd_modulus(limbs)};
  moduli.emplace_back(limbs, 0).front() = 3;
  for (const Limbs& n : moduli) {
    const Block of_n(GetParam(), modulus_constants(GetParam(), n));
    ASSERT_EQ(of_n.bytes.size(), block.bytes.size());
    const Ring each(block, n);
    const Ring shared(of_n);
    ASSERT_EQ(each.to_coordinate(), shared.to_coordinate());
    expect_product(each, shared, n, draw.number(limbs), draw.number(limbs));
    expect_product(each, shared, n, Limbs(limbs, ~Limb{0}), Limbs(limbs, ~Limb{0}));
    expect_product(each, shared, n, Limbs(limbs, 0), draw.number(limbs));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsArithmetic, testing::Values(512, 1024, 2048, 4096),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
