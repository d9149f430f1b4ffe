// SPDX-License-Identifier: Apache-2.0
// What the kernels know of each curve at compile time. All have prime order n and cofactor 1.
#pragma once

#include "ecc/curve.hpp"
#include "ecc/endomorphism.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "modmul/special_primes/primes.hpp"

namespace manymod::ecc::lanes {

using jacobian::CoefficientA;

struct CurveP256 {
  using Prime = primes::P256;
  static constexpr CurveId kId = CurveId::p256;
  static constexpr CoefficientA kA = CoefficientA::minus_three;
  static constexpr unsigned kOrderBits = 256;
  static constexpr bool kEndomorphism = false;
};

struct CurveSm2 {
  using Prime = primes::Sm2;
  static constexpr CurveId kId = CurveId::sm2;
  static constexpr CoefficientA kA = CoefficientA::minus_three;
  static constexpr unsigned kOrderBits = 256;
  static constexpr bool kEndomorphism = false;
};

struct CurveSecp256k1 {
  using Prime = primes::Secp256k1;
  static constexpr CurveId kId = CurveId::secp256k1;
  static constexpr CoefficientA kA = CoefficientA::zero;
  static constexpr unsigned kOrderBits = 256;
  static constexpr bool kEndomorphism = true;
};

struct CurveP384 {
  using Prime = primes::P384;
  static constexpr CurveId kId = CurveId::p384;
  static constexpr CoefficientA kA = CoefficientA::minus_three;
  static constexpr unsigned kOrderBits = 384;
  static constexpr bool kEndomorphism = false;
};

struct CurveP521 {
  using Prime = primes::P521;
  static constexpr CurveId kId = CurveId::p521;
  static constexpr CoefficientA kA = CoefficientA::minus_three;
  static constexpr unsigned kOrderBits = 521;
  static constexpr bool kEndomorphism = false;
};

}  // namespace manymod::ecc::lanes
