// SPDX-License-Identifier: Apache-2.0
// The layers that the lane engine builds on every kernel table: conversions (lanes::Moduli), and two vectors
// as one multiplier (lanes::Multiplier).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "lanes/moduli.hpp"
#include "lanes/multiplier.hpp"
#include "support/lane_kernel_sets.hpp"
#include "support/lane_values.hpp"
#include "support/naive.hpp"

namespace manymod {
namespace {

using naive::Generator;
using naive::Limbs;
using test::LaneValues;

std::vector<std::span<const Limb>> spans(const LaneValues& values) { return {values.begin(), values.end()}; }

/// A random odd number of exactly `bits` bits. On input: bits >= 2.
Limbs odd_of(Generator& generate, std::size_t bits) {
  const std::size_t size = limbs_for_bits(bits);
  Limbs n = test::truncated(generate.number(size), bits - 1);
  n = test::sum(n, test::power_of_two_limbs(bits - 1, size));
  n[0] |= 1;
  return n;
}

class LaneModuli : public test::LaneKernelTest {
 protected:
  [[nodiscard]] static std::size_t lanes() { return kernels().lanes; }

  /// One modulus per lane, of different bit lengths; that of lane 0 has max_bits.
  [[nodiscard]] static LaneValues moduli(Generator& generate, std::size_t max_bits) {
    LaneValues n;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      n.push_back(odd_of(generate, lane == 0 ? max_bits : 2 + generate.below(max_bits - 1)));
      n.back().resize(limbs_for_bits(max_bits), 0);
    }
    return n;
  }

  static constexpr std::array<std::size_t, 12> kBits = {2,   51,  52,  63,   64,   65,
                                                        127, 256, 521, 1024, 1300, 2048};

  /// x mod n, or -x mod n if `negative`.
  [[nodiscard]] static Limbs residue(const Limbs& x, bool negative, const Limbs& n) {
    const Limbs r = naive::reduce(x, n);
    const bool zero = test::bit_length(r) == 0;
    return negative && !zero ? test::difference(n, r) : r;
  }
};

/// to_montgomery and from_montgomery are inverse to each other, for operands of any size and sign.
TEST_P(LaneModuli, MontgomeryRoundTrip) {
  Generator generate(1);
  for (const std::size_t bits : kBits) {
    const LaneValues n = moduli(generate, bits);
    lanes::Moduli moduli(kernels());
    limbs::Buffer scratch;
    moduli.assign(spans(n), kernels().digits_for(bits), scratch);
    scratch.require(moduli.scratch_words());
    limbs::Buffer element(moduli.words());
    const std::size_t size = n[0].size();
    // Narrower than the moduli, as wide as these, wider than R, and much wider.
    for (const std::size_t width : {std::size_t{1}, size, size + 1, 2 * size + 3, 3 * size + 40}) {
      LaneValues x;
      std::vector<char> negative;
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        x.push_back(generate.number(width));
        if (generate.below(5) == 0) x.back() = Limbs(width, 0);
        if (generate.below(5) == 0 && width > size) {  // a multiple of n
          x.back() = naive::limbs(
              naive::multiply(naive::digits(n[lane]), naive::digits(Limbs{generate.limb()})), width);
        }
        if (generate.below(5) == 0 && width >= size) {
          x.back() = n[lane];
          x.back().resize(width, 0);
        }
        negative.push_back(generate.below(2) == 0 ? 1 : 0);
      }
      std::array<bool, kMaxLanes> signs{};
      std::copy(negative.begin(), negative.end(), signs.begin());
      moduli.to_montgomery(element.data(), spans(x), std::span(signs).first(lanes()), scratch.data());
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs found = test::unpack(kernels(), element.data(), moduli.digits(), lane);
        Limbs expected(found.size(), 0);
        Limbs modulus = n[lane];
        modulus.resize(found.size(), 0);
        const Limbs plain = residue(x[lane], signs[lane], modulus);
        expected = naive::multiply_mod(
            plain, test::power_of_two_limbs(moduli.digits() * kernels().digit_bits, found.size() + 1),
            modulus);
        if (!test::below(found, modulus)) found = test::difference(found, modulus);
        ASSERT_EQ(found, expected) << bits << " bits, width " << width << ", lane " << lane;
      }
      moduli.from_montgomery(element.data(), element.data(), scratch.data());
      moduli.export_limbs(scratch.data(), size, element.data());
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Limbs found(size);
        for (std::size_t i = 0; i < size; ++i) found[i] = scratch.data()[i * lanes() + lane];
        ASSERT_EQ(found, residue(x[lane], signs[lane], n[lane]))
            << bits << " bits, width " << width << ", lane " << lane;
      }
    }
  }
}

/// one() is R mod n, and reduce() takes values below 4 n.
TEST_P(LaneModuli, OneAndReduction) {
  Generator generate(2);
  for (const std::size_t bits : kBits) {
    const LaneValues n = moduli(generate, bits);
    lanes::Moduli moduli(kernels());
    limbs::Buffer scratch;
    moduli.assign(spans(n), kernels().digits_for(bits), scratch);
    const std::size_t digits = moduli.digits();
    const std::size_t size = limbs_for_bits(digits * kernels().digit_bits);
    LaneValues values;
    LaneValues expected;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      Limbs modulus = n[lane];
      modulus.resize(size, 0);
      const Limbs r = test::power_of_two_limbs(digits * kernels().digit_bits, size + 1);
      EXPECT_EQ(test::unpack(kernels(), moduli.one(), digits, lane), naive::multiply_mod(r, {1}, modulus))
          << bits << " bits, lane " << lane;
      Limbs value = naive::reduce(generate.number(size), modulus);
      expected.push_back(value);
      // Up to 3 n more, if the digits have headroom for 4 n.
      const std::size_t multiples = kernels().headroom_bits < 2 ? 1 : generate.below(4);
      for (std::size_t i = 0; i < multiples && kernels().headroom_bits >= 2; ++i) {
        value = test::sum(value, modulus);
      }
      values.push_back(value);
    }
    test::GuardedWords element = test::pack(kernels(), values, digits);
    moduli.reduce(element.data(), element.data());
    EXPECT_EQ(element.words(), test::pack(kernels(), expected, digits).words()) << bits;
  }
}

/// Two vectors in one multiplier compute the same as each vector alone.
TEST_P(LaneModuli, TwoVectorsAreOneMultiplier) {
  Generator generate(3);
  constexpr std::size_t kBitsHere = 300;
  constexpr std::size_t kEntries = 9;
  lanes::Moduli first(kernels());
  lanes::Moduli second(kernels());
  const std::size_t digits = kernels().digits_for(kBitsHere);
  const LaneValues n0 = moduli(generate, kBitsHere);
  const LaneValues n1 = moduli(generate, kBitsHere);
  limbs::Buffer scratch;
  first.assign(spans(n0), digits, scratch);
  second.assign(spans(n1), digits, scratch);
  const std::array<const lanes::Moduli*, 2> both = {&first, &second};
  scratch.require(first.scratch_words());
  const lanes::Multiplier m(both, scratch.data());
  const std::size_t words = first.words();
  ASSERT_EQ(m.lanes(), 2 * lanes());
  ASSERT_EQ(m.words(), 2 * words);

  const auto element = [&](const LaneValues& x0, const LaneValues& x1) {
    const test::GuardedWords low = test::pack(kernels(), x0, digits);
    const test::GuardedWords high = test::pack(kernels(), x1, digits);
    test::GuardedWords joined(2 * words);
    std::copy_n(low.data(), words, joined.data());
    std::copy_n(high.data(), words, joined.data() + words);
    return joined;
  };
  const auto residues = [&](const LaneValues& n) {
    LaneValues x;
    for (const Limbs& modulus : n) x.push_back(naive::reduce(generate.number(modulus.size()), modulus));
    return x;
  };
  const LaneValues x0 = residues(n0);
  const LaneValues x1 = residues(n1);
  const LaneValues y0 = residues(n0);
  const LaneValues y1 = residues(n1);
  test::GuardedWords r(2 * words);
  const auto expect = [&](const LaneValues& a0, const LaneValues& a1, const LaneValues& b0,
                          const LaneValues& b1, const char* what) {
    ASSERT_TRUE(r.guards_intact());
    for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
      const bool low = lane < lanes();
      const std::size_t at = lane % lanes();
      const Limbs& n = low ? n0[at] : n1[at];
      Limbs found = test::unpack(kernels(), r.data() + (low ? 0 : words), digits, at);
      Limbs modulus = n;
      modulus.resize(found.size(), 0);
      if (!test::below(found, modulus)) found = test::difference(found, modulus);
      const Limbs expected = test::montgomery_product(low ? a0[at] : a1[at], low ? b0[at] : b1[at], modulus,
                                                      digits * kernels().digit_bits);
      ASSERT_EQ(found, expected) << what << ", lane " << lane;
    }
  };
  m.mul(r.data(), element(x0, x1).data(), element(y0, y1).data());
  expect(x0, x1, y0, y1, "mul");
  m.sqr(r.data(), element(x0, x1).data());
  expect(x0, x1, x0, x1, "sqr");

  test::GuardedWords table(kEntries * 2 * words);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = generate.limb() & test::low_bits(kernels().digit_bits);
  }
  for (std::uint32_t shift = 0; shift < kEntries; ++shift) {
    std::array<std::uint32_t, 2 * kMaxLanes> indices{};
    for (std::uint32_t lane = 0; lane < m.lanes(); ++lane)
      indices[lane] = (lane * 2 + shift) % std::uint32_t{kEntries};
    const std::span used = std::span<const std::uint32_t>(indices).first(m.lanes());
    test::GuardedWords gathered(2 * words);
    m.gather(gathered.data(), table.data(), used);
    m.select(r.data(), table.data(), kEntries, used);
    ASSERT_EQ(r.words(), gathered.words()) << shift;
    for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
      const std::size_t at = lane / lanes() * words + lane % lanes();
      ASSERT_EQ(r[at], table[indices[lane] * 2 * words + at]) << shift << ", lane " << lane;
    }
    m.gather_shared(gathered.data(), table.data(), used);
    m.select_shared(r.data(), table.data(), kEntries, used);
    ASSERT_EQ(r.words(), gathered.words()) << shift;
    for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
      ASSERT_EQ(r[lane / lanes() * words + lane % lanes()], table[indices[lane] * digits]) << shift;
    }
  }
}

#if MANYMOD_X86_64
INSTANTIATE_TEST_SUITE_P(Techniques, LaneModuli, testing::ValuesIn(test::lane_kernel_sets()),
                         test::lane_kernel_set_name);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneModuli);
#endif

}  // namespace
}  // namespace manymod
