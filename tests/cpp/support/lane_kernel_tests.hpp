// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of every table of lanes::Kernels: operands at the edges of their ranges, calls of
// kernels with guard words around all memory, and slow arithmetic for comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arch/scalar/word.hpp"
#include "support/lane_kernel_sets.hpp"
#include "support/lane_values.hpp"
#include "support/naive.hpp"

namespace manymod::lane_kernel_tests {

using naive::Generator;
using naive::Limbs;
using test::GuardedWords;
using test::LaneValues;

/// Operands of a multiplication, one set for each lane.
struct Operands {
  LaneValues a, b, n;
};

/// Base of the tests: the parameter is a kernel table. L digits of w bits, R = 2^(w L).
class LaneKernels : public test::LaneKernelTest {
 protected:
  [[nodiscard]] static std::size_t lanes() { return kernels().lanes; }
  [[nodiscard]] static unsigned w() { return kernels().digit_bits; }
  [[nodiscard]] static std::size_t limbs_of(std::size_t digits) { return limbs_for_bits(digits * w()); }
  [[nodiscard]] static bool fully_reduced() { return kernels().headroom_bits < 2; }

  /// Every possible number of digits up to `all_to`, then some larger ones and the largest.
  [[nodiscard]] static std::vector<std::size_t> digit_counts(std::size_t all_to) {
    std::vector<std::size_t> counts;
    const std::size_t step = kernels().digit_multiple;
    const std::size_t first = (kernels().min_digits + step - 1) / step * step;
    for (std::size_t digits = first; digits <= std::min(all_to, kernels().max_digits); digits += step) {
      counts.push_back(digits);
    }
    for (const std::size_t digits :
         {60U, 61U, 64U, 80U, 97U, 100U, 120U, 143U, 158U, 160U, 201U, 256U, 311U, 319U, 423U}) {
      if (digits % step == 0 && digits > counts.back() && digits < kernels().max_digits) {
        counts.push_back(digits);
      }
    }
    if (counts.back() != kernels().max_digits) counts.push_back(kernels().max_digits);
    return counts;
  }

  static constexpr std::size_t kModulusKinds = 8;
  /// An odd n > 1 with 2^headroom_bits n <= R, of one of kModulusKinds kinds of edges.
  [[nodiscard]] static Limbs modulus(Generator& generate, std::size_t digits, std::size_t kind) {
    const std::size_t size = limbs_of(digits);
    const std::size_t bits = digits * w() - kernels().headroom_bits;
    const auto ones = [&](std::size_t count) { return test::truncated(Limbs(size, ~Limb{0}), count); };
    Limbs n = test::truncated(generate.number(size), bits);
    switch (kind) {
      case 0:
        return ones(bits);
      case 1:
        n = test::power_of_two_limbs(bits - 1, size);
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

  /// The exclusive bound of almost reduced values: 2 n, or n if elements are fully reduced.
  [[nodiscard]] static Limbs bound(const Limbs& n) { return fully_reduced() ? n : test::sum(n, n); }

  /// A random number below `end`.
  [[nodiscard]] static Limbs random_below(Generator& generate, const Limbs& end) {
    const Limbs value = test::truncated(generate.number(end.size()), test::bit_length(end));
    return test::below(value, end) ? value : test::truncated(value, test::bit_length(end) - 1);
  }

  /// x + y mod m. On input: x + y < 2 m.
  [[nodiscard]] static Limbs sum_mod(Limbs x, Limbs y, Limbs m) {
    const std::size_t size = m.size();
    for (Limbs* value : {&x, &y, &m}) value->push_back(0);
    Limbs out = test::sum(x, y);
    if (!test::below(out, m)) out = test::difference(out, m);
    out.resize(size);
    return out;
  }

  /// A number below `end`, end >= n > 1, often at an edge.
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

  /// Operands a, b almost reduced, with a different kind of modulus in each lane.
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

  /// Operands of the other permitted range: a < R, b <= n.
  [[nodiscard]] static Operands wide_factor(Generator& generate, std::size_t digits, std::size_t round) {
    Operands x = almost_reduced(generate, digits, round);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const std::size_t size = limbs_of(digits);
      const Limbs r_minus_one = test::truncated(Limbs(size, ~Limb{0}), digits * w());
      x.a[lane] = generate.below(3) == 0 ? r_minus_one : test::truncated(generate.number(size), digits * w());
      if (generate.below(4) == 0) x.b[lane] = x.n[lane];
      if (test::below(x.n[lane], x.b[lane])) x.b[lane] = test::difference(x.b[lane], x.n[lane]);
    }
    return x;
  }

  /// The modulus block of the moduli n.
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

  /// Calls the kernels on packed operands, with fresh scratch, and checks the guards.
  class KernelRunner {
   public:
    KernelRunner(std::size_t digits, Limb scratch_fill)
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

  /// The lane's value is `expected` < n, or n more if values are almost reduced, or, with `slack`, 2 n more;
  /// its digits are exact if the technique promises that.
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

  /// Every lane holds a b / R mod n.
  static void expect_product(const GuardedWords& element, std::size_t digits, const LaneValues& a,
                             const LaneValues& b, const LaneValues& n, const std::string& what,
                             bool slack = false) {
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const Limbs expected = test::montgomery_product(a[lane], b[lane], n[lane], digits * w());
      ASSERT_NO_FATAL_FAILURE(expect_residue(element, digits, lane, expected, n[lane], what, slack));
    }
  }

  /// The digits of an element, without the bits above them.
  [[nodiscard]] static std::vector<Limb> digits_of(const GuardedWords& element) {
    std::vector<Limb> words = element.words();
    for (Limb& word : words) word &= test::low_bits(w());
    return words;
  }

  /// An index for each lane; over all shifts, each index in each lane.
  [[nodiscard]] static std::vector<std::uint32_t> lane_indices(std::size_t shift, std::size_t entries) {
    std::vector<std::uint32_t> indices;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      indices.push_back(static_cast<std::uint32_t>((shift + 3 * lane) % entries));
    }
    return indices;
  }

  /// Each lane of `chosen` holds its index's entry of a table whose entries are `stride` words apart and have
  /// `digit_words` words per digit: lanes(), or 1 if all lanes share the entries.
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

  /// Repetitions of a test: more for fewer lanes and digits.
  [[nodiscard]] static std::size_t rounds(std::size_t digits) { return (digits < 50 ? 64 : 16) / lanes(); }
};

/// A table of random exact digits.
inline GuardedWords random_table(Generator& generate, std::size_t words, unsigned w) {
  GuardedWords table(words);
  for (std::size_t at = 0; at < words; ++at) table[at] = generate.limb() & test::low_bits(w);
  return table;
}

#if MANYMOD_X86_64
/// The tables for which `wanted` holds.
template <class Wanted>
std::vector<test::LaneKernelSet> sets_with(Wanted wanted) {
  std::vector<test::LaneKernelSet> sets = test::lane_kernel_sets();
  std::erase_if(sets, [&](const test::LaneKernelSet& set) { return !wanted(set); });
  return sets;
}
#endif

}  // namespace manymod::lane_kernel_tests
