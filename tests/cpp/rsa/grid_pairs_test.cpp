// SPDX-License-Identifier: Apache-2.0
// Blinding pairs of grids of rows.
#include "rsa/grid_pairs.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "rsa/test_rings.hpp"

namespace manymod::testing {
namespace {

rsa::Rows rows_of_runs(const rsa::Ring& ring, std::initializer_list<std::size_t> sizes) {
  rsa::Rows rows;
  rows.limbs = ring.key(0).key().limbs();
  for (const std::size_t size : sizes) {
    rows.runs.push_back({&ring.key(0), rows.count(), rows.count() + size});
    rows.items.resize(rows.count() + size);
  }
  return rows;
}

rsa::Ring ring_of_one() {
  const std::vector keys{rsa::key_from_numbers(private_numbers(test_key(1024).bytes))};
  return {ring_options(1, "cpu"), keys};
}

TEST(RsaGridPairs, NoTwoRowsShareBoth) {
  const rsa::Ring ring = ring_of_one();
  for (std::size_t size = 1; size < 200; ++size) {
    const rsa::Rows rows = rows_of_runs(ring, {size, 3, size});
    const rsa::GridPairs pairs(rows);
    std::set<std::pair<std::size_t, std::size_t>> used;
    std::set<std::size_t> columns;
    for (std::size_t run = 0; run < rows.runs.size(); ++run) {
      const rsa::Grid grid(rows.runs[run].size());
      for (std::size_t k = 0; k < rows.runs[run].size(); ++k) {
        const std::size_t column = pairs.column(run, grid, k);
        const std::size_t line = pairs.line(run, grid, k);
        ASSERT_LT(std::max(column, line), pairs.count());
        ASSERT_TRUE(used.emplace(column, line).second);
        columns.insert(column);
      }
    }
    for (const auto& [column, line] : used) ASSERT_FALSE(columns.contains(line));
  }
}

// factor = r^e and inverse = 1/r, and all pairs differ.
TEST(RsaGridPairs, InversesUndoFactors) {
  const rsa::Ring ring = ring_of_one();
  const rsa::RingKey& key = ring.key(0);
  const rsa::Rows rows = rows_of_runs(ring, {1, 300});
  rsa::GridPairs pairs(rows);
  ASSERT_TRUE(pairs.draw(rows, 1, {}));
  const rsa::PrivateArithmetic& arithmetic = key.arithmetic();
  const std::size_t limbs = rows.limbs;
  limbs::Buffer scratch(arithmetic.scratch_limbs());
  limbs::Buffer power(limbs);
  std::set<std::vector<Limb>> factors;
  for (std::size_t pair = 0; pair < pairs.count(); ++pair) {
    const std::span<const Limb> factor = pairs.factors().part(pair * limbs, limbs);
    EXPECT_TRUE(factors.emplace(factor.begin(), factor.end()).second);
    std::ranges::copy(pairs.inverses().part(pair * limbs, limbs), power.data());
    rsa::raise_to_exponent(power.data(), arithmetic.modulo_n(), key.key().e(), scratch.data());
    arithmetic.modulo_n().from_montgomery(power.data(), power.data(), scratch.data());
    arithmetic.multiply_reduced(power.data(), power.data(), factor.data(), scratch.data());
    EXPECT_EQ(power.data()[0], 1U);
    for (std::size_t i = 1; i < limbs; ++i) EXPECT_EQ(power.data()[i], 0U);
  }
}

}  // namespace
}  // namespace manymod::testing
