// SPDX-License-Identifier: Apache-2.0
// The sign of an exponent 0 is ignored: x^-0 = 1 even if x has no inverse, in every timing class.
#include <gtest/gtest.h>

#include "api/plan_helpers.hpp"

namespace manymod::testing {
namespace {

using Limbs = std::vector<std::uint64_t>;

void expect_ones(mm_op op, mm_timing timing, std::uint64_t modulus, const mm_variant_info& variant) {
  const Limbs x{0, 3, 5, modulus - 1};
  const Limbs y{0};
  const std::uint8_t negative[] = {1};
  const Limbs n{modulus};
  Limbs result(x.size(), 9);
  std::vector<std::uint8_t> statuses(x.size(), 9);
  mm_plan_options options = plan_options(op, timing, 64);
  if (!serves(variant, options)) return;
  options.variant = variant.name;
  const PlanPointer plan = make_plan(options);
  mm_call call =
      make_call({x.data(), x.size(), 1, 0, nullptr}, {y.data(), 1, 1, 0, negative},
                {n.data(), 1, 1, 0, nullptr}, {result.data(), x.size(), 1, 0, nullptr}, statuses.data());
  if (op == MM_OP_MULTI_POWMOD) call.terms = 1;
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  EXPECT_EQ(result, Limbs(x.size(), 1));
  EXPECT_EQ(statuses, std::vector<std::uint8_t>(x.size(), MM_OK));
}

TEST(NegativeZero, IsZero) {
  for (const mm_variant_info& variant : usable_variants()) {
    expect_ones(MM_OP_POWMOD, MM_TIMING_SECRET, 15, variant);
    for (const std::uint64_t modulus : {15U, 16U, 24U}) {
      expect_ones(MM_OP_POWMOD, MM_TIMING_PUBLIC, modulus, variant);
      expect_ones(MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC, modulus, variant);
    }
  }
}

}  // namespace
}  // namespace manymod::testing
