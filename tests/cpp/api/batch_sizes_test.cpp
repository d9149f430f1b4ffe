// SPDX-License-Identifier: Apache-2.0
// Batches of every small size, with moduli and exponents of mixed lengths, on every usable variant: full
// vectors, partly filled vectors and single items.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/plan_helpers.hpp"
#include "support/brief.hpp"
#include "support/lane_values.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using naive::Generator;
using naive::Limbs;

/// A random odd number of exactly `bits` bits, bits >= 2.
Limbs odd_of(Generator& generate, std::size_t bits) {
  const std::size_t size = limbs_for_bits(bits);
  Limbs n = test::truncated(generate.number(size), bits - 1);
  n = test::sum(n, test::power_of_two_limbs(bits - 1, size));
  n[0] |= 1;
  return n;
}

/// Items with moduli and exponents of mixed lengths, and their expected powers. The parameter is the width of
/// the moduli in limbs: 7, 13 and 30 digits of 52 bits use different code.
class Batches : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t kItems = 17;

  Batches() : width_(GetParam()), x_width_(width_ + 2) {
    Generator generate(4);
    const std::size_t bits[] = {320, 3, 64, 65, 200, 319, 128, 52, 256, 257, 2, 300, 310, 192, 193, 104, 320};
    const std::size_t exponent_bits[] = {0, 1, 2, 3, 5, 17, 64, 90, 100, 100, 99, 7, 12, 60, 33, 100, 31};
    for (std::size_t item = 0; item < kItems; ++item) {
      Limbs modulus = odd_of(generate, bits[item] * width_ / 5);
      modulus.resize(width_, 0);
      append(n_, modulus);
      const Limbs base = generate.number(x_width_);
      append(x_, base);
      const Limbs exponent = test::truncated(generate.number(kYWidth), exponent_bits[item]);
      append(y_, exponent);
    }
  }

  struct Expected {
    Limbs own;           ///< powers modulo each item's modulus
    Limbs shared;        ///< powers modulo the first modulus
    Limbs one_exponent;  ///< powers modulo the first modulus with the last exponent
    Limbs base;          ///< powers of the first base modulo the first modulus
    Limbs product;       ///< x^2 modulo each item's modulus
  };

  [[nodiscard]] Expected expected() const {
    Expected all;
    const Limbs n0 = part(n_, 0, width_);
    const Limbs y_last = part(y_, kOneExponent, kYWidth);
    for (std::size_t item = 0; item < kItems; ++item) {
      const Limbs n = part(n_, item, width_);
      const Limbs x = part(x_, item, x_width_);
      const Limbs y = part(y_, item, kYWidth);
      append(all.own, test::power_mod(naive::reduce(x, n), y, n));
      append(all.shared, test::power_mod(naive::reduce(x, n0), y, n0));
      append(all.one_exponent, test::power_mod(naive::reduce(x, n0), y_last, n0));
      append(all.base, test::power_mod(naive::reduce(part(x_, 0, x_width_), n0), y, n0));
      append(all.product, naive::multiply_mod(x, x, n));
    }
    return all;
  }

  /// For wide moduli a selection suffices: single items, partly filled and full vectors.
  [[nodiscard]] bool is_tried(std::size_t count) const {
    if (kBriefTests && width_ > 10) return count == 3 || count == 8 || count == kItems;
    return (width_ <= 5 && !kBriefTests) || count % 8 <= 1 || count % 8 == 3;
  }

  static constexpr std::size_t kYWidth = 2;
  static constexpr std::size_t kOneExponent = 9;
  std::size_t width_;
  std::size_t x_width_;
  Limbs x_, y_, n_;

  static void append(Limbs& to, const Limbs& limbs) { to.insert(to.end(), limbs.begin(), limbs.end()); }
  static Limbs part(const Limbs& from, std::size_t item, std::size_t width) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(item * width);
    return {at, at + static_cast<std::ptrdiff_t>(width)};
  }

  [[nodiscard]] mm_view y(std::size_t count) const { return {y_.data(), count, kYWidth, kYWidth, nullptr}; }

  void expect_run(const mm_variant_info& variant, mm_op op, mm_timing timing, std::size_t count, bool shared,
                  const mm_view& exponents, const Limbs& expected) const {
    mm_plan_options options =
        plan_options(op, timing, 64 * width_, shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH);
    options.variant = variant.name;
    options.threads = 1;
    const auto plan = make_plan(options);
    ASSERT_NE(plan, nullptr);
    Limbs result(count * width_, ~Limb{0});
    const mm_call call = make_call({x_.data(), count, x_width_, x_width_, nullptr}, exponents,
                                   {n_.data(), shared ? 1 : count, width_, width_, nullptr},
                                   {result.data(), count, width_, width_, nullptr});
    ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << variant.name << ": " << mm_last_error();
    ASSERT_EQ(result, Limbs(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count * width_)))
        << variant.name << ", " << count << " items, operation " << op << (shared ? ", shared" : "");
  }

  void expect_fixed_base(const mm_variant_info& variant, mm_timing timing, std::size_t count,
                         const Limbs& expected) const {
    mm_fixed_base_options options{};
    options.struct_size = sizeof options;
    options.timing = timing;
    options.exponent_bits = 64 * kYWidth;
    options.variant = variant.name;
    options.threads = 1;
    const mm_view base{x_.data(), 1, x_width_, x_width_, nullptr};
    const mm_view modulus{n_.data(), 1, width_, width_, nullptr};
    mm_fixed_base* created = nullptr;
    ASSERT_EQ(mm_fixed_base_create(&options, &base, &modulus, &created), MM_OK) << mm_last_error();
    const FixedBasePointer fixed_base(created);
    Limbs result(count * width_, ~Limb{0});
    mm_call call{};
    call.struct_size = sizeof call;
    call.count = count;
    call.y = y(count);
    call.result = {result.data(), count, width_, width_, nullptr};
    ASSERT_EQ(mm_fixed_base_powmod(fixed_base.get(), &call), MM_OK)
        << variant.name << ": " << mm_last_error();
    ASSERT_EQ(result, Limbs(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count * width_)))
        << variant.name << ", " << count << " items";
  }
};

TEST_P(Batches, OfEverySizeOnEveryVariant) {
  const Expected all = expected();
  const mm_view one_exponent{y_.data() + kOneExponent * kYWidth, 1, kYWidth, kYWidth, nullptr};
  for (const mm_variant_info& variant : usable_variants()) {
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      for (std::size_t count = 1; count <= kItems; ++count) {
        if (!is_tried(count)) continue;
        if (offers(variant, MM_OP_POWMOD, timing)) {
          ASSERT_NO_FATAL_FAILURE(expect_run(variant, MM_OP_POWMOD, timing, count, false, y(count), all.own));
          ASSERT_NO_FATAL_FAILURE(
              expect_run(variant, MM_OP_POWMOD, timing, count, true, y(count), all.shared));
          ASSERT_NO_FATAL_FAILURE(
              expect_run(variant, MM_OP_POWMOD, timing, count, true, one_exponent, all.one_exponent));
        }
        if (offers(variant, MM_OP_FIXED_BASE_POWMOD, timing)) {
          ASSERT_NO_FATAL_FAILURE(expect_fixed_base(variant, timing, count, all.base));
        }
        if (offers(variant, MM_OP_SQRMOD, timing)) {
          ASSERT_NO_FATAL_FAILURE(expect_run(variant, MM_OP_SQRMOD, timing, count, false, {}, all.product));
        }
        if (offers(variant, MM_OP_MULMOD, timing)) {
          ASSERT_NO_FATAL_FAILURE(expect_run(variant, MM_OP_MULMOD, timing, count, false,
                                             {x_.data(), count, x_width_, x_width_, nullptr}, all.product));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limbs, Batches, ::testing::Values(5, 10, 24));

}  // namespace
}  // namespace manymod::testing
