// SPDX-License-Identifier: Apache-2.0
// What the kernels know of each curve at compile time. For inclusion in instruction-set files only.
#pragma once

#include "ecc/endomorphism.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "ecc/lanes/point_lane_calls.hpp"
#include "field/runtime_lanes.hpp"
#include "field/special_lanes.hpp"

namespace manymod::ecc::lanes {

using jacobian::CoefficientA;

/// A curve of prime order n and cofactor 1.
template <class OfField, CurveId kCurve, CoefficientA kOfA, unsigned kBits, bool kHasEndomorphism = false>
struct SpecialCurve {
  static constexpr CurveId kId = kCurve;
  static constexpr unsigned kMaxFieldBits = OfField::kBits;
  static constexpr CoefficientA kA = kOfA;
  static constexpr bool kEndomorphism = kHasEndomorphism;
  static constexpr bool kAnyOrder = false;
  template <class Arch>
  using Field = field::SpecialLaneField<OfField, Arch>;
  template <class Arch>
  static Field<Arch> field(const PointBlock& /*block*/) {
    return {};
  }
  template <class Arch>
  static constexpr unsigned order_bits(const PointBlock& /*block*/) {
    return kBits;
  }
};

using CurveP256 = SpecialCurve<primes::P256, CurveId::p256, CoefficientA::minus_three, 256>;
using CurveSm2 = SpecialCurve<primes::Sm2, CurveId::sm2, CoefficientA::minus_three, 256>;
using CurveSecp256k1 = SpecialCurve<primes::Secp256k1, CurveId::secp256k1, CoefficientA::zero, 256, true>;
using CurveP384 = SpecialCurve<primes::P384, CurveId::p384, CoefficientA::minus_three, 384>;
using CurveP521 = SpecialCurve<primes::P521, CurveId::p521, CoefficientA::minus_three, 521>;

/// Any short Weierstrass curve over a field of kDigits digits at most, of any order.
template <std::size_t kDigits>
struct RuntimeCurve {
  static constexpr CurveId kId = CurveId::custom;
  static constexpr CoefficientA kA = CoefficientA::any;
  static constexpr bool kEndomorphism = false;
  static constexpr bool kAnyOrder = true;
  template <class Arch>
  using Field = field::RuntimeLaneField<kDigits, Arch>;
  template <class Arch>
  static Field<Arch> field(const PointBlock& block) {
    return Field<Arch>(montgomery_lanes::LaneArithmetic<kDigits, Arch>(*block.constants));
  }
  template <class Arch>
  static unsigned order_bits(const PointBlock& block) {
    return block.order_bits;
  }
};

}  // namespace manymod::ecc::lanes
