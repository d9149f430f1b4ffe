// SPDX-License-Identifier: Apache-2.0
#include "ecc/scalar64/engine.hpp"

#include <stdexcept>
#include <string>

namespace manymod::ecc::scalar64 {
namespace {

std::unique_ptr<const PointEngine> make(const Curve& curve, std::span<const unsigned> /*gpus*/) {
  switch (curve.form) {
    case MM_ECC_WEIERSTRASS:
      return make_weierstrass(curve);
    case MM_ECC_EDWARDS:
      return make_edwards(curve);
    case MM_ECC_MONTGOMERY:
      return make_montgomery(curve);
  }
  refuse("make");
}

/// Field products, squares among them, of an operation: for each bit of the order, and besides.
struct Products {
  double per_bit;
  double others;
};
Products products(const Curve& curve, PointOperation operation) {
  const bool edwards = curve.form == MM_ECC_EDWARDS;
  const double addition = edwards ? 10 : 14;
  const double doubling = edwards ? 8 : 12.5;
  const double root = 1.3 * static_cast<double>(curve.field_bits);
  switch (operation) {
    case PointOperation::multiply_base:
      return {addition / 5, 10};
    case PointOperation::multiply:
      return {doubling + addition / 5, 16 * addition};
    case PointOperation::multiply_two:
      return {doubling + addition / 5 + addition / 6, 8 * addition};
    case PointOperation::ladder:
      return {10, 20};
    case PointOperation::add:
      return {0, addition + 15};
    case PointOperation::lift:
      return {0, root};
    case PointOperation::check:
      return {0, 8};
    case PointOperation::sum:
      return {addition / 10, 0};
  }
  refuse("item_ns");
}

}  // namespace

double estimated_ns(const Curve& curve, PointOperation operation) {
  const auto limbs = static_cast<double>(curve.limbs());
  const double product_ns = 6 + 1.3 * limbs * limbs;
  const auto [per_bit, others] = products(curve, operation);
  return product_ns * (per_bit * static_cast<double>(curve.order_bits) + others);
}

void refuse(const char* function) {
  throw std::logic_error(std::string("a curve's form has no ") + function);
}

Variant variant() {
  Variant scalar64;
  scalar64.name = kName;
  scalar64.backend = Backend::cpu;
  scalar64.runs_here = [] { return true; };
  scalar64.offers = [](const Curve&) { return true; };
  scalar64.make = make;
  return scalar64;
}

}  // namespace manymod::ecc::scalar64
