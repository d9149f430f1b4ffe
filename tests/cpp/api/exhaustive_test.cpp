// SPDX-License-Identifier: Apache-2.0
// Exhaustive tests of the C ABI: every small (x, y, modulus), for every operation, usable variant and timing
// class.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "plan_helpers.hpp"
#include "small_integers.hpp"

namespace manymod::testing {
namespace {

// The number of triples grows with the third power of this bound, and sanitizers slow down each of them.
#if defined(MANYMOD_SANITIZED)
constexpr std::int64_t kLargestModulus = 16;
#else
constexpr std::int64_t kLargestModulus = 48;
#endif

struct Triples {
  std::vector<std::int64_t> x, y, n;
  std::vector<Expected> expected;

  void add(mm_op op, mm_timing timing, std::int64_t xi, std::int64_t yi, std::int64_t ni) {
    x.push_back(xi);
    y.push_back(yi);
    n.push_back(ni);
    expected.push_back(in_class(timing, ni, python_operation(op, xi, yi, ni)));
  }
};

bool has_y(mm_op op) { return op != MM_OP_NEGMOD && op != MM_OP_SQRMOD && op != MM_OP_INVMOD; }

// All x and y of both signs with magnitudes below, at and above that of the modulus.
Triples triples_of(mm_op op, mm_timing timing, std::int64_t n) {
  Triples all;
  const std::int64_t m = (n < 0 ? -n : n) + 1;
  for (std::int64_t x = -m; x <= m; ++x) {
    if (!has_y(op)) {
      all.add(op, timing, x, 0, n);
      continue;
    }
    for (std::int64_t y = -m; y <= m; ++y) all.add(op, timing, x, y, n);
  }
  return all;
}

void append(Triples& all, const Triples& more) {
  all.x.insert(all.x.end(), more.x.begin(), more.x.end());
  all.y.insert(all.y.end(), more.y.begin(), more.y.end());
  all.n.insert(all.n.end(), more.n.begin(), more.n.end());
  all.expected.insert(all.expected.end(), more.expected.begin(), more.expected.end());
}

void expect_items(const Triples& all, const Integers& result, const std::vector<std::uint8_t>& statuses,
                  const std::string& what) {
  for (std::size_t i = 0; i < all.x.size(); ++i) {
    const auto value = result.value(i);
    ASSERT_TRUE(value.has_value()) << what << ": item " << i << " is no small integer";
    const Expected found{static_cast<mm_status>(statuses[i]), *value};
    ASSERT_EQ(found, all.expected[i])
        << what << ": x=" << all.x[i] << " y=" << all.y[i] << " n=" << all.n[i] << ": got " << found.value
        << " " << mm_status_name(found.status) << ", expected " << all.expected[i].value << " "
        << mm_status_name(all.expected[i].status);
  }
}

mm_status expected_call_status(const Triples& all) {
  for (const Expected& item : all.expected) {
    if (item.status != MM_OK) return MM_ERR_ITEMS;
  }
  return MM_OK;
}

void run_and_expect(mm_plan* plan, const Triples& all, const mm_view& modulus, std::size_t width,
                    std::size_t stride, const std::string& what) {
  const Integers x(all.x, width, stride);
  const Integers y(all.y, width, stride);
  Integers result(std::vector<std::int64_t>(all.x.size(), -1), width, stride);
  std::vector<std::uint8_t> statuses(all.x.size(), 0xff);
  const mm_call call = make_call(x.view(), y.view(), modulus, result.result(), statuses.data());
  ASSERT_EQ(mm_plan_run(plan, &call), expected_call_status(all)) << what << ": " << mm_last_error();
  expect_items(all, result, statuses, what);
  EXPECT_TRUE(result.gaps_untouched()) << what;
}

class Exhaustive : public ::testing::TestWithParam<mm_op> {
 protected:
  template <class Check>
  void for_each_offer(Check&& check) {
    std::size_t offers_seen = 0;
    for (const mm_variant_info& variant : usable_variants()) {
      for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
        if (!offers(variant, GetParam(), timing)) continue;
        ++offers_seen;
        check(variant.name, timing,
              std::string(variant.name) + (timing == MM_TIMING_SECRET ? " secret" : " public"));
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(offers_seen, 0u) << "no usable variant offers this operation";
  }

  /// Whether the variant computes the operation with a shared modulus only, so that a plan for one modulus
  /// per item names another variant.
  static bool needs_shared_modulus(const std::string& variant, mm_timing timing) {
    if (timing == MM_TIMING_SECRET) return false;
    for (const mm_variant_info& info : usable_variants()) {
      if (info.name == variant) return (info.shared_modulus_ops >> GetParam() & 1) != 0;
    }
    return false;
  }
};

TEST_P(Exhaustive, OneModulusPerItem) {
  for_each_offer([](const char* variant, mm_timing timing, const std::string& what) {
    mm_plan_options options = plan_options(GetParam(), timing);
    options.variant = variant;
    const PlanPointer plan = make_plan(options);
    ASSERT_TRUE(plan);
    EXPECT_EQ(variant == std::string(mm_plan_variant(plan.get())), !needs_shared_modulus(variant, timing))
        << what;
    Triples all;
    for (std::int64_t n = -kLargestModulus; n <= kLargestModulus; ++n) {
      append(all, triples_of(GetParam(), timing, n));
    }
    const Integers modulus(all.n);
    run_and_expect(plan.get(), all, modulus.view(), 1, 1, what);
  });
}

TEST_P(Exhaustive, SharedModulusWithStrides) {
  for_each_offer([](const char* variant, mm_timing timing, const std::string& what) {
    mm_plan_options options = plan_options(GetParam(), timing, 64, MM_MODULUS_SHARED);
    options.variant = variant;
    const PlanPointer plan = make_plan(options);
    ASSERT_TRUE(plan);
    for (std::int64_t n = -kLargestModulus; n <= kLargestModulus; ++n) {
      const Integers modulus({n});
      run_and_expect(plan.get(), triples_of(GetParam(), timing, n), modulus.view(), 2, 3, what + " shared");
      if (HasFatalFailure()) return;
    }
  });
}

std::string test_name(const ::testing::TestParamInfo<mm_op>& tested) {
  const std::vector<const char*> names{"addmod", "submod", "negmod", "mulmod", "sqrmod", "powmod", "invmod"};
  return names.at(tested.param);
}

INSTANTIATE_TEST_SUITE_P(Operations, Exhaustive,
                         ::testing::Values(MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD, MM_OP_MULMOD,
                                           MM_OP_SQRMOD, MM_OP_POWMOD, MM_OP_INVMOD),
                         test_name);

Expected python_product(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y,
                        std::int64_t n) {
  if (n == 0) return {MM_ITEM_ZERO_MODULUS, 0};
  std::int64_t product = 1;
  for (std::size_t t = 0; t < x.size(); ++t) {
    const Expected power = python_pow(x[t], y[t], n);
    if (power.status != MM_OK) return power;
    product = python_mod(product * power.value, n);
  }
  return {MM_OK, python_mod(product, n)};
}

// Terms per item, and terms shared by all items.
TEST(ExhaustiveMultiPowmod, UpToThreeTerms) {
  for (const mm_variant_info& variant : usable_variants()) {
    if (!offers(variant, MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC)) continue;
    mm_plan_options options = plan_options(MM_OP_MULTI_POWMOD);
    options.variant = variant.name;
    const PlanPointer plan = make_plan(options);
    ASSERT_TRUE(plan);
    for (std::size_t terms = 0; terms <= 3; ++terms) {
      std::vector<std::int64_t> n;
      std::vector<std::int64_t> x;
      std::vector<std::int64_t> y;
      std::vector<Expected> expected;
      for (std::int64_t modulus = -9; modulus <= 9; ++modulus) {
        for (std::int64_t seed = 0; seed < 60; ++seed) {
          std::vector<std::int64_t> xi;
          std::vector<std::int64_t> yi;
          for (std::size_t t = 0; t < terms; ++t) {
            xi.push_back((seed * 7 + static_cast<std::int64_t>(t) * 5) % 19 - 9);
            yi.push_back((seed * 3 + static_cast<std::int64_t>(t) * 11) % 23 - 5);
          }
          n.push_back(modulus);
          x.insert(x.end(), xi.begin(), xi.end());
          y.insert(y.end(), yi.begin(), yi.end());
          expected.push_back(python_product(xi, yi, modulus));
        }
      }
      const Integers xs(x, 2);
      const Integers ys(y);
      const Integers ns(n);
      Integers result(n);
      std::vector<std::uint8_t> statuses(n.size(), 0xff);
      mm_call call = make_call(xs.view(), ys.view(), ns.view(), result.result(), statuses.data());
      call.terms = terms;
      ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ITEMS) << mm_last_error();
      for (std::size_t i = 0; i < n.size(); ++i) {
        const Expected found{static_cast<mm_status>(statuses[i]), result.value(i).value_or(-1000)};
        ASSERT_EQ(found, expected[i]) << variant.name << " terms=" << terms << " item " << i << " n=" << n[i]
                                      << " got " << found.value << " expected " << expected[i].value;
      }
    }
  }
}

TEST(ExhaustiveMultiPowmod, TermsSharedByAllItems) {
  const std::vector<std::int64_t> x{3, -5};
  const std::vector<std::int64_t> y{4, 7, -1, 2, 0, 5};
  const std::vector<std::int64_t> n{101, -77, 64};
  const Integers xs(x);
  const Integers ys(y);
  const Integers ns(n);
  for (const mm_variant_info& variant : usable_variants()) {
    if (!offers(variant, MM_OP_MULTI_POWMOD, MM_TIMING_PUBLIC)) continue;
    mm_plan_options options = plan_options(MM_OP_MULTI_POWMOD);
    options.variant = variant.name;
    const PlanPointer plan = make_plan(options);
    Integers result(n);
    mm_call call = make_call(xs.view(), ys.view(), ns.view(), result.result());
    call.terms = 2;
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
    for (std::size_t i = 0; i < n.size(); ++i) {
      EXPECT_EQ(result.value(i), python_product(x, {y[2 * i], y[2 * i + 1]}, n[i]).value) << i;
    }
  }
}

TEST(ExhaustiveFixedBase, AllBasesAndExponents) {
  for (const mm_variant_info& variant : usable_variants()) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      if (!offers(variant, MM_OP_FIXED_BASE_POWMOD, timing)) continue;
      for (std::int64_t n = -kLargestModulus; n <= kLargestModulus; ++n) {
        if (n == 0 || (timing == MM_TIMING_SECRET && n % 2 == 0)) continue;
        const std::int64_t m = n < 0 ? -n : n;
        Triples all;
        for (std::int64_t y = -m - 1; y <= m + 1; ++y) all.add(MM_OP_POWMOD, timing, 0, y, n);
        const Integers ys(all.y);
        const Integers modulus({n});
        for (std::int64_t g = -m; g <= m; g += (m > 12 ? 3 : 1)) {
          const Integers base({g}, 2);
          mm_fixed_base_options options{};
          options.struct_size = sizeof options;
          options.timing = timing;
          options.exponent_bits = 7;
          options.variant = variant.name;
          mm_fixed_base* created = nullptr;
          const mm_view base_view = base.view();
          const mm_view modulus_view = modulus.view();
          ASSERT_EQ(mm_fixed_base_create(&options, &base_view, &modulus_view, &created), MM_OK)
              << mm_last_error();
          const FixedBasePointer fixed_base(created);
          for (std::size_t i = 0; i < all.y.size(); ++i) {
            all.x[i] = g;
            all.expected[i] = python_pow(g, all.y[i], n);
          }
          Integers result(all.y);
          std::vector<std::uint8_t> statuses(all.y.size(), 0xff);
          const mm_call call = make_call({}, ys.view(), {}, result.result(), statuses.data());
          ASSERT_EQ(mm_fixed_base_powmod(created, &call), expected_call_status(all)) << mm_last_error();
          expect_items(all, result, statuses, std::string(variant.name) + " fixed base");
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace manymod::testing
