// SPDX-License-Identifier: Apache-2.0
// What a kernel computes with the constants of residue number systems, by plain loops on the host, at the
// ends of all ranges.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "arch/scalar/word.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

/// T / 2^32 mod m, at most T / 2^32 + m.
std::uint32_t reduce(std::uint64_t t, const StoredChannel& c) {
  const std::uint32_t q = static_cast<std::uint32_t>(t) * c.negative_inverse;
  const word::Wide sum = word::Wide{q} * c.modulus + t;
  EXPECT_EQ(static_cast<std::uint64_t>(sum >> 64), 0u);
  return static_cast<std::uint32_t>(sum >> 32);
}

std::uint32_t reduce_product(std::uint64_t a, std::uint64_t b, const StoredChannel& c) {
  return reduce(a * b, c);
}

/// v mod m. Expects v < 2 m.
std::uint32_t corrected(std::uint32_t v, const StoredChannel& c) {
  EXPECT_LT(v, 2 * c.modulus);
  return v < c.modulus ? v : v - c.modulus;
}

/// x times the factor of the channel by Shoup's product, below (1 + x / 2^32) m.
std::uint32_t coordinate(std::uint32_t x, const StoredChannel& c) {
  const std::uint64_t quotient = std::uint64_t{x} * c.companion >> 32;
  const std::uint64_t xi = std::uint64_t{x} * c.factor - quotient * c.modulus;
  EXPECT_LT(xi << 32, ((std::uint64_t{1} << 32) + x) * c.modulus);
  return static_cast<std::uint32_t>(xi);
}

/// The coordinate in B with roots: s or 2 m - s.
std::uint32_t signed_coordinate(std::uint32_t s, const StoredChannel& c) {
  EXPECT_LE(s, 2 * c.modulus);
  if (c.factor == 1) return s;
  EXPECT_EQ(c.factor, ~0u);
  return 2 * c.modulus - s;
}

/// Q, from which the quotient of a remainder is taken.
std::uint64_t high_of(const std::array<std::uint64_t, 4>& s) { return s[2] + (s[3] << 8) + (s[1] >> 8); }

/// T mod m, not corrected, below 2 m.
std::uint32_t remainder(const std::array<std::uint64_t, 4>& s, const StoredChannel& c) {
  for (const std::uint64_t sum : s) EXPECT_LT(sum, std::uint64_t{1} << 31);
  const std::uint64_t total = s[0] + (s[1] << 8) + (s[2] << 16) + (s[3] << 24);
  const std::uint64_t rest = total - (high_of(s) >> 15) * c.modulus;
  EXPECT_LT(rest, std::uint64_t{2} * c.modulus);
  return static_cast<std::uint32_t>(rest);
}

/// Whether B may keep v: v v <= 2^32 m if B is lazy, otherwise v < m.
bool may_be_kept(std::uint64_t v, std::uint64_t m, bool lazy) { return lazy ? v * v <= m << 32 : v < m; }

class RnsArithmetic : public testing::TestWithParam<unsigned> {};

using Rows = std::vector<std::vector<std::uint32_t>>;

/// Coordinates in B up to 2 m: all the largest, patterns of bytes, zeros, and random ones. Each row once with
/// its rank, as in multiplications, and once with rank 0, as in squarings.
Rows extreme_coordinates(const std::vector<std::uint64_t>& base, const Sizes& sizes, Generator& draw) {
  Rows rows(6);
  for (const std::uint64_t m : base) {
    const auto most = static_cast<std::uint32_t>(2 * m);
    rows[0].push_back(most);
    rows[1].push_back((most & 0xff000000) - 1);
    rows[2].push_back(0);
    rows[3].push_back(draw.below(2) == 0 ? 0 : most);
    rows[4].push_back(static_cast<std::uint32_t>(draw.below(most)));
    rows[5].push_back(static_cast<std::uint32_t>(draw.below(m)));
  }
  Rows both;
  for (const std::vector<std::uint32_t>& row : rows) {
    both.push_back(with_rank(row, sizes));
    both.push_back(both.back());
    both.back().back() = 0;
  }
  return both;
}

/// Base A with the weights of its bytes, and the exact factors that these estimate.
struct BaseA {
  const Block& block;
  const std::vector<std::uint64_t>& moduli;
  const Moduli::ByteFactors& factors;

  /// A residue below modulus i whose bytes are the largest where the weight is below (too_small) or not below
  /// the exact factor, and 0 elsewhere.
  [[nodiscard]] std::uint32_t bytes_with_errors(unsigned i, bool too_small) const {
    std::uint32_t bytes = 0;
    for (unsigned p = 0; p < 4; ++p) {
      const bool is_small = block.weight(i, p) * moduli[i] < factors[i][p] << 16;
      if (is_small == too_small) bytes |= 0xffu << 8 * p;
    }
    return below(i, bytes & 0x7fffffff);
  }
  [[nodiscard]] std::uint32_t below(unsigned i, std::uint32_t word) const {
    return std::min(word, static_cast<std::uint32_t>(moduli[i] - 1));
  }
};

/// Residues in A. The first two rows make the rank's errors extreme: under, then over.
Rows extreme_residues(const BaseA& base, Generator& draw) {
  constexpr std::uint32_t kPatterns[] = {~0u, 0, 0x7effffff, 0x7f000000, 0x00ffffff, 0x7f00ff00, 0x00ff00ff};
  Rows rows(4 + std::size(kPatterns));
  for (unsigned i = 0; i < base.moduli.size(); ++i) {
    rows[0].push_back(base.bytes_with_errors(i, true));
    rows[1].push_back(base.bytes_with_errors(i, false));
    rows[2].push_back(draw.below(2) == 0 ? 0 : base.below(i, ~0u));
    rows[3].push_back(static_cast<std::uint32_t>(draw.below(base.moduli[i])));
    for (std::size_t k = 0; k < std::size(kPatterns); ++k) rows[4 + k].push_back(base.below(i, kPatterns[k]));
  }
  return rows;
}

/// The words of a thread quad's first instance rearranged for the second one: the two words of a split
/// channel quad in their second places.
std::vector<std::uint32_t> in_second_places(const Sizes& sizes, std::vector<std::uint32_t> words) {
  const auto rank = words.end() - 1;
  if (sizes.is_split()) std::swap_ranges(rank - 4, rank - 2, rank - 2);
  return words;
}

/// An extension, and operands by place whose last word is the rank.
struct Extension {
  const Sizes& sizes;
  const std::vector<std::uint64_t>& source;
  Moduli::ByteFactors factors;  ///< of the bytes of a word
  Rows rows;
  bool narrow;

  /// Expects of `matrix` for target i, channel `c`, and each row: the remainder of the sums is the sum of the
  /// row's bytes times their factors and cofactors, less k M, times `scale`. The same for the words of a
  /// split channel quad in their second places.
  void expect(const MatrixView& matrix, unsigned i, const StoredChannel& c, std::uint64_t scale,
              bool lazy = false) const {
    const Moduli::ByteFactors weight = weights(c.modulus);
    for (const std::vector<std::uint32_t>& words : rows) {
      std::uint64_t expected = 0;
      for (std::size_t v = 0; v < words.size(); ++v) {
        for (unsigned p = 0; p < 4; ++p) expected += byte_of(words[v], p) * weight[v][p];
      }
      const std::array<std::uint64_t, 4> sums = matrix.sums(words, i);
      ASSERT_EQ(matrix.sums(in_second_places(sizes, words), i), sums);
      ASSERT_TRUE(high_of(sums) >> 32 == 0 || !narrow);
      const std::uint32_t v = remainder(sums, c);
      ASSERT_TRUE(!lazy || may_be_kept(v, c.modulus, true));
      ASSERT_EQ(corrected(v, c), product_mod(expected, scale, c.modulus));
    }
  }

 private:
  /// By place: the factors times M_j modulo m; then -M 2^(8p) for the rank.
  [[nodiscard]] Moduli::ByteFactors weights(std::uint64_t m) const {
    Moduli::ByteFactors all;
    for (unsigned place = 0; place < sizes.places(); ++place) all.push_back(factors[sizes.channel(place)]);
    all.push_back({1, 1 << 8, 1 << 16, 1 << 24});
    for (unsigned v = 0; v < all.size(); ++v) {
      const bool of_channel = v < sizes.places();
      const std::uint64_t product =
          Moduli::product_mod_m(source, m, of_channel ? sizes.channel(v) : source.size());
      for (std::uint64_t& w : all[v]) w = product_mod(w, of_channel ? product : m - product, m);
    }
    return all;
  }
};

/// Both extensions, with the constants of the bases alone and with those of a modulus.
TEST_P(RnsArithmetic, ExtensionsOfExtremeOperands) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  const bool narrow = Form{.channels = block.sizes.channels, .words = block.sizes.words}.narrow_sums();
  Generator draw(71);
  const Sizes& sizes = block.sizes;
  const Extension to_a{sizes, moduli.b, moduli.byte_factors_of_b(),
                       extreme_coordinates(moduli.b, sizes, draw), narrow};
  Extension to_b{sizes, moduli.a, factors, extreme_residues({block, moduli.a, factors}, draw), narrow};
  for (std::vector<std::uint32_t>& row : to_b.rows) row = with_rank(row, block);
  const Block of_n(GetParam(), modulus_constants(GetParam(), Limbs(GetParam() / 64, ~Limb{0})));
  const BasePair& pair = bases_of(GetParam());
  for (unsigned i = 0; i < sizes.channels; ++i) {
    const std::uint64_t a = moduli.a[i], kappa = moduli.kappa(i);
    to_a.expect(block.to_a(), i, block.a(i), 1);
    to_b.expect(block.to_b(), i, block.b(i), 1, pair.lazy_b);
    const std::uint64_t n = remainder_of(Digits(GetParam() / 32, ~0u), a);
    to_a.expect(of_n.to_a(), i, of_n.a(i), product_mod(n, product_mod(kappa, kappa, a), a));
    // The root is the residue of the number 1.
    to_b.expect(of_n.to_b(), i, of_n.b(i), of_n.into_b().entry(0, 0, i), pair.lazy_b_of_one_modulus);
  }
}

/// Compares ranks with exact sums of bytes times v(i, p) / a_i, and counts those near the ends of the range
/// in which they are exact.
class RankCheck {
 public:
  explicit RankCheck(const BaseA& base) : base_(base), errors_(base.block) {}

  void expect_rank(const std::vector<std::uint32_t>& residues) {
    const word::Wide sum = sum_of(residues);
    const auto floor = static_cast<std::uint64_t>(sum >> RankErrors::kBits);
    const std::uint64_t rest =
        static_cast<std::uint64_t>(sum) & ((std::uint64_t{1} << RankErrors::kBits) - 1);
    // Each term is rounded down, by less than one for each unit of a byte.
    const std::uint64_t tolerance = 892 * residues.size();
    const bool exact = rest + tolerance < errors_.room();
    for (const unsigned instance : {0u, 1u}) {
      const std::uint32_t rank = with_rank(residues, base_.block, instance).back();
      ASSERT_TRUE(rank == floor || (rank == floor + 1 && !exact)) << rank << ' ' << floor;
    }
    if (!exact) return;
    near_begin_ += rest < kNear ? 1 : 0;
    near_end_ += rest + kNear > errors_.room() ? 1 : 0;
  }
  [[nodiscard]] unsigned near_begin() const { return near_begin_; }
  [[nodiscard]] unsigned near_end() const { return near_end_; }

 private:
  static constexpr std::uint64_t kNear = RankErrors::kHalf / 64;
  BaseA base_;
  RankErrors errors_;
  unsigned near_begin_ = 0, near_end_ = 0;

  [[nodiscard]] word::Wide sum_of(const std::vector<std::uint32_t>& residues) const {
    word::Wide sum = 0;
    for (unsigned i = 0; i < residues.size(); ++i) {
      for (unsigned p = 0; p < 4; ++p) {
        const word::Wide v = base_.factors[i][p];
        sum += (v << RankErrors::kBits) / base_.moduli[i] * byte_of(residues[i], p);
      }
    }
    return sum;
  }
};

TEST_P(RnsArithmetic, RanksOfExtremeResidues) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  const BaseA base{block, moduli.a, factors};
  Generator draw(79);
  Rows rows = extreme_residues(base, draw);
  RankCheck check(base);
  for (const std::vector<std::uint32_t>& row : rows) check.expect_rank(row);
  // Nearly the largest errors, at random distances from an integer.
  RankCheck under(base), over(base);
  for (unsigned i = 0; i < (kBriefTests ? 200 : 2000) && !HasFatalFailure(); ++i) {
    rows[0][i % 4] = static_cast<std::uint32_t>(draw.below(moduli.a[i % 4]));
    rows[1][i % 4] = static_cast<std::uint32_t>(draw.below(moduli.a[i % 4]));
    under.expect_rank(rows[0]);
    over.expect_rank(rows[1]);
  }
  EXPECT_TRUE(kBriefTests || (under.near_begin() > 0 && over.near_end() > 0));
}

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
  [[nodiscard]] std::uint64_t factor_of_b(unsigned j) const { return block_.into_b().entry(0, 0, j); }
  /// The element of a number.
  [[nodiscard]] Element load(Digits x) const {
    x.resize(block_.sizes.words, 0);
    Element element;
    for (unsigned i = 0; i < size(); ++i) {
      element.b.push_back(corrected(remainder_in_b(block_.into_b(), x, i), block_.b(i)));
      const StoredChannel a = block_.a(i);
      element.a.push_back(corrected(remainder(block_.into_a().sums(x, i), a), a));
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
      const std::uint32_t v = remainder_in_b(block_.to_b(), words, j);
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
      std::uint64_t sum = remainder(block_.to_a().sums(t, i), channel);
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
Digits largest_value(const Sizes& sizes, const Limbs& n) {
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
      ASSERT_EQ(remainder(block.to_b().sums(words, j), block.b(j)) % b, residue);
      ASSERT_EQ(remainder(of_n.to_b().sums(words, j), of_n.b(j)) % b,
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
  const Sizes& sizes;
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
