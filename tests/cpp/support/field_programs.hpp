// SPDX-License-Identifier: Apache-2.0
// Programs for fields: sequences of functions of field/field.hpp without branches, with magnitudes close to
// their limits, which run on any backend.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "field/magnitude.hpp"
#include "support/naive.hpp"

namespace manymod::test {

enum class FieldOp {
  mul,
  sqr,
  add,
  sub1,
  sub2,
  sub4,
  neg1,
  neg2,
  neg4,
  half,
  normalize2,
  normalize4,
  normalize8,
  cmov,
  is_zero,
  equal,
  one,
  zero,
  inverse
};

/// register r = op(a, b); the masks of is_zero, equal and inverse become the one that cmov takes.
struct FieldStep {
  FieldOp op;
  std::size_t r, a, b;
};

inline constexpr std::size_t kFieldRegisters = 5;
inline constexpr std::size_t kFieldInputs = 3;  ///< registers that hold inputs at the start; the others are 1

/// The magnitude of each register during a program.
class MagnitudeTracker {
 public:
  explicit MagnitudeTracker(std::array<unsigned, kFieldInputs> inputs) {
    m_.fill(1);
    std::copy(inputs.begin(), inputs.end(), m_.begin());
  }

  /// Whether the contract allows the step; if so, r gets its magnitude.
  bool apply(const FieldStep& step) {
    const unsigned a = m_[step.a], b = m_[step.b];
    const auto result = [&](bool allowed, unsigned magnitude) {
      if (allowed) m_[step.r] = magnitude;
      return allowed;
    };
    const auto difference = [&](unsigned k) {
      return result(b <= k && a + k <= field::kMaxMagnitude, a + k);
    };
    switch (step.op) {
      case FieldOp::mul:
        return result(a * b <= field::kMaxProduct, 1);
      case FieldOp::sqr:
        return result(a * a <= field::kMaxProduct, 1);
      case FieldOp::add:
        return result(a + b <= field::kMaxMagnitude, a + b);
      case FieldOp::sub1:
        return difference(1);
      case FieldOp::sub2:
        return difference(2);
      case FieldOp::sub4:
        return difference(4);
      case FieldOp::neg1:
        return result(a <= 1, 2);
      case FieldOp::neg2:
        return result(a <= 2, 3);
      case FieldOp::neg4:
        return result(a <= 4, 5);
      case FieldOp::half:
        return result(a < field::kMaxMagnitude, a / 2 + 1);
      case FieldOp::normalize2:
        return result(a <= 2, 1);
      case FieldOp::normalize4:
        return result(a <= 4, 1);
      case FieldOp::normalize8:
      case FieldOp::inverse:
        return result(true, 1);
      case FieldOp::cmov:
        return result(true, std::max(a, m_[step.r]));
      case FieldOp::is_zero:
        return a == 1;
      case FieldOp::equal:
        return a == 1 && b == 1;
      case FieldOp::one:
      case FieldOp::zero:
        return result(true, 1);
    }
    return false;
  }

 private:
  std::array<unsigned, kFieldRegisters> m_{};
};

/// `length` random steps that the contract allows for inputs of these magnitudes.
inline std::vector<FieldStep> random_field_program(naive::Generator& generate, std::size_t length,
                                                   std::array<unsigned, kFieldInputs> magnitudes,
                                                   bool with_inverses) {
  MagnitudeTracker tracker(magnitudes);
  std::vector<FieldStep> program;
  while (program.size() < length) {
    auto op = static_cast<FieldOp>(generate.below(static_cast<unsigned>(FieldOp::inverse) + 1));
    const bool rare = op == FieldOp::inverse || op == FieldOp::zero || op == FieldOp::one;
    if (rare && (generate.below(4) != 0 || (op == FieldOp::inverse && !with_inverses))) op = FieldOp::add;
    const FieldStep step{op, generate.below(kFieldRegisters), generate.below(kFieldRegisters),
                         generate.below(kFieldRegisters)};
    if (tracker.apply(step)) program.push_back(step);
  }
  return program;
}

/// Run it on registers[0 .. kFieldRegisters). f is a Field.
template <class F>
void run_field_program(const F& f, const std::vector<FieldStep>& program, typename F::Element* registers) {
  typename F::Element unit;
  f.one(unit);
  auto mask = f.is_zero(unit);
  for (const FieldStep& step : program) {
    auto& r = registers[step.r];
    const auto &a = registers[step.a], &b = registers[step.b];
    switch (step.op) {
      case FieldOp::mul:
        f.mul(r, a, b);
        break;
      case FieldOp::sqr:
        f.sqr(r, a);
        break;
      case FieldOp::add:
        f.add(r, a, b);
        break;
      case FieldOp::sub1:
        f.sub(r, a, b);
        break;
      case FieldOp::sub2:
        f.template sub<2>(r, a, b);
        break;
      case FieldOp::sub4:
        f.template sub<4>(r, a, b);
        break;
      case FieldOp::neg1:
        f.neg(r, a);
        break;
      case FieldOp::neg2:
        f.template neg<2>(r, a);
        break;
      case FieldOp::neg4:
        f.template neg<4>(r, a);
        break;
      case FieldOp::half:
        f.half(r, a);
        break;
      case FieldOp::normalize2:
        f.template normalize_weak<2>(r, a);
        break;
      case FieldOp::normalize4:
        f.template normalize_weak<4>(r, a);
        break;
      case FieldOp::normalize8:
        f.normalize_weak(r, a);
        break;
      case FieldOp::cmov:
        f.cmov(r, a, mask);
        mask = ~mask;
        break;
      case FieldOp::is_zero:
        mask = f.is_zero(a) | mask;
        break;
      case FieldOp::equal:
        mask = f.equal(a, b) & ~mask;
        break;
      case FieldOp::one:
        f.one(r);
        break;
      case FieldOp::zero:
        f.zero(r);
        break;
      case FieldOp::inverse:
        mask = f.inverse(r, a);
        break;
    }
  }
}

}  // namespace manymod::test
