// SPDX-License-Identifier: Apache-2.0
// What a kernel computes with the constants of residue number systems, in plain loops on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/plain_arithmetic.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

class RnsArithmetic : public testing::TestWithParam<unsigned> {};

/// An element as a kernel keeps it.
struct Element {
  std::vector<std::uint32_t> b, a;
};

/// A kernel's arithmetic modulo N by plain loops, for one of a thread quad's two instances.
class Ring {
 public:
  /// For instances with a modulus each: computes the constants of N from those of the bases.
  Ring(const Block& block, const Limbs& n, unsigned instance = 0)
      : block_(block), instance_(instance), shared_(false), lazy_(bases_of(block.bits).lazy_b) {
    const Element residues = load(naive::digits(n));
    for (unsigned i = 0; i < size(); ++i) {
      const StoredChannel b = block_.b(i);
      const StoredChannel a = block_.a(i);
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
  explicit Ring(const Block& block, unsigned instance = 0)
      : block_(block),
        instance_(instance),
        shared_(true),
        lazy_(bases_of(block.bits).lazy_b_of_one_modulus) {}

  [[nodiscard]] const std::vector<std::uint32_t>& to_coordinate() const { return to_coordinate_; }
  [[nodiscard]] bool lazy() const { return lazy_; }
  /// The factor of a number's residues in B: rho_j with roots, else 1.
  [[nodiscard]] std::uint64_t factor_of_b(unsigned j) const { return block_.words_to_b().entry(0, 0, j); }
  /// The element of a number.
  [[nodiscard]] Element load(Digits x) const {
    x.resize(block_.sizes.words, 0);
    Element element;
    for (unsigned i = 0; i < size(); ++i) {
      element.b.push_back(corrected(remainder_in_b(block_.words_to_b(), x, i), block_.b(i)));
      const StoredChannel a = block_.a(i);
      element.a.push_back(corrected(remainder(block_.words_to_a().sums(x, i), a), a));
    }
    return element;
  }

  /// (x^2 + t' N) / M_B, where t' is extended with rank 0.
  [[nodiscard]] Element square(const Element& x) const { return multiply_by(x, x, false); }
  /// (x y + t' N) / M_B, where t' is extended with its rank.
  [[nodiscard]] Element multiply(const Element& x, const Element& y) const { return multiply_by(x, y, true); }

  /// The integer that the residues in A represent.
  [[nodiscard]] Limbs store(const Element& w) const {
    const std::vector<std::uint32_t> words = with_rank(w.a, block_, instance_);
    const unsigned count = 4 * block_.sizes.output_quads();
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
  unsigned instance_;
  bool shared_, lazy_;
  std::vector<std::uint32_t> to_coordinate_, scaled_n_;

  [[nodiscard]] unsigned size() const { return block_.sizes.channels; }

  [[nodiscard]] Element multiply_by(const Element& x, const Element& y, bool ranks) const {
    Element w;
    w.a = in_a(x, y, coordinates_of_t(x, y, ranks));
    const std::vector<std::uint32_t> words = with_rank(w.a, block_, instance_);
    for (unsigned j = 0; j < size(); ++j) {
      const StoredChannel channel = block_.b(j);
      const std::uint32_t v = remainder_in_b(block_.a_to_b(), words, j);
      w.b.push_back(lazy_ ? v : corrected(v, channel));
      EXPECT_TRUE(may_be_kept(w.b.back(), channel.modulus, lazy_));
    }
    return w;
  }

  // The coordinates of t and their rank, or 0 in its place.
  [[nodiscard]] std::vector<std::uint32_t> coordinates_of_t(const Element& x, const Element& y,
                                                            bool ranks) const {
    std::vector<std::uint32_t> t;
    for (unsigned j = 0; j < size(); ++j) {
      const StoredChannel channel = block_.b(j);
      t.push_back(coordinate_of_t(reduce_product(x.b[j], y.b[j], channel), j));
      EXPECT_LE(t.back(), 2 * channel.modulus);
    }
    t = with_rank(t, block_.sizes, instance_);
    if (!ranks) t.back() = 0;
    return t;
  }

  [[nodiscard]] std::vector<std::uint32_t> in_a(const Element& x, const Element& y,
                                                const std::vector<std::uint32_t>& t) const {
    std::vector<std::uint32_t> residues;
    for (unsigned i = 0; i < size(); ++i) {
      const StoredChannel channel = block_.a(i);
      std::uint64_t sum = remainder(block_.b_to_a().sums(t, i), channel);
      if (!shared_) sum = std::uint64_t{corrected(static_cast<std::uint32_t>(sum), channel)} * scaled_n_[i];
      residues.push_back(corrected(reduce(std::uint64_t{x.a[i]} * y.a[i] + sum, channel), channel));
    }
    return residues;
  }

  [[nodiscard]] std::uint32_t coordinate_of_t(std::uint32_t s, unsigned j) const {
    const StoredChannel channel = block_.b(j);
    if (!shared_) return reduce_product(s, to_coordinate_[j], channel);
    return block_.sizes.has_roots() ? signed_coordinate(s, channel) : coordinate(s, channel);
  }

  [[nodiscard]] std::uint32_t remainder_in_b(const MatrixView& matrix, const Digits& words,
                                             unsigned j) const {
    return remainder(matrix.sums(words, j), block_.b(j));
  }

  // 2^64 mod m: by reduction with 1 it becomes 2^32 mod m.
  static std::uint32_t fourth_power_of_radix(const StoredChannel& c) {
    return static_cast<std::uint32_t>(power_mod(2, 64, c.modulus));
  }
};

/// The ring modulo n with constants of both kinds, for each instance of a thread quad that has places of its
/// own.
std::vector<Ring> rings_of(const Limbs& n, const Block& block, const Block& of_n) {
  std::vector<Ring> rings;
  for (unsigned instance = 0; instance < (block.sizes.is_split() ? 2 : 1); ++instance) {
    rings.emplace_back(block, n, instance);
    rings.emplace_back(of_n, instance);
  }
  return rings;
}

/// Expects the element x to have the residues of `value`.
void expect_element(const Ring& ring, const Element& x, const Digits& value, const Moduli& moduli) {
  for (unsigned i = 0; i < moduli.b.size(); ++i) {
    const std::uint64_t a = moduli.a[i], b = moduli.b[i];
    ASSERT_EQ(x.b[i] % b, product_mod(remainder_of(value, b), ring.factor_of_b(i), b));
    ASSERT_TRUE(may_be_kept(x.b[i], b, ring.lazy()));
    ASSERT_EQ(x.a[i], product_mod(remainder_of(value, a), moduli.kappa(i), a));
  }
}

/// An element whose residues in B are as large as lazy remainders may be.
Element largest_element(const Ring& ring, const Digits& value, const Moduli& moduli) {
  Element x;
  for (unsigned i = 0; i < moduli.b.size(); ++i) {
    const std::uint64_t a = moduli.a[i], b = moduli.b[i];
    const std::uint64_t residue = product_mod(remainder_of(value, b), ring.factor_of_b(i), b);
    const bool more = may_be_kept(residue + b, b, ring.lazy());
    x.b.push_back(static_cast<std::uint32_t>(more ? residue + b : residue));
    x.a.push_back(static_cast<std::uint32_t>(product_mod(remainder_of(value, a), moduli.kappa(i), a)));
  }
  return x;
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
    expect_element(ring, x, naive::digits(value), moduli);
    Limbs back = ring.store(x);
    back.resize(std::max(back.size(), limbs));
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i < limbs ? value[i] : 0);
  }
}

/// floor(x r / 2^48).
Digits part_of(const Digits& x, std::uint64_t r) {
  static_assert(RankErrors::kBits == 48);
  const Digits product =
      naive::multiply(x, {static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(r >> 32)});
  Digits part(product.size() - 1, 0);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::uint64_t above = i + 2 < product.size() ? product[i + 2] : 0;
    part[i] = static_cast<std::uint32_t>((above << 32 | product[i + 1]) >> 16);
  }
  return part;
}

/// c N - 1 for odd N: an upper bound for every element.
Digits largest_value(const ConstantsLayout& sizes, const Limbs& n) {
  Digits x = naive::multiply(naive::digits(n), {element_bound(sizes)});
  --x.front();  // no borrow: N is odd and 0 < c < 2^32
  return x;
}

/// Conversions out of A, to B and to words, of numbers as large as elements may be and of larger ones for
/// which the rank is still exact.
TEST_P(RnsArithmetic, ElementsOutOfA) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Limbs n(GetParam() / 64, ~Limb{0});
  const Block of_n(GetParam(), modulus_constants(GetParam(), n));
  const Ring each(block, n), shared(of_n);
  const Digits product = Moduli::product(moduli.a);
  const std::uint64_t room = RankErrors(block).room();
  Generator draw(80);
  std::vector<Digits> values{{0}, {1}, largest_value(block.sizes, n), part_of(product, room)};
  for (unsigned i = 0; i < 6; ++i) values.push_back(part_of(product, draw.below(room)));
  for (Digits& value : values) {
    const Element x = largest_element(each, value, moduli);
    const std::vector<std::uint32_t> words = with_rank(x.a, block);
    for (unsigned j = 0; j < moduli.b.size(); ++j) {
      const std::uint64_t b = moduli.b[j], residue = remainder_of(value, b);
      ASSERT_EQ(remainder(block.a_to_b().sums(words, j), block.b(j)) % b, residue);
      ASSERT_EQ(remainder(of_n.a_to_b().sums(words, j), of_n.b(j)) % b,
                product_mod(residue, shared.factor_of_b(j), b));
    }
    const Limbs out = each.store(x);
    value.resize(2 * out.size(), 0);  // results are modulo a power of 2
    ASSERT_EQ(out, naive::limbs(value, out.size()));
    ASSERT_EQ(shared.store(x), out);
  }
}

/// A ring with checks of its operations' results.
struct CheckedRing {
  const Ring& ring;
  const Moduli& moduli;
  const ConstantsLayout& sizes;
  const Limbs& n;

  /// The number that x represents. Expects it to be below `most` N.
  [[nodiscard]] Digits value_below(const Element& x, std::uint32_t most) const {
    const Digits value = naive::digits(ring.store(x));
    EXPECT_FALSE(naive::at_least(value, naive::multiply(naive::digits(n), {most})));
    expect_element(ring, x, value, moduli);
    return value;
  }
  [[nodiscard]] Digits modulo_n(const Digits& x) const { return naive::remainder(x, naive::digits(n)); }

  /// Expects r M_B = x y modulo N.
  void expect_product(const Digits& r, const Digits& x, const Digits& y) const {
    ASSERT_EQ(modulo_n(naive::multiply(r, Moduli::product(moduli.b))), modulo_n(naive::multiply(x, y)));
  }
  /// Expects `count` consecutive squarings and a last multiplication to be right, each applied to the
  /// previous result.
  void expect_squares(Digits value, unsigned count) const {
    Element x = largest_element(ring, value, moduli);
    for (unsigned i = 0; i < count; ++i) {
      x = ring.square(x);
      const Digits square = value_below(x, element_bound(sizes));
      expect_product(square, value, value);
      value = square;
    }
    expect_product(value_below(ring.multiply(x, ring.load({1})), 2), value, {1});
  }
  /// Expects the product of two numbers of this size to be right.
  void expect_multiplication(const Digits& value) const {
    const Element x = largest_element(ring, value, moduli);
    expect_product(value_below(ring.multiply(x, x), 2), value, value);
  }
};

TEST_P(RnsArithmetic, SquaresOfTheLargestElements) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const std::size_t limbs = GetParam() / 64;
  Generator draw(81);
  std::vector<Limbs> all{Limbs(limbs, ~Limb{0}), draw.odd_modulus(limbs)};
  all.emplace_back(limbs, 0).front() = 3;
  for (const Limbs& n : all) {
    const Block of_n(GetParam(), modulus_constants(GetParam(), n));
    for (const Ring& ring : rings_of(n, block, of_n)) {
      const CheckedRing checked{ring, moduli, block.sizes, n};
      checked.expect_squares(largest_value(block.sizes, n), 3);
      checked.expect_squares({0}, 2);
      checked.expect_multiplication(largest_value(block.sizes, n));
    }
  }
}

/// Expects x y mod n and (x y)^4 mod n, computed in Montgomery form, which M_B^2 mod n leads to.
void expect_product(const Ring& ring, const Limbs& n, const Limbs& x, const Limbs& y) {
  const std::vector<std::uint32_t> squared = squared_radix(static_cast<unsigned>(64 * n.size()));
  const Digits start = naive::remainder(squared, naive::digits(n));
  const Element to_form = ring.load(Digits(start.begin(), start.end() - 1));
  const Element u = ring.multiply(ring.load(naive::digits(x)), to_form);
  const Element v = ring.multiply(ring.load(naive::digits(y)), to_form);
  const Digits twice = naive::multiply(naive::digits(n), {2});
  const auto expect = [&](const Element& form, const Limbs& value) {
    const Limbs result = ring.store(ring.multiply(form, ring.load({1})));
    ASSERT_EQ(naive::reduce(result, n), value);
    ASSERT_FALSE(naive::at_least(naive::digits(result), twice));
  };
  const Element product = ring.multiply(u, v);
  const Limbs value = naive::multiply_mod(x, y, n);
  expect(product, value);
  const Limbs square = naive::multiply_mod(value, value, n);
  expect(ring.square(ring.square(product)), naive::multiply_mod(square, square, n));
}

TEST_P(RnsArithmetic, ProductsWithConstantsOfBothKinds) {
  const Block block(GetParam());
  const std::size_t limbs = GetParam() / 64;
  Generator draw(73);
  std::vector<Limbs> moduli{Limbs(limbs, ~Limb{0}), draw.odd_modulus(limbs), draw.odd_modulus(limbs)};
  moduli.emplace_back(limbs, 0).front() = 3;
  // A zero residue in a channel of B, whose coordinate may be 2 m.
  Limbs zero_in_b(limbs, 0);
  zero_in_b.front() = channel_of_b(0);
  for (const Limbs& n : moduli) {
    const Block of_n(GetParam(), modulus_constants(GetParam(), n));
    ASSERT_EQ(of_n.bytes.size(), block.bytes.size());
    const std::vector<Ring> rings = rings_of(n, block, of_n);
    for (unsigned j = 0; j < of_n.sizes.channels && !of_n.sizes.has_roots(); ++j) {
      const StoredChannel b = of_n.b(j);
      ASSERT_EQ(rings.front().to_coordinate()[j], product_mod(b.factor, std::uint64_t{1} << 32, b.modulus));
    }
    const Limbs x = draw.number(limbs), y = draw.number(limbs), ones(limbs, ~Limb{0});
    for (const Ring& ring : rings) {
      expect_product(ring, n, x, y);
      expect_product(ring, n, ones, ones);
      expect_product(ring, n, Limbs(limbs, 0), y);
      expect_product(ring, n, zero_in_b, y);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsArithmetic, testing::Values(512, 1024, 2048, 3072, 4096, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns
