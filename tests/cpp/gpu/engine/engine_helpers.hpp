// SPDX-License-Identifier: Apache-2.0
// Whole calls on the fake driver, and their expected results by slow arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "manymod/manymod.hpp"
#include "support/fake_cuda/fixture.hpp"
#include "support/naive.hpp"

namespace manymod::testing {

/// Batches of numbers at the edges of their ranges.
class CudaNumbers {
 public:
  explicit CudaNumbers(std::uint64_t seed) : generate_(seed) {}

  Batch some(std::size_t count, std::size_t width) {
    return filled(count, width, [&] { return generate_.number(width); });
  }
  Batch odd_moduli(std::size_t count, std::size_t width) {
    return filled(count, width, [&] { return generate_.odd_modulus(width); });
  }
  Batch with_signs(Batch batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) batch.set_negative(i, generate_.below(2) == 0);
    return batch;
  }
  std::uint64_t below(std::uint64_t bound) { return generate_.below(bound); }

 private:
  naive::Generator generate_;

  template <class Number>
  static Batch filled(std::size_t count, std::size_t width, Number&& number) {
    Batch batch(count, width);
    for (std::size_t i = 0; i < count; ++i) {
      const naive::Limbs limbs = number();
      std::copy(limbs.begin(), limbs.end(), batch[i].begin());
    }
    return batch;
  }
};

/// One number of `width` limbs for all items.
inline Batch single(std::uint64_t value, std::size_t width = 1) {
  Batch batch(1, width);
  batch[0][0] = value;
  return batch;
}

/// A signed number. Results have the sign of the modulus, as Python's.
struct CudaInteger {
  naive::Limbs magnitude;
  bool negative = false;
  bool operator==(const CudaInteger&) const = default;
};

inline CudaInteger integer_of(const View& view, std::size_t index) {
  const mm_view& all = view.get();
  const std::size_t i = all.count == 1 ? 0 : index;
  const std::uint64_t* const limbs = all.limbs + i * all.stride;
  return {naive::Limbs(limbs, limbs + all.width), all.negative != nullptr && all.negative[i] != 0};
}

/// a mod |n|, not negative.
inline naive::Limbs residue_of(const CudaInteger& a, const naive::Limbs& n) {
  naive::Limbs r = naive::reduce(a.magnitude, n);
  if (!a.negative || std::all_of(r.begin(), r.end(), [](std::uint64_t limb) { return limb == 0; })) return r;
  std::uint64_t borrow = 0;
  for (std::size_t j = 0; j < n.size(); ++j) {
    const std::uint64_t below = n[j] - r[j], difference = below - borrow;
    borrow = static_cast<std::uint64_t>(n[j] < r[j] || below < borrow);
    r[j] = difference;
  }
  return r;
}

inline naive::Limbs product_of_powers(const Operands& operands, std::size_t item, const naive::Limbs& n) {
  const auto index = [&](const View& view, std::size_t t) {
    return view.size() == operands.terms ? t : item * operands.terms + t;
  };
  naive::Limbs product = naive::reduce({1}, n);
  product.resize(n.size());
  for (std::size_t t = 0; t < operands.terms; ++t) {
    const naive::Limbs base = residue_of(integer_of(operands.x, index(operands.x, t)), n);
    const naive::Limbs exponent = integer_of(operands.y, index(operands.y, t)).magnitude;
    product = naive::multiply_mod(product, naive::power_mod(base, exponent, n), n);
  }
  return product;
}

/// a + b mod n. On input: a, b < n.
inline naive::Limbs sum_mod(naive::Limbs a, const naive::Limbs& b, const naive::Limbs& n) {
  std::uint64_t carry = 0;
  for (std::size_t j = 0; j < n.size(); ++j) {
    const std::uint64_t sum = a[j] + carry;
    carry = static_cast<std::uint64_t>(sum < carry);
    a[j] = sum + b[j];
    carry += static_cast<std::uint64_t>(a[j] < sum);
  }
  a.push_back(carry);
  return naive::reduce(a, n);
}

/// The item's result for a modulus that is not 0.
inline CudaInteger expected_item(Op op, const Operands& operands, std::size_t item) {
  const CudaInteger modulus = integer_of(operands.modulus, item);
  const naive::Limbs& n = modulus.magnitude;
  naive::Limbs r;
  if (op == Op::multi_powmod) {
    r = product_of_powers(operands, item, n);
  } else {
    const naive::Limbs x = residue_of(integer_of(operands.x, item), n);
    const auto y = [&] { return residue_of(integer_of(operands.y, item), n); };
    if (op == Op::addmod) r = sum_mod(x, y(), n);
    if (op == Op::submod) r = sum_mod(x, residue_of({y(), true}, n), n);
    if (op == Op::negmod) r = residue_of({x, true}, n);
    if (op == Op::fmamod) {
      r = sum_mod(naive::multiply_mod(x, y(), n), residue_of(integer_of(operands.z, item), n), n);
    }
    if (op == Op::powmod) r = naive::power_mod(x, integer_of(operands.y, item).magnitude, n);
    if (op == Op::sqrmod) r = naive::multiply_mod(x, x, n);
    if (op == Op::mulmod) r = naive::multiply_mod(x, y(), n);
  }
  if (!modulus.negative) return {r, false};
  const naive::Limbs shifted = residue_of({r, true}, n);
  return {shifted, shifted != naive::Limbs(n.size(), 0)};
}

inline void expect_right(const Batch& results, Op op, const Operands& operands, const std::string& what) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const CudaInteger result = integer_of(View(results), results.size() == 1 ? 0 : i);
    ASSERT_EQ(result, expected_item(op, operands, i)) << what << ", item " << i << " of " << results.size();
  }
}

inline std::string text_of(Op op, const Operands& operands, Timing timing, const Placement& where) {
  return where.variant + " on " + where.device + ", operation " + std::to_string(static_cast<int>(op)) +
         (timing == Timing::secret ? ", secret, " : ", public, ") +
         std::to_string(64 * operands.modulus.width()) + " bits";
}

inline Plan plan_for(Op op, const Operands& operands, Timing timing, const Placement& where) {
  const ModulusKind kind = operands.modulus.size() == 1 ? ModulusKind::shared : ModulusKind::each;
  return {op, 64 * operands.modulus.width(), kind, timing, where};
}

/// Runs one call and checks that it used the GPU and that its results are correct.
inline void check_plan(Op op, const Operands& operands, Timing timing, const Placement& where) {
  Plan plan = plan_for(op, operands, timing, where);
  const std::size_t launches = fake_cuda::counts().launches;
  expect_right(plan.run(operands), op, operands, text_of(op, operands, timing, where));
  EXPECT_GT(fake_cuda::counts().launches, launches) << text_of(op, operands, timing, where);
}

}  // namespace manymod::testing
