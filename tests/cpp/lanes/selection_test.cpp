// SPDX-License-Identifier: Apache-2.0
// Tests of selection from tables by every table of lanes::Kernels, alone and overlapped with squarings, and
// of two vectors in lockstep.
#include "support/lane_kernel_tests.hpp"

namespace manymod::lane_kernel_tests {
namespace {

class LaneSelection : public LaneKernels {};
class SelectingKernels : public LaneKernels {};
class PairKernels : public LaneKernels {};

TEST_P(LaneSelection, SelectsEveryEntryInEveryLane) {
  Generator generate(10);
  for (const std::size_t digits : digit_counts(17)) {
    for (const std::size_t entries : {1U, 2U, 5U, 8U, 32U, 64U}) {
      if (digits > 17 && entries > 8) continue;
      // The stride may exceed an element: in a table of two vectors, the second vector's entry lies between.
      const std::size_t stride = (digits * lanes() + 7) / 8 * 8 * (1 + entries % 2);
      const GuardedWords table = random_table(generate, entries * stride, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = lane_indices(shift, entries);
        GuardedWords r(digits * lanes());
        kernels().select(r.data(), table.data(), entries, stride, digits, indices.data());
        ASSERT_TRUE(r.guards_intact());
        ASSERT_NO_FATAL_FAILURE(expect_chosen(r, table, indices, stride, lanes()));
      }
    }
  }
}

TEST_P(LaneSelection, SelectsEverySharedEntryInEveryLane) {
  Generator generate(11);
  for (const std::size_t digits : digit_counts(17)) {
    for (const std::size_t entries : {1U, 2U, 5U, 8U, 32U, 64U}) {
      if (digits > 17 && entries > 8) continue;
      const GuardedWords table = random_table(generate, entries * digits, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = lane_indices(shift, entries);
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
    const std::size_t per_share = kernels().entries_per_square(digits);
    if (per_share == 0) continue;
    const Operands x = almost_reduced(generate, digits, digits);
    const GuardedWords n = modulus_block(x.n, digits);
    const GuardedWords a = test::pack(kernels(), x.a, digits);
    KernelRunner runner(digits, 0);
    const std::vector<Limb> square = digits_of(runner.sqr(a, n));
    for (const std::size_t entries : {7U, 8U, 32U, 64U}) {
      const std::size_t stride = (digits * lanes() + 7) / 8 * 8 * (1 + entries % 2);
      const GuardedWords table = random_table(generate, entries * stride, w());
      for (std::size_t shift = 0; shift < entries; ++shift) {
        const std::vector<std::uint32_t> indices = lane_indices(shift, entries);
        GuardedWords chosen(digits * lanes(), ~Limb{0});
        for (std::size_t first = 0; first < entries; first += per_share) {
          const manymod::lanes::SelectShare share{chosen.data(), table.data(), stride,
                                                  std::min(first, entries - per_share), indices.data()};
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

/// Two vectors in lockstep give the results of each vector alone; results may overwrite operands.
TEST_P(PairKernels, PairsEqualTwoVectors) {
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

      if (kernels().sqr_select_pair == nullptr || kernels().entries_per_square(digits) == 0) continue;
      constexpr std::size_t kEntries = 16;
      const std::size_t stride = 2 * digits * lanes();
      const GuardedWords table = random_table(generate, kEntries * stride, w());
      GuardedWords chosen[] = {GuardedWords(digits * lanes(), ~Limb{0}),
                               GuardedWords(digits * lanes(), ~Limb{0})};
      const std::vector<std::uint32_t> indices[] = {lane_indices(round, kEntries),
                                                    lane_indices(round + 7, kEntries)};
      const std::size_t per_share = kernels().entries_per_square(digits);
      for (std::size_t first = 0; first < kEntries; first += per_share) {
        manymod::lanes::SelectShare shares[2];
        for (std::size_t v = 0; v < 2; ++v) {
          shares[v] = {chosen[v].data(), table.data() + v * digits * lanes(), stride,
                       std::min(first, kEntries - per_share), indices[v].data()};
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
INSTANTIATE_TEST_SUITE_P(Techniques, LaneSelection, testing::ValuesIn(test::lane_kernel_sets()),
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
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneSelection);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SelectingKernels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairKernels);
#endif

}  // namespace
}  // namespace manymod::lane_kernel_tests
