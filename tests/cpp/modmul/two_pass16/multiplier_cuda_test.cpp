// SPDX-License-Identifier: Apache-2.0
// The device multiplier of two_pass16 on the host: the tests of all device multipliers, and tests of
// two_pass16 only: 16-bit halves, whole products, squares, reductions of all numbers below R^2, and the sums
// of lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/two_pass16/lane_sums.cuda.hpp"
#include "modmul/two_pass16/multiplier.cuda.hpp"
#include "modmul/two_pass16/passes.cuda.hpp"
#include "support/device_multiplier_tests.hpp"
#include "support/device_program_tests.hpp"
#include "support/device_values.hpp"
#include "support/lockstep.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

template <unsigned kThreads, unsigned kPerThread>
using Shape = DeviceShape<two_pass16::Multiplier, kThreads, kPerThread>;

using Shapes = testing::Types<Shape<1, 2>, Shape<1, 3>, Shape<1, 4>, Shape<1, 6>, Shape<1, 8>, Shape<1, 12>,
                              Shape<1, 16>, Shape<1, 24>>;
INSTANTIATE_TYPED_TEST_SUITE_P(TwoPass16, DeviceMultiplier, Shapes, DeviceShapeNames);
// Fewer shapes in sanitizer builds, which are several times slower.
#if defined(MANYMOD_SANITIZED)
using GroupShapes = testing::Types<Shape<2, 3>, Shape<8, 3>, Shape<32, 1>>;
#else
using GroupShapes = testing::Types<Shape<2, 1>, Shape<2, 3>, Shape<2, 16>, Shape<4, 2>, Shape<4, 8>,
                                   Shape<8, 3>, Shape<16, 2>, Shape<32, 1>, Shape<32, 8>>;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(TwoPass16Groups, DeviceMultiplier, GroupShapes, DeviceShapeNames);

using SmallShapes =
    testing::Types<Shape<1, 1>, Shape<1, 2>, Shape<1, 3>, Shape<2, 1>, Shape<2, 2>, Shape<4, 1>>;
INSTANTIATE_TYPED_TEST_SUITE_P(TwoPass16, DeviceMultiplierExhaustive, SmallShapes, DeviceShapeNames);

using ProgramShapes = testing::Types<Shape<1, 4>, Shape<1, 8>, Shape<2, 6>, Shape<4, 4>, Shape<8, 2>,
                                     Shape<16, 2>, Shape<32, 1>>;
INSTANTIATE_TYPED_TEST_SUITE_P(TwoPass16, DeviceProgram, ProgramShapes, DeviceShapeNames);

TEST(DeviceHalves, ProductsAndPlaces) {
  for (const std::uint32_t a : {0u, 1u, 2u, 0x7fffu, 0x8000u, 0xfffeu, 0xffffu}) {
    for (const std::uint32_t b : {0u, 1u, 0x8000u, 0xffffu}) {
      for (const std::uint32_t addend : {0u, 1u, 0x8000u, 0xffffu}) {
        ASSERT_EQ(cuda::mad_halves(a, b, addend), std::uint64_t{a} * b + addend);
      }
      const std::uint32_t word = b << 16 | a;
      ASSERT_EQ(cuda::low_half(word), a);
      ASSERT_EQ(cuda::high_half(word), b);
      ASSERT_EQ(cuda::straddling_word(word, ~word), (~word & 0xffffu) << 16 | b);
    }
  }
}

/// Numbers whose halves are 0, 1, 2^16 - 2 or 2^16 - 1, and numbers of edge words.
template <unsigned kWords>
std::vector<Words> numbers_of_edge_halves(naive::Generator& generate, unsigned count) {
  constexpr std::array<std::uint32_t, 4> kHalves{0, 1, 0xfffe, 0xffff};
  std::vector<Words> numbers{Words(kWords, 0), Words(kWords, 0xffffffffu), Words(kWords, 0xffffu),
                             Words(kWords, 0xffff0000u), Words(kWords, 0x0001ffffu)};
  for (unsigned i = 0; i < count; ++i) {
    Words number(kWords);
    for (std::uint32_t& word : number) word = kHalves[generate.below(4)] << 16 | kHalves[generate.below(4)];
    numbers.push_back(number);
    numbers.push_back(edge_words(generate, kWords));
  }
  return numbers;
}

/// The products and squares of all pairs of edge numbers are exact.
template <unsigned kWords>
void expect_exact_products() {
  naive::Generator generate(kWords);
  const std::vector<Words> numbers = numbers_of_edge_halves<kWords>(generate, 40);
  for (const Words& a : numbers) {
    Words p(2 * kWords, kGuardWord);
    two_pass16::square<kWords>(p.data(), a.data());
    ASSERT_EQ(p, naive::multiply(a, a));
    for (const Words& b : numbers) {
      two_pass16::multiply<kWords>(p.data(), a.data(), b.data());
      ASSERT_EQ(p, naive::multiply(a, b));
    }
  }
}

TEST(TwoPass16, ProductsAndSquaresAreExact) {
  expect_exact_products<1>();
  expect_exact_products<2>();
  expect_exact_products<3>();
  expect_exact_products<8>();
  expect_exact_products<16>();
}

/// r + overflow R = reduce(x) for any x < R^2, in kWords + 1 words.
template <unsigned kWords>
Words reduced(Words x, const Words& n) {
  const auto halves = two_pass16::halves_of<kWords>(n.data());
  Words r(kWords + 1);
  r[kWords] =
      two_pass16::reduce<kWords>(r.data(), x.data(), halves, cuda::low_half(cuda::negative_inverse(n[0])));
  return r;
}

/// r R = x + q n with 0 <= q < R. It follows that r, one word longer than n, is congruent to x / R, and that
/// r < R + n for x < R^2.
void expect_reduced(const Words& r, const Words& x, const Words& n) {
  const std::size_t words = n.size();
  ASSERT_LE(r[words], 1U);
  Words scaled(2 * words + 1, 0);
  std::copy(r.begin(), r.end(), scaled.begin() + static_cast<std::ptrdiff_t>(words));
  ASSERT_TRUE(naive::at_least(scaled, x));
  Words multiple = scaled;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < multiple.size(); ++i) {
    borrow += std::int64_t{multiple[i]} - (i < x.size() ? x[i] : 0);
    multiple[i] = static_cast<std::uint32_t>(borrow);
    borrow >>= 32;
  }
  ASSERT_EQ(naive::remainder(multiple, n), Words(words + 1, 0));
  Words bound(2 * words, 0);  // n R > q n
  std::copy(n.begin(), n.end(), bound.begin() + static_cast<std::ptrdiff_t>(words));
  ASSERT_FALSE(naive::at_least(multiple, bound));
}

/// expect_reduced for edge numbers x and n.
template <unsigned kWords>
void expect_reductions() {
  naive::Generator generate(kWords);
  const std::vector<Words> numbers = numbers_of_edge_halves<kWords>(generate, 12);
  for (Words n : numbers) {
    n[0] |= 1;
    for (const Words& low : numbers) {
      for (const Words& high : {Words(kWords, 0xffffffffu), Words(kWords, 0), low}) {
        Words x = low;
        x.insert(x.end(), high.begin(), high.end());
        expect_reduced(reduced<kWords>(x, n), x, n);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(TwoPass16, ReductionsOfAllNumbersBelowTheSquareOfR) {
  expect_reductions<1>();
  expect_reductions<2>();
  expect_reductions<3>();
  expect_reductions<8>();
  expect_reductions<16>();
}

/// a b / R, or a^2 / R if `square`: the sum of the parts of all lanes after the last row. Checks the bounds
/// of the parts.
template <unsigned kThreads, unsigned kPerThread>
Words reduced_by_lanes(const Words& a, const Words& b, const Words& n, bool square) {
  constexpr unsigned kWords = kThreads * kPerThread;
  const std::uint32_t n0 = cuda::low_half(cuda::negative_inverse(n[0]));
  Words merged(kWords);
  Words overflow(kThreads);
  run_lockstep<kThreads>([&](LockstepGroup<kThreads> group) {
    const std::size_t first = std::size_t{group.lane()} * kPerThread;
    const auto halves = two_pass16::halves_of<kPerThread>(n.data() + first);
    const auto sums =
        square ? two_pass16::square_and_reduce(group, a.data() + first, halves, n0)
               : two_pass16::multiply_and_reduce(group, a.data() + first, b.data() + first, halves, n0);
    EXPECT_LE(sums.aligned[kPerThread], square ? 3U : 2U);
    EXPECT_EQ(sums.unaligned[kPerThread], 0U);
    EXPECT_LE(sums.unaligned[kPerThread - 1], 4U);
    overflow[group.lane()] = two_pass16::shift_and_merge(merged.data() + first, sums);
    EXPECT_LE(overflow[group.lane()], 4U);
  });
  Words r(kWords + 1);
  std::uint64_t carry = 0;
  for (unsigned j = 0; j < kWords; ++j) {
    carry += std::uint64_t{merged[j]} + (j > 0 && j % kPerThread == 0 ? overflow[j / kPerThread - 1] : 0);
    r[j] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  r[kWords] = static_cast<std::uint32_t>(carry) + overflow[kThreads - 1];
  return r;
}

/// expect_reduced for products and squares by a group.
template <unsigned kThreads, unsigned kPerThread>
void expect_reductions_by_lanes() {
  constexpr unsigned kWords = kThreads * kPerThread;
  naive::Generator generate(kWords);
  const std::vector<Words> numbers = numbers_of_edge_halves<kWords>(generate, 2);
  for (Words n : numbers) {
    n[0] |= 1;
    for (const Words& a : numbers) {
      expect_reduced(reduced_by_lanes<kThreads, kPerThread>(a, a, n, true), naive::multiply(a, a), n);
      for (const Words& b : numbers) {
        expect_reduced(reduced_by_lanes<kThreads, kPerThread>(a, b, n, false), naive::multiply(a, b), n);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(TwoPass16, ReductionsByLanesStayWithinBounds) {
  expect_reductions_by_lanes<2, 1>();
  expect_reductions_by_lanes<2, 4>();
  expect_reductions_by_lanes<4, 3>();
  expect_reductions_by_lanes<8, 1>();
  expect_reductions_by_lanes<8, 2>();
}

}  // namespace
}  // namespace manymod::test
