// SPDX-License-Identifier: Apache-2.0
// Curves besides the named ones, for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecc/curve.hpp"

namespace manymod::test {

/// Numbers in hexadecimal, of an even number of digits.
struct HexCurve {
  const char* name;
  mm_ecc_form form;
  std::string_view p, a, b, x, y, n, cofactor;
};

/// The numbers of a curve as mm_ecc_curve_create takes them. Tests change them.
class CurveNumbers {
 private:
  mm_ecc_form form_;

 public:
  std::vector<std::uint8_t> p, a, b, x, y, n, cofactor;

  explicit CurveNumbers(const HexCurve& hex);
  void set_form(mm_ecc_form form) { form_ = form; }
  [[nodiscard]] mm_ecc_curve_numbers view() const;
};

struct TestCurve {
  std::string description;
  ecc::Curve curve;
};

/// Curves of at most 300 points, whose p has at most 9 bits.
std::span<const TestCurve> tiny_curves();
/// Large curves of prime order, any a and limb counts that no named curve has, by complex multiplication.
std::span<const TestCurve> prime_order_curves();
/// Large curves with even cofactors, with limb counts that no named curve has.
std::span<const TestCurve> supersingular_curves();

}  // namespace manymod::test
