// SPDX-License-Identifier: Apache-2.0
#include "modexp/comb.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/small_field.hpp"

namespace manymod {
namespace {

using test::SmallField;
using Limbs = std::vector<Limb>;

constexpr Limb kPrime = 251;

CombShape make_shape(std::size_t bits, std::size_t teeth, std::size_t blocks) {
  CombShape shape{teeth, blocks, (bits + teeth - 1) / teeth, 0};
  shape.columns = (shape.rows + blocks - 1) / blocks;
  return shape;
}

TEST(Comb, EveryExponentOfTenBitsWithEveryShape) {
  const SmallField field(kPrime);
  const Limb g = 6;
  for (std::size_t teeth = 1; teeth <= 6; ++teeth) {
    for (std::size_t blocks = 1; blocks <= 4; ++blocks) {
      const CombShape shape = make_shape(10, teeth, blocks);
      Limbs table(shape.entries());
      Limb workspace = 0;
      ASSERT_TRUE(build_comb(field, shape, &g, table.data(), &workspace, {}));
      for (Limb exponent = 0; exponent < 1024; ++exponent) {
        const std::span<const Limb> exponents[] = {{&exponent, 1}};
        for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
          Limb r = 0;
          ASSERT_TRUE(comb_power(field, shape, table.data(), &r, exponents, timing, &workspace, {}));
          ASSERT_EQ(r, field.power(g, exponent)) << exponent << " teeth " << teeth << " blocks " << blocks;
        }
      }
    }
  }
}

TEST(Comb, LanesShareTheTable) {
  const SmallField one(kPrime);
  const SmallField three(kPrime, 3);
  const CombShape shape = make_shape(10, 4, 2);
  const Limb g = 11;
  Limbs table(shape.entries());
  Limbs workspace(3);
  ASSERT_TRUE(build_comb(one, shape, &g, table.data(), workspace.data(), {}));
  const Limbs exponent = {1023, 0, 512};
  const std::span<const Limb> exponents[] = {{&exponent[0], 1}, {&exponent[1], 1}, {&exponent[2], 1}};
  Limbs r(3);
  ASSERT_TRUE(comb_power(three, shape, table.data(), r.data(), exponents, TimingClass::public_,
                         workspace.data(), {}));
  EXPECT_EQ(r, (Limbs{one.power(g, 1023), 1, one.power(g, 512)}));
}

TEST(Comb, BestShapeCoversTheExponentAndFits) {
  for (const std::size_t bits : {1U, 2U, 63U, 64U, 160U, 256U, 2048U, 16384U}) {
    for (const std::size_t limbs : {1U, 4U, 32U, 256U}) {
      for (const double scan : {0.0, 0.3}) {
        const CombShape shape = best_comb_shape(bits, limbs, 1 << 17, scan);
        EXPECT_GE(shape.teeth * shape.rows, bits);
        EXPECT_GE(shape.blocks * shape.columns, shape.rows);
        EXPECT_LT((shape.blocks - 1) * shape.columns, shape.rows);
        EXPECT_LE(shape.entries() * limbs, std::size_t{1} << 17);
      }
    }
  }
}

TEST(Comb, IsFarCheaperThanAWindow) {
  const CombShape shape = best_comb_shape(2048, 32, 1 << 17, 0);
  EXPECT_LT(shape.columns + shape.rows, 2048U / 4);
}

}  // namespace
}  // namespace manymod
