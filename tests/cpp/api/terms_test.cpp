// SPDX-License-Identifier: Apache-2.0
// fmamod, summod, prodmod and dotmod by the C ABI: small integers against Python's semantics, wide ones
// against chains of the operations with two operands.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "manymod/manymod.hpp"
#include "plan_helpers.hpp"
#include "small_integers.hpp"

namespace manymod::testing {
namespace {

// Python's value for one item. fmamod has one term and the addend z.
Expected python_terms(mm_op op, mm_timing timing, const std::vector<std::int64_t>& x,
                      const std::vector<std::int64_t>& y, std::int64_t z, std::int64_t n) {
  if (n == 0) return {MM_ITEM_ZERO_MODULUS, 0};
  if (timing == MM_TIMING_SECRET && n % 2 == 0) return {MM_ITEM_EVEN_MODULUS, 0};
  std::int64_t value = op == MM_OP_PRODMOD ? 1 : 0;
  for (std::size_t t = 0; t < x.size(); ++t) {
    if (op == MM_OP_PRODMOD) {
      value = python_mod(value * x[t], n);
    } else {
      value += op == MM_OP_SUMMOD ? x[t] : x[t] * y[t];
    }
  }
  return {MM_OK, python_mod(op == MM_OP_FMAMOD ? value + z : value, n)};
}

struct TermsBatch {
  std::size_t terms;
  std::vector<std::int64_t> x, y, z, n;
  std::vector<Expected> expected;

  TermsBatch(mm_op op, mm_timing timing, std::size_t terms_of_item, std::int64_t least, std::int64_t greatest)
      : terms(terms_of_item) {
    for (std::int64_t modulus = least; modulus <= greatest; ++modulus) {
      for (std::int64_t seed = 0; seed < 40; ++seed) add(op, timing, modulus, seed);
    }
  }

  void add(mm_op op, mm_timing timing, std::int64_t modulus, std::int64_t seed) {
    std::vector<std::int64_t> xi, yi;
    for (std::size_t t = 0; t < terms; ++t) {
      xi.push_back((seed * 7 + static_cast<std::int64_t>(t) * 5) % 29 - 12);
      yi.push_back((seed * 3 + static_cast<std::int64_t>(t) * 11) % 31 - 9);
    }
    z.push_back(seed % 23 - 11);
    n.push_back(modulus);
    expected.push_back(python_terms(op, timing, xi, yi, z.back(), modulus));
    x.insert(x.end(), xi.begin(), xi.end());
    y.insert(y.end(), yi.begin(), yi.end());
  }
};

void run_batch(mm_op op, mm_plan* plan, const TermsBatch& batch, const mm_view& modulus,
               const std::string& what) {
  const Integers x(batch.x, 2, 3), y(batch.y), z(batch.z, 3);
  Integers result(batch.n, 2, 4);
  std::vector<std::uint8_t> statuses(batch.n.size(), 0xff);
  mm_call call = make_call(x.view(), y.view(), modulus, result.result(), statuses.data());
  if (op == MM_OP_FMAMOD) {
    call.z = z.view();
  } else {
    call.terms = batch.terms;
  }
  const mm_status status = mm_plan_run(plan, &call);
  ASSERT_TRUE(status == MM_OK || status == MM_ERR_ITEMS) << what << ": " << mm_last_error();
  for (std::size_t i = 0; i < batch.n.size(); ++i) {
    const Expected found{static_cast<mm_status>(statuses[i]), result.value(i).value_or(-1000)};
    ASSERT_EQ(found, batch.expected[i])
        << what << " terms=" << batch.terms << " item " << i << " n=" << batch.n[i] << " got " << found.value
        << " expected " << batch.expected[i].value;
  }
  EXPECT_TRUE(result.gaps_untouched()) << what;
}

class Terms : public ::testing::TestWithParam<mm_op> {};

TEST_P(Terms, SmallIntegersOfAllSigns) {
  std::size_t offers_seen = 0;
  for (const mm_variant_info& variant : usable_variants()) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offers(variant, GetParam(), timing)) continue;
      ++offers_seen;
      const std::string what = std::string(variant.name) + (timing == MM_TIMING_SECRET ? " secret" : "");
      for (const std::size_t terms : {0u, 1u, 2u, 3u, 17u}) {
        if (GetParam() == MM_OP_FMAMOD && terms != 1) continue;
        mm_plan_options options = plan_options(GetParam(), timing);
        options.variant = variant.name;
        const PlanPointer plan = make_plan(options);
        const TermsBatch own(GetParam(), timing, terms, -13, 13);
        run_batch(GetParam(), plan.get(), own, Integers(own.n).view(), what);
        options.modulus_kind = MM_MODULUS_SHARED;
        const PlanPointer shared_plan = make_plan(options);
        for (std::int64_t n = -13; n <= 13; ++n) {
          const TermsBatch shared(GetParam(), timing, terms, n, n);
          run_batch(GetParam(), shared_plan.get(), shared, Integers({n}).view(), what + " shared");
        }
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GE(offers_seen, 2u);
}

std::string test_name(const ::testing::TestParamInfo<mm_op>& tested) {
  const std::vector<const char*> names{"fmamod", "summod", "prodmod", "dotmod"};
  return names.at(tested.param - MM_OP_FMAMOD);
}

INSTANTIATE_TEST_SUITE_P(Operations, Terms,
                         ::testing::Values(MM_OP_FMAMOD, MM_OP_SUMMOD, MM_OP_PRODMOD, MM_OP_DOTMOD),
                         test_name);

/// Integers of extreme and random words.
Batch edge_integers(std::mt19937_64& random, std::size_t count, std::size_t width) {
  Batch batch(count, width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random() % 4;
    for (std::uint64_t& limb : batch[i]) {
      const std::uint64_t word = random() % 3 == 0 ? 0 : ~std::uint64_t{0};
      limb = kind == 0 ? ~std::uint64_t{0} : kind == 1 ? word : random();
    }
    batch.set_negative(i, random() % 4 == 0);
  }
  return batch;
}

/// Integer i of `batch`, for an operand of a single item.
View item_of(const Batch& batch, std::size_t i) {
  return {batch.limbs().subspan(i * batch.width(), batch.width()), batch.width(),
          batch.signs().subspan(i, 1)};
}

void expect_same(const Batch& found, std::size_t i, const Batch& wanted, const std::string& what) {
  ASSERT_EQ(std::vector<std::uint64_t>(found[i].begin(), found[i].end()),
            std::vector<std::uint64_t>(wanted[0].begin(), wanted[0].end()))
      << what;
  ASSERT_EQ(found.negative(i), wanted.negative(0)) << what;
}

// Widths below, at and above the limit of unrolled kernels; operands narrower and wider than the moduli.
TEST(TermsOfWideIntegers, AsChainsOfTwoOperands) {
  std::mt19937_64 random(7);
  for (const std::size_t width : {1u, 2u, 4u, 8u, 9u, 21u}) {
    for (const std::size_t operand_width : {std::size_t{1}, width, 2 * width + 1}) {
      for (const std::size_t terms : {1u, 2u, 20u}) {
        const std::string what = std::to_string(width) + " limbs, operands of " +
                                 std::to_string(operand_width) + ", " + std::to_string(terms) + " terms";
        const std::size_t count = 3;
        Batch n = edge_integers(random, count, width);
        for (std::size_t i = 0; i < count; ++i) n[i][0] |= i;  // odd and even ones
        for (std::size_t i = 0; i < count; ++i) n[i][width - 1] |= 2;
        const Batch x = edge_integers(random, count * terms, operand_width);
        const Batch y = edge_integers(random, count * terms, operand_width);
        const Batch sums = summod(x, n, count, terms), products = prodmod(x, n, count, terms);
        const Batch dots = dotmod(x, y, n, count, terms);
        for (std::size_t i = 0; i < count; ++i) {
          const View modulus = item_of(n, i);
          Batch sum(1, width), product(1, width), dot(1, width);
          product[0][0] = 1;
          for (std::size_t t = i * terms; t < (i + 1) * terms; ++t) {
            sum = addmod(sum, item_of(x, t), modulus);
            product = mulmod(product, item_of(x, t), modulus);
            const Batch fused = fmamod(item_of(x, t), item_of(y, t), dot, modulus);
            dot = addmod(dot, mulmod(item_of(x, t), item_of(y, t), modulus), modulus);
            expect_same(fused, 0, dot, what);
          }
          expect_same(sums, i, sum, what);
          expect_same(products, i, product, what);
          expect_same(dots, i, dot, what);
          if ((n[i][0] & 1) == 0) continue;
          expect_same(summod(x, modulus, count, terms, Timing::secret), i, sum, what + " secret");
          expect_same(prodmod(x, modulus, count, terms, Timing::secret), i, product, what + " secret");
          expect_same(dotmod(x, y, modulus, count, terms, Timing::secret), i, dot, what + " secret");
        }
      }
    }
  }
}

TEST(TermsOfCalls, SharedByAllItemsAndMisuse) {
  const Integers x({3, -5}), y({4, 7, -1, 2, 0, 5}), n({101, -77, 64});
  const PlanPointer plan = make_plan(plan_options(MM_OP_DOTMOD));
  Integers result(std::vector<std::int64_t>(3));
  mm_call call = make_call(x.view(), y.view(), n.view(), result.result());
  call.terms = 2;
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  EXPECT_EQ(result.value(0), python_mod(12 - 35, 101));
  EXPECT_EQ(result.value(1), python_mod(-3 - 10, -77));
  EXPECT_EQ(result.value(2), python_mod(-25, 64));
  call.terms = 4;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ARGUMENT);
  const PlanPointer fma = make_plan(plan_options(MM_OP_FMAMOD));
  const Integers three({1, 2, 3});
  mm_call fused = make_call(three.view(), three.view(), n.view(), result.result());
  EXPECT_EQ(mm_plan_run(fma.get(), &fused), MM_ERR_ARGUMENT);  // without an addend
  fused.z = result.view();                                     // the result replaces it
  EXPECT_EQ(mm_plan_run(fma.get(), &fused), MM_OK) << mm_last_error();
  fused.terms = 1;
  EXPECT_EQ(mm_plan_run(fma.get(), &fused), MM_ERR_ARGUMENT);
  Integers wide(std::vector<std::int64_t>(4));
  mm_call overlapping = fused;
  overlapping.terms = 0;
  overlapping.z = {wide.limbs().data() + 1, 3, 1, 1, nullptr};
  overlapping.result = {wide.limbs().data(), 3, 1, 1, wide.negative().data()};
  EXPECT_EQ(mm_plan_run(fma.get(), &overlapping), MM_ERR_OVERLAP);
}

}  // namespace
}  // namespace manymod::testing
