// SPDX-License-Identifier: Apache-2.0
// One body of tests for every table of lanes::Kernels, against slow arithmetic on plain integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arch/scalar/word.hpp"
#include "support/lane_kernel_sets.hpp"
#include "support/lane_values.hpp"
#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;
using test::GuardedWords;
using test::LaneValues;

/// Operands of a multiplication, one set for each lane.
struct Operands {
  LaneValues a, b, n;
};

class LaneKernels : public test::LaneKernelTest {
 protected:
  [[nodiscard]] static std::size_t lanes() { return kernels().lanes; }
  [[nodiscard]] static unsigned w() { return kernels().digit_bits; }
  [[nodiscard]] static std::size_t limbs_of(std::size_t digits) { return limbs_for_bits(digits * w()); }
  [[nodiscard]] static bool fully_reduced() { return kernels().headroom_bits < 2; }

  /// Every number of digits up to `all_to`, then some larger ones and the largest.
  [[nodiscard]] static std::vector<std::size_t> digit_counts(std::size_t all_to) {
    std::vector<std::size_t> counts;
    const std::size_t step = kernels().digit_multiple;
    const std::size_t first = (kernels().min_digits + step - 1) / step * step;
    for (std::size_t digits = first; digits <= std::min(all_to, kernels().max_digits); digits += step) {
      counts.push_back(digits);
    }
    for (const std::size_t digits : {60, 61, 64, 80, 97, 100, 120, 143, 158, 160, 201, 256, 311, 319, 423}) {
      if (digits % step == 0 && digits > counts.back() && digits < kernels().max_digits) {
        counts.push_back(digits);
      }
    }
    if (counts.back() != kernels().max_digits) counts.push_back(kernels().max_digits);
    return counts;
  }

  static constexpr std::size_t kModulusKinds = 8;
  /// Odd n > 1 with 2^headroom n <= R.
  [[nodiscard]] static Limbs modulus(Generator& generate, std::size_t digits, std::size_t kind) {
    const std::size_t size = limbs_of(digits);
    const std::size_t bits = digits * w() - kernels().headroom_bits;
    const auto ones = [&](std::size_t count) { return test::truncated(Limbs(size, ~Limb{0}), count); };
    Limbs n = test::truncated(generate.number(size), bits);
    switch (kind) {
      case 0:
        return ones(bits);
      case 1:
        n = test::power_of_two(bits - 1, size);
        break;
      case 2:  // ones, a gap, ones
        n = test::difference(ones(bits), test::truncated(ones(bits - 1), 1 + generate.below(bits - 2)));
        break;
      case 3:
        n = test::truncated(n, bits - generate.below(w()));
        break;
      case 4:
        n = test::small(2 * generate.below(8) + 3, size);
        break;
      case 5:
        n = ones(bits / 2);
        break;
      case 6:
        n = test::difference(ones(bits), test::small(generate.below(Limb{1} << 20), size));
        break;
      default:
        break;
    }
    n[0] |= 1;
    if (test::bit_length(n) < 2) n[0] |= 2;
    return n;
  }

  /// What almost reduced values stay below.
  [[nodiscard]] static Limbs bound(const Limbs& n) { return fully_reduced() ? n : test::sum(n, n); }

  [[nodiscard]] static Limbs random_below(Generator& generate, const Limbs& end) {
    const Limbs value = test::truncated(generate.number(end.size()), test::bit_length(end));
    return test::below(value, end) ? value : test::truncated(value, test::bit_length(end) - 1);
  }

  /// x + y mod m for x + y < 2m.
  [[nodiscard]] static Limbs sum_mod(Limbs x, Limbs y, Limbs m) {
    const std::size_t size = m.size();
    for (Limbs* value : {&x, &y, &m}) value->push_back(0);
    Limbs out = test::sum(x, y);
    if (!test::below(out, m)) out = test::difference(out, m);
    out.resize(size);
    return out;
  }

  /// Below `end` > 1, edges first.
  [[nodiscard]] static Limbs value_below(Generator& generate, const Limbs& end, const Limbs& n) {
    const std::size_t size = end.size();
    Limbs value = random_below(generate, end);
    switch (generate.below(9)) {
      case 0:
        return Limbs(size, 0);
      case 1:
        return test::small(1, size);
      case 2:
        return test::difference(n, test::small(1, size));
      case 3:
        value = n;
        break;
      case 4:
        return test::difference(end, test::small(1, size));
      case 5:
        return test::truncated(Limbs(size, ~Limb{0}), test::bit_length(end) - 1);
      default:
        break;
    }
    return test::below(value, end) ? value : test::difference(value, n);
  }

  /// Kinds of moduli in turn; a, b almost reduced.
  [[nodiscard]] static Operands almost_reduced(Generator& generate, std::size_t digits, std::size_t round) {
    Operands x;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const Limbs n = modulus(generate, digits, (lane + round) % kModulusKinds);
      x.a.push_back(value_below(generate, bound(n), n));
      x.b.push_back(value_below(generate, bound(n), n));
      x.n.push_back(n);
    }
    return x;
  }

  /// The other range: a < R, b <= n.
  [[nodiscard]] static Operands wide_factor(Generator& generate, std::size_t digits, std::size_t round) {
    Operands x = almost_reduced(generate, digits, round);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const std::size_t size = limbs_of(digits);
      const Limbs r_less_one = test::truncated(Limbs(size, ~Limb{0}), digits * w());
      x.a[lane] = generate.below(3) == 0 ? r_less_one : test::truncated(generate.number(size), digits * w());
      if (generate.below(4) == 0) x.b[lane] = x.n[lane];
      if (test::below(x.n[lane], x.b[lane])) x.b[lane] = test::difference(x.b[lane], x.n[lane]);
    }
    return x;
  }

  [[nodiscard]] static GuardedWords modulus_block(const LaneValues& n, std::size_t digits) {
    const GuardedWords packed = test::pack(kernels(), n, digits);
    const bool has_more = kernels().modulus_words != nullptr;
    GuardedWords block(has_more ? kernels().modulus_words(digits) : (digits + 1) * lanes());
    std::copy_n(packed.data(), packed.size(), block.data());
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      block[digits * lanes() + lane] = word::negated_inverse(n[lane][0]) & test::low_bits(w());
    }
    if (has_more) kernels().prepare(block.data(), digits);
    EXPECT_TRUE(block.guards_intact());
    return block;
  }

  /// The kernels on packed operands, with fresh scratch; what they must leave alone is checked.
  class Machine {
   public:
    Machine(std::size_t digits, Limb scratch_fill)
        : digits_(digits), scratch_fill_(scratch_fill), result_(digits * lanes()) {}

    const GuardedWords& mul(const GuardedWords& a, const GuardedWords& b, const GuardedWords& n) {
      GuardedWords scratch(kernels().scratch_words(digits_), scratch_fill_);
      kernels().mul(result_.data(), a.data(), b.data(), n.data(), digits_, scratch.data());
      check(scratch);
      return result_;
    }
    const GuardedWords& sqr(const GuardedWords& a, const GuardedWords& n) {
      GuardedWords scratch(kernels().scratch_words(digits_), scratch_fill_);
      kernels().sqr(result_.data(), a.data(), n.data(), digits_, scratch.data());
      check(scratch);
      return result_;
    }

   private:
    std::size_t digits_;
    Limb scratch_fill_;
    GuardedWords result_;

    void check(const GuardedWords& scratch) const {
      EXPECT_TRUE(result_.guards_intact()) << "writes outside of r, " << digits_ << " digits";
      EXPECT_TRUE(scratch.guards_intact()) << "writes outside of scratch, " << digits_ << " digits";
    }
  };

  /// The lane's value is `expected` < n, or n more where values are almost reduced; and digits are exact
  /// where the technique has them so.
  static void expect_residue(const GuardedWords& element, std::size_t digits, std::size_t lane,
                             const Limbs& expected, const Limbs& n, const std::string& what,
                             bool slack = false) {
    const Limbs found = test::unpack(kernels(), element.data(), digits, lane);
    bool right = found == expected;
    if (!fully_reduced()) right = right || found == test::sum(expected, n);
    if (slack) right = right || found == test::sum(expected, bound(n));
    ASSERT_TRUE(right) << what << ": lane " << lane << " of " << digits << " digits";
    if (GetParam().loose_digits) return;
    for (std::size_t d = 0; d < digits; ++d) {
      ASSERT_EQ(element[d * lanes() + lane] & ~test::low_bits(w()), 0U)
          << what << ": digit " << d << " of " << digits;
    }
  }

  static void expect_product(const GuardedWords& element, std::size_t digits, const LaneValues& a,
                             const LaneValues& b, const LaneValues& n, const std::string& what,
                             bool slack = false) {
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const Limbs expected = test::montgomery_product(a[lane], b[lane], n[lane], digits * w());
      ASSERT_NO_FATAL_FAILURE(expect_residue(element, digits, lane, expected, n[lane], what, slack));
    }
  }

  /// The digits without what lies above them.
  [[nodiscard]] static std::vector<Limb> digits_of(const GuardedWords& element) {
    std::vector<Limb> words = element.words();
    for (Limb& word : words) word &= test::low_bits(w());
    return words;
  }

  /// An entry for each lane; over all shifts, each entry in each lane.
  [[nodiscard]] static std::vector<std::uint32_t> scattered(std::size_t shift, std::size_t entries) {
    std::vector<std::uint32_t> indices;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      indices.push_back(static_cast<std::uint32_t>((shift + 3 * lane) % entries));
    }
    return indices;
  }

  /// Each lane of `chosen` is its index's entry of a table with `stride` words from entry to entry and
  /// `digit_words` words a digit: lanes(), or 1 where all lanes share the entries.
  static void expect_chosen(const GuardedWords& chosen, const GuardedWords& table,
                            const std::vector<std::uint32_t>& indices, std::size_t stride,
                            std::size_t digit_words) {
    const std::vector<Limb> found = digits_of(chosen);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t lane = at % lanes();
      const std::size_t word = at / lanes() * digit_words + (digit_words == 1 ? 0 : lane);
      ASSERT_EQ(found[at], table[indices[lane] * stride + word])
          << found.size() / lanes() << " digits, stride " << stride << ", word " << at;
    }
  }

  /// More rounds where there are fewer lanes and digits.
  [[nodiscard]] static std::size_t rounds(std::size_t digits) { return (digits < 50 ? 64 : 16) / lanes(); }
};
class LooseDigits : public LaneKernels {};
class SelectingKernels : public LaneKernels {};
class PairKernels : public LaneKernels {};

TEST(LaneValues, ReductionAgreesWithDivision) {
  Generator generate(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = 1 + generate.below(5);
    const std::size_t bits = kLimbBits * size - generate.below(kLimbBits);
    const Limbs n = generate.odd_modulus(size);
    const Limbs a = test::truncated(generate.number(size), bits);
    const Limbs b = generate.residue(n);
    const Limbs r = test::montgomery_product(a, b, n, bits);
    ASSERT_EQ(naive::multiply_mod(r, test::power_of_two(bits, size + 1), n), naive::multiply_mod(a, b, n));
    ASSERT_TRUE(test::below(r, n));
  }
}

TEST_P(LaneKernels, DigitCountsLeaveTheHeadroom) {
  for (std::size_t bits = 1; bits <= kernels().max_digits * w() - kernels().headroom_bits; ++bits) {
    const std::size_t digits = kernels().digits_for(bits);
    ASSERT_GE(digits * w(), bits + kernels().headroom_bits);
    ASSERT_GE(digits, kernels().min_digits);
    ASSERT_LE(digits, kernels().max_digits);
    ASSERT_EQ(digits % kernels().digit_multiple, 0U);
  }
}

TEST_P(LaneKernels, MultipliesAndSquares) {
  Generator generate(2);
  for (const std::size_t digits : digit_counts(45)) {
    Machine machine(digits, 0xAAAAAAAAAAAAAAAA);
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      const Operands x = almost_reduced(generate, digits, round);
      const GuardedWords n = modulus_block(x.n, digits);
      const GuardedWords a = test::pack(kernels(), x.a, digits);
      const GuardedWords b = test::pack(kernels(), x.b, digits);
      ASSERT_NO_FATAL_FAILURE(expect_product(machine.mul(a, b, n), digits, x.a, x.b, x.n, "mul"));
      ASSERT_NO_FATAL_FAILURE(expect_product(machine.sqr(a, n), digits, x.a, x.a, x.n, "sqr"));
      ASSERT_EQ(a.words(), test::pack(kernels(), x.a, digits).words()) << "an operand is written";
    }
  }
}

TEST_P(LaneKernels, MultipliesWhatIsNotReduced) {
  Generator generate(3);
  for (const std::size_t digits : digit_counts(45)) {
    Machine machine(digits, ~Limb{0});
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      const Operands x = wide_factor(generate, digits, round);
      const GuardedWords& r = machine.mul(test::pack(kernels(), x.a, digits),
                                          test::pack(kernels(), x.b, digits), modulus_block(x.n, digits));
      ASSERT_NO_FATAL_FAILURE(expect_product(r, digits, x.a, x.b, x.n, "a < R", GetParam().slack));
    }
  }
}

TEST_P(LaneKernels, ResultMayBeAnOperand) {
  Generator generate(4);
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    const GuardedWords b = test::pack(kernels(), x.b, digits);
    GuardedWords scratch(kernels().scratch_words(digits));
    Machine machine(digits, 0);
    const std::vector<Limb> product = digits_of(machine.mul(a, b, n));
    const std::vector<Limb> square = digits_of(machine.sqr(a, n));
    GuardedWords first(a);
    kernels().mul(first.data(), first.data(), b.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(first), product) << digits;
    GuardedWords second(b);
    kernels().mul(second.data(), a.data(), second.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(second), product) << digits;
    GuardedWords both(a);
    kernels().mul(both.data(), both.data(), both.data(), n.data(), digits, scratch.data());
    ASSERT_NO_FATAL_FAILURE(expect_product(both, digits, x.a, x.a, x.n, "r, a and b are one"));
    GuardedWords squared(a);
    kernels().sqr(squared.data(), squared.data(), n.data(), digits, scratch.data());
    ASSERT_EQ(digits_of(squared), square) << digits;
  }
}

TEST_P(LaneKernels, ScratchNeedsNoContents) {
  Generator generate(5);
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    const GuardedWords b = test::pack(kernels(), x.b, digits);
    Machine zeros(digits, 0);
    const std::vector<Limb> product = digits_of(zeros.mul(a, b, n));
    const std::vector<Limb> square = digits_of(zeros.sqr(a, n));
    for (const Limb fill : {~Limb{0}, Limb{0xAAAAAAAAAAAAAAAA}}) {
      Machine filled(digits, fill);
      ASSERT_EQ(digits_of(filled.mul(a, b, n)), product) << digits;
      ASSERT_EQ(digits_of(filled.sqr(a, n)), square) << digits;
    }
  }
}

TEST_P(LaneKernels, PermutedLanesGivePermutedResults) {
  Generator generate(6);
  const auto permuted = [&](LaneValues values, std::size_t shift) {
    std::reverse(values.begin(), values.end());
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shift), values.end());
    return values;
  };
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    Machine machine(digits, 0);
    const auto results = [&](const Operands& y) {
      const GuardedWords n = modulus_block(y.n, digits);
      const GuardedWords a = test::pack(kernels(), y.a, digits);
      LaneValues values;
      const GuardedWords product(machine.mul(a, test::pack(kernels(), y.b, digits), n));
      const GuardedWords square(machine.sqr(a, n));
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs both = test::unpack(kernels(), product.data(), digits, lane);
        const Limbs second = test::unpack(kernels(), square.data(), digits, lane);
        both.insert(both.end(), second.begin(), second.end());
        values.push_back(both);
      }
      return values;
    };
    const LaneValues expected = results(x);
    for (std::size_t shift = 0; shift < lanes(); ++shift) {
      const Operands y{permuted(x.a, shift), permuted(x.b, shift), permuted(x.n, shift)};
      ASSERT_EQ(results(y), permuted(expected, shift)) << digits << " digits, shift " << shift;
    }
  }
}

/// One lane's operands are kept while all others take extreme or senseless values.
TEST_P(LaneKernels, NeighboursDoNotMatter) {
  if (lanes() == 1) return;
  Generator generate(7);
  for (const std::size_t digits : digit_counts(24)) {
    const Operands x = almost_reduced(generate, digits, digits);
    Machine machine(digits, 0);
    const std::vector<Limb> product = digits_of(machine.mul(
        test::pack(kernels(), x.a, digits), test::pack(kernels(), x.b, digits), modulus_block(x.n, digits)));
    const std::vector<Limb> square =
        digits_of(machine.sqr(test::pack(kernels(), x.a, digits), modulus_block(x.n, digits)));
    const auto expect_kept = [&](std::size_t kept, const GuardedWords& a, const GuardedWords& b,
                                 const GuardedWords& n, const char* what) {
      const std::vector<Limb> p = digits_of(machine.mul(a, b, n));
      const std::vector<Limb> s = digits_of(machine.sqr(a, n));
      for (std::size_t at = kept; at < p.size(); at += lanes()) {
        ASSERT_EQ(p[at], product[at]) << what << ", lane " << kept << " of " << digits << " digits";
        ASSERT_EQ(s[at], square[at]) << what << ", lane " << kept << " of " << digits << " digits";
      }
    };
    for (std::size_t kept = 0; kept < lanes(); ++kept) {
      Operands largest = x;
      Operands zero = x;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        if (lane == kept) continue;
        const Limbs n = modulus(generate, digits, 0);
        const Limbs top = test::difference(bound(n), test::small(1, n.size()));
        largest.n[lane] = n;
        largest.a[lane] = largest.b[lane] = top;
        zero.a[lane] = zero.b[lane] = Limbs(n.size(), 0);
      }
      for (const Operands& y : {largest, zero}) {
        ASSERT_NO_FATAL_FAILURE(expect_kept(kept, test::pack(kernels(), y.a, digits),
                                            test::pack(kernels(), y.b, digits), modulus_block(y.n, digits),
                                            "extreme neighbours"));
      }
#if !MANYMOD_VERIFY  // which stops at operands out of range
      GuardedWords a = test::pack(kernels(), x.a, digits);
      GuardedWords b = test::pack(kernels(), x.b, digits);
      GuardedWords n = modulus_block(x.n, digits);
      const Limb keep = GetParam().loose_digits ? ~Limb{0} : test::low_bits(w());
      for (GuardedWords* element : {&a, &b, &n}) {
        for (std::size_t at = 0; at < element->size(); ++at) {
          if (at % lanes() != kept) (*element)[at] = generate.limb() & keep;
        }
      }
      ASSERT_NO_FATAL_FAILURE(expect_kept(kept, a, b, n, "senseless neighbours"));
#endif
    }
  }
}

TEST_P(LooseDigits, BitsAboveTheDigitsAreIgnored) {
  Generator generate(8);
  const auto soiled = [&](const LaneValues& values, std::size_t digits) {
    GuardedWords element = test::pack(kernels(), values, digits);
    for (std::size_t at = 0; at < element.size(); ++at) element[at] |= generate.limb() << w();
    return element;
  };
  for (const std::size_t digits : digit_counts(45)) {
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    Machine machine(digits, 0);
    ASSERT_NO_FATAL_FAILURE(expect_product(machine.mul(soiled(x.a, digits), soiled(x.b, digits), n), digits,
                                           x.a, x.b, x.n, "mul"));
    ASSERT_NO_FATAL_FAILURE(
        expect_product(machine.sqr(soiled(x.a, digits), n), digits, x.a, x.a, x.n, "sqr"));
    GuardedWords r(digits * lanes());
    const GuardedWords m = test::pack(kernels(), x.n, digits);
    LaneValues reduced = x.a;
    for (std::size_t lane = 0; lane < lanes(); ++lane)
      if (!test::below(x.a[lane], x.n[lane])) reduced[lane] = test::difference(x.a[lane], x.n[lane]);
    kernels().add_mod(r.data(), soiled(x.a, digits).data(), soiled(LaneValues(lanes(), {0}), digits).data(),
                      m.data(), digits);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      ASSERT_EQ(test::unpack(kernels(), r.data(), digits, lane), reduced[lane]) << "add_mod, " << digits;
    }
  }
}

/// a + b < 2m, sums around 0, m and 2m; also with m = 2n, the bound of almost reduced values.
TEST_P(LaneKernels, AddsAtTheEdges) {
  Generator generate(9);
  for (const std::size_t digits : digit_counts(45)) {
    for (std::size_t round = 0; round < rounds(digits); ++round) {
      LaneValues a, b, m, expected;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs n = modulus(generate, digits, (lane + round / 2) % kModulusKinds);
        if (round % 2 == 0) n = bound(n);
        const Limbs one = test::small(1, n.size());
        const Limbs top = test::difference(n, one);
        Limbs x = random_below(generate, n);
        Limbs y = random_below(generate, n);
        switch (generate.below(8)) {
          case 0:  // m - 1
            y = test::difference(top, x);
            break;
          case 1:  // m
            y = test::difference(n, x);
            break;
          case 2:  // m + 1
            x = top;
            y = test::small(2, n.size());
            break;
          case 3:  // 2m - 2
            x = y = top;
            break;
          case 4:  // 2m - 1
            x = n;
            y = top;
            break;
          case 5:
            x = y = Limbs(n.size(), 0);
            break;
          case 6:  // an operand above m
            if (!fully_reduced()) x = test::sum(n, test::difference(top, y));
            break;
          default:
            break;
        }
        expected.push_back(sum_mod(x, y, n));
        a.push_back(x);
        b.push_back(y);
        m.push_back(n);
      }
      GuardedWords r(digits * lanes());
      GuardedWords x = test::pack(kernels(), a, digits);
      const GuardedWords y = test::pack(kernels(), b, digits);
      const GuardedWords modulus = test::pack(kernels(), m, digits);
      const std::vector<Limb> wanted = test::pack(kernels(), expected, digits).words();
      kernels().add_mod(r.data(), x.data(), y.data(), modulus.data(), digits);
      ASSERT_EQ(r.words(), wanted) << digits;
      ASSERT_TRUE(r.guards_intact());
      GuardedWords second(y);
      kernels().add_mod(second.data(), x.data(), second.data(), modulus.data(), digits);
      ASSERT_EQ(second.words(), wanted) << digits;
      kernels().add_mod(x.data(), x.data(), y.data(), modulus.data(), digits);
      ASSERT_EQ(x.words(), wanted) << digits;
    }
  }
}

/// A table of senseless exact digits.
GuardedWords table_of(Generator& generate, std::size_t words, unsigned w) {
  GuardedWords table(words);
  for (std::size_t at = 0; at < words; ++at) table[at] = generate.limb() & test::low_bits(w);
  return table;
}

TEST_P(LaneKernels, SelectsEveryEntryInEveryLane) {
  Generator generate(10);
  for (const std::size_t digits : digit_counts(17)) {
    for (const std::size_t entries : {1, 2, 5, 8, 32, 64}) {
      if (digits > 17 && entries > 8) continue;
      // Entries may lie further apart than an element is long: Multiplier's second vector lies between.
      const std::size_t stride = (digits * lanes() + 7) / 8 * 8 * (1 + entries % 2);
      const GuardedWords table = table_of(generate, entries * stride, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = scattered(shift, entries);
        GuardedWords r(digits * lanes());
        kernels().select(r.data(), table.data(), entries, stride, digits, indices.data());
        ASSERT_TRUE(r.guards_intact());
        ASSERT_NO_FATAL_FAILURE(expect_chosen(r, table, indices, stride, lanes()));
      }
    }
  }
}

TEST_P(LaneKernels, SelectsEverySharedEntryInEveryLane) {
  Generator generate(11);
  for (const std::size_t digits : digit_counts(17)) {
    for (const std::size_t entries : {1, 2, 5, 8, 32, 64}) {
      if (digits > 17 && entries > 8) continue;
      const GuardedWords table = table_of(generate, entries * digits, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = scattered(shift, entries);
        GuardedWords r(digits * lanes());
        kernels().select_shared(r.data(), table.data(), entries, digits, indices.data());
        ASSERT_TRUE(r.guards_intact());
        ASSERT_NO_FATAL_FAILURE(expect_chosen(r, table, indices, digits, 1));
      }
    }
  }
}

TEST_P(SelectingKernels, SquaresWhileItSelects) {
  Generator generate(12);
  for (const std::size_t digits : digit_counts(30)) {
    if (digits <= manymod::lanes::SelectShare::kMaxEntries) continue;
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    Machine machine(digits, 0);
    const std::vector<Limb> square = digits_of(machine.sqr(a, n));
    for (const std::size_t entries : {2, 7, 8, 32}) {
      const std::size_t stride = (digits * lanes() + 7) / 8 * 8 * (1 + entries % 2);
      const GuardedWords table = table_of(generate, entries * stride, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = scattered(shift, entries);
        const std::size_t per_share = 1 + shift % manymod::lanes::SelectShare::kMaxEntries;
        GuardedWords chosen(digits * lanes(), ~Limb{0});
        for (std::size_t first = 0; first < entries; first += per_share) {
          const manymod::lanes::SelectShare share{
              chosen.data(), table.data(), stride, first, std::min(first + per_share, entries),
              indices.data()};
          GuardedWords scratch(kernels().scratch_words(digits), ~Limb{0});
          GuardedWords r(digits * lanes());
          kernels().sqr_select(r.data(), a.data(), n.data(), digits, scratch.data(), share);
          ASSERT_TRUE(r.guards_intact() && scratch.guards_intact() && chosen.guards_intact());
          ASSERT_EQ(digits_of(r), square) << digits;
        }
        ASSERT_NO_FATAL_FAILURE(expect_chosen(chosen, table, indices, stride, lanes()));
      }
    }
  }
}

/// Two vectors in lockstep are what they are one after the other; results may overwrite operands.
TEST_P(PairKernels, PairsAreTwoVectors) {
  Generator generate(13);
  for (const std::size_t digits : digit_counts(kernels().paired_digits)) {
    if (digits > kernels().paired_digits) break;
    for (std::size_t round = 0; round < 8; ++round) {
      const Operands x = almost_reduced(generate, digits, round);
      const Operands y = almost_reduced(generate, digits, round + 3);
      const GuardedWords n[] = {modulus_block(x.n, digits), modulus_block(y.n, digits)};
      const GuardedWords a[] = {test::pack(kernels(), x.a, digits), test::pack(kernels(), y.a, digits)};
      const GuardedWords b[] = {test::pack(kernels(), x.b, digits), test::pack(kernels(), y.b, digits)};
      GuardedWords scratch(kernels().scratch_words(digits), ~Limb{0});
      GuardedWords r[] = {GuardedWords(digits * lanes()), GuardedWords(digits * lanes())};
      const auto expect_both = [&](const LaneValues& x_factor, const LaneValues& y_factor, const char* what) {
        ASSERT_TRUE(r[0].guards_intact() && r[1].guards_intact() && scratch.guards_intact()) << digits;
        ASSERT_NO_FATAL_FAILURE(expect_product(r[0], digits, x.a, x_factor, x.n, what));
        ASSERT_NO_FATAL_FAILURE(expect_product(r[1], digits, y.a, y_factor, y.n, what));
      };
      const manymod::lanes::Pair pair{{r[0].data(), r[1].data()},
                                      {a[0].data(), a[1].data()},
                                      {b[0].data(), b[1].data()},
                                      {n[0].data(), n[1].data()}};
      kernels().mul_pair(pair, digits, scratch.data());
      ASSERT_NO_FATAL_FAILURE(expect_both(x.b, y.b, "mul_pair"));
      kernels().sqr_pair(pair, digits, scratch.data());
      ASSERT_NO_FATAL_FAILURE(expect_both(x.a, y.a, "sqr_pair"));
      manymod::lanes::Pair in_place = pair;
      for (std::size_t v = 0; v < 2; ++v) {
        std::copy_n(a[v].data(), a[v].size(), r[v].data());
        in_place.a[v] = r[v].data();
      }
      kernels().mul_pair(in_place, digits, scratch.data());
      ASSERT_NO_FATAL_FAILURE(expect_both(x.b, y.b, "mul_pair in place"));
      for (std::size_t v = 0; v < 2; ++v) std::copy_n(a[v].data(), a[v].size(), r[v].data());
      kernels().sqr_pair(in_place, digits, scratch.data());
      ASSERT_NO_FATAL_FAILURE(expect_both(x.a, y.a, "sqr_pair in place"));

      if (kernels().sqr_select_pair == nullptr || digits <= manymod::lanes::SelectShare::kMaxEntries)
        continue;
      constexpr std::size_t kEntries = 16;
      const std::size_t stride = 2 * digits * lanes();
      const GuardedWords table = table_of(generate, kEntries * stride, w());
      GuardedWords chosen[] = {GuardedWords(digits * lanes(), ~Limb{0}),
                               GuardedWords(digits * lanes(), ~Limb{0})};
      const std::vector<std::uint32_t> indices[] = {scattered(round, kEntries),
                                                    scattered(round + 7, kEntries)};
      const std::size_t per_share = 1 + round % manymod::lanes::SelectShare::kMaxEntries;
      for (std::size_t first = 0; first < kEntries; first += per_share) {
        manymod::lanes::SelectShare shares[2];
        for (std::size_t v = 0; v < 2; ++v) {
          shares[v] = {chosen[v].data(),
                       table.data() + v * digits * lanes(),
                       stride,
                       first,
                       std::min(first + per_share, kEntries),
                       indices[v].data()};
        }
        kernels().sqr_select_pair(pair, digits, scratch.data(), shares);
        ASSERT_NO_FATAL_FAILURE(expect_both(x.a, y.a, "sqr_select_pair"));
      }
      for (std::size_t v = 0; v < 2; ++v) {
        ASSERT_TRUE(chosen[v].guards_intact());
        const std::vector<Limb> found = digits_of(chosen[v]);
        for (std::size_t at = 0; at < found.size(); ++at) {
          ASSERT_EQ(found[at], table[indices[v][at % lanes()] * stride + v * digits * lanes() + at])
              << digits << " digits, vector " << v << ", word " << at;
        }
      }
    }
  }
}

#if MANYMOD_X86_64
/// The tables of which `wanted` holds.
template <class Wanted>
std::vector<test::LaneKernelSet> sets_with(Wanted wanted) {
  std::vector<test::LaneKernelSet> sets = test::lane_kernel_sets();
  std::erase_if(sets, [&](const test::LaneKernelSet& set) { return !wanted(set); });
  return sets;
}

INSTANTIATE_TEST_SUITE_P(Techniques, LaneKernels, testing::ValuesIn(test::lane_kernel_sets()),
                         test::lane_kernel_set_name);
INSTANTIATE_TEST_SUITE_P(Techniques, LooseDigits,
                         testing::ValuesIn(sets_with([](const auto& set) { return set.loose_digits; })),
                         test::lane_kernel_set_name);
INSTANTIATE_TEST_SUITE_P(Techniques, SelectingKernels, testing::ValuesIn(sets_with([](const auto& set) {
                           return set.kernels->sqr_select != nullptr;
                         })),
                         test::lane_kernel_set_name);
INSTANTIATE_TEST_SUITE_P(Techniques, PairKernels, testing::ValuesIn(sets_with([](const auto& set) {
                           return set.kernels->mul_pair != nullptr;
                         })),
                         test::lane_kernel_set_name);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneKernels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LooseDigits);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SelectingKernels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairKernels);
#endif

}  // namespace
}  // namespace manymod
