// SPDX-License-Identifier: Apache-2.0
// Element-wise operations through the C ABI by every variant on the CPU, against schoolbook arithmetic:
// operands of any width and value, even moduli, widths that differ from item to item, signs, results in
// place.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "plan_helpers.hpp"
#include "support/naive.hpp"

namespace manymod::testing {
namespace {

using naive::Generator;
using naive::Limbs;

constexpr mm_op kOperations[] = {MM_OP_MULMOD, MM_OP_SQRMOD, MM_OP_FMAMOD,
                                 MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD};

/// n - x mod n for x < n.
Limbs negated(const Limbs& x, const Limbs& n) {
  if (std::all_of(x.begin(), x.end(), [](std::uint64_t limb) { return limb == 0; })) return x;
  Limbs r(n.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    r[i] = n[i] - x[i] - borrow;
    borrow = n[i] < x[i] || (n[i] == x[i] && borrow != 0) ? 1 : 0;
  }
  return r;
}

/// a + b mod n for a, b < n.
Limbs added(const Limbs& a, const Limbs& b, const Limbs& n) {
  Limbs sum(n.size() + 1, 0);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const std::uint64_t part = a[i] + carry;
    carry = part < carry ? 1 : 0;
    sum[i] = part + b[i];
    carry += sum[i] < b[i] ? 1 : 0;
  }
  sum[n.size()] = carry;
  return naive::reduce(sum, n);
}

/// A batch whose operands are `excess` limbs wider than the moduli's array.
struct Batch {
  std::size_t count, width, operand_width;
  std::vector<Limbs> x, y, z, n;
  std::vector<std::uint8_t> x_signs;

  /// Moduli of all lengths up to `limbs` if `mixed`. `canonical`: x, y, z < n, no signs.
  Batch(Generator& generate, std::size_t items, std::size_t limbs, std::size_t excess, bool mixed,
        bool canonical)
      : count(items), width(limbs), operand_width(limbs + excess), x_signs(items, 0) {
    for (std::size_t i = 0; i < items; ++i) {
      n.push_back(number(generate, mixed ? 1 + generate.below(limbs) : limbs));
      if (n.back().back() == 0) n.back().back() = 2;
      if (n.back().size() == 1 && n.back()[0] < 2) n.back()[0] = 2;
      n.back().resize(limbs, 0);
      for (std::vector<Limbs>* operand : {&x, &y, &z}) {
        Limbs value = number(generate, operand_width);
        if (canonical) value = naive::reduce(value, n.back());
        value.resize(operand_width, 0);
        operand->push_back(value);
      }
      if (!canonical && excess > 0) x_signs[i] = static_cast<std::uint8_t>(generate.below(2));
    }
  }
  static Limbs number(Generator& generate, std::size_t limbs) {
    Limbs value(limbs);
    for (std::uint64_t& limb : value) limb = generate.limb();
    return value;
  }
  static Limbs joined(const std::vector<Limbs>& rows) {
    Limbs all;
    for (const Limbs& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
  [[nodiscard]] Limbs expected(mm_op op, std::size_t item, const Limbs& modulus) const {
    Limbs a = naive::reduce(x[item], modulus);
    if (x_signs[item] != 0) a = negated(a, modulus);
    const Limbs b = naive::reduce(y[item], modulus);
    switch (op) {
      case MM_OP_MULMOD:
        return naive::multiply_mod(a, b, modulus);
      case MM_OP_SQRMOD:
        return naive::multiply_mod(a, a, modulus);
      case MM_OP_FMAMOD:
        return added(naive::multiply_mod(a, b, modulus), naive::reduce(z[item], modulus), modulus);
      case MM_OP_ADDMOD:
        return added(a, b, modulus);
      case MM_OP_SUBMOD:
        return added(a, negated(b, modulus), modulus);
      default:
        return negated(a, modulus);
    }
  }
};

void check(const Batch& batch, mm_op op, const mm_variant_info& variant, bool shared, bool in_place) {
  mm_plan_options options =
      plan_options(op, MM_TIMING_PUBLIC, batch.width * 64, shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH);
  options.variant = variant.name;
  const PlanPointer plan = make_plan(options);
  Limbs x = Batch::joined(batch.x);
  const Limbs y = Batch::joined(batch.y);
  Limbs z = Batch::joined(batch.z);
  const Limbs n = shared ? batch.n[0] : Batch::joined(batch.n);
  Limbs r(batch.count * batch.operand_width, 0x5555);
  std::vector<std::uint8_t> status(batch.count, 0xff);
  const bool unary = op == MM_OP_SQRMOD || op == MM_OP_NEGMOD;
  const mm_view x_view{x.data(), batch.count, batch.operand_width, 0, batch.x_signs.data()};
  const mm_view y_view{y.data(), batch.count, batch.operand_width, 0, nullptr};
  const mm_view n_view{n.data(), shared ? 1 : batch.count, batch.width, 0, nullptr};
  Limbs& out = !in_place ? r : op == MM_OP_FMAMOD ? z : x;
  const mm_result result{out.data(), batch.count, batch.operand_width, 0, nullptr};
  mm_call call = make_call(x_view, unary ? mm_view{} : y_view, n_view, result, status.data());
  if (op == MM_OP_FMAMOD) call.z = {z.data(), batch.count, batch.operand_width, 0, nullptr};
  ASSERT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < batch.count; ++i) {
    const Limbs& modulus = batch.n[shared ? 0 : i];
    Limbs expected = batch.expected(op, i, modulus);
    expected.resize(batch.operand_width, 0);
    const auto at = out.begin() + static_cast<std::ptrdiff_t>(i * batch.operand_width);
    const Limbs got(at, at + static_cast<std::ptrdiff_t>(batch.operand_width));
    ASSERT_EQ(got, expected) << variant.name << ", operation " << op << ", " << batch.width << " limbs, item "
                             << i << (shared ? ", shared" : "") << (in_place ? ", in place" : "");
    ASSERT_EQ(status[i], MM_OK);
  }
}

/// The parameter is the number of limbs.
class Elementwise : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Elementwise, EveryVariantAgreesWithSchoolbookArithmetic) {
  Generator generate(GetParam());
  const std::size_t items = GetParam() <= 4 ? 35 : 11;
  for (const auto& [excess, mixed, canonical] :
       {std::tuple{std::size_t{0}, false, true}, {0, false, false}, {0, true, true}, {2, true, false}}) {
    const Batch batch(generate, items, GetParam(), excess, mixed, canonical);
    for (const mm_variant_info& variant : usable_variants()) {
      if (variant.backend != MM_BACKEND_CPU) continue;
      for (const mm_op op : kOperations) {
        if ((variant.public_ops >> op & 1) == 0) continue;
        for (const bool shared : {false, true}) check(batch, op, variant, shared, shared || canonical);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limbs, Elementwise, ::testing::Values(1, 2, 3, 4, 5, 8, 9, 16, 20),
                         [](const auto& limbs) { return std::to_string(limbs.param); });

}  // namespace
}  // namespace manymod::testing
