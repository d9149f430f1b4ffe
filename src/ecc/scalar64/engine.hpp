// SPDX-License-Identifier: Apache-2.0
// The variant scalar64: points of every curve on scalar CPU code.
#pragma once

#include <memory>

#include "ecc/point_engine.hpp"
#include "ecc/variants.hpp"

namespace manymod::ecc::scalar64 {

inline constexpr const char* kName = "scalar64";

Variant variant();

/// Engines of curves of one form, with fields of up to MM_ECC_MAX_BITS bits.
std::unique_ptr<const PointEngine> make_weierstrass(const Curve& curve);
std::unique_ptr<const PointEngine> make_edwards(const Curve& curve);
std::unique_ptr<const PointEngine> make_montgomery(const Curve& curve);

/// PointEngine::item_ns of all of them.
double estimated_ns(const Curve& curve, PointOperation operation);

/// Functions that curves of a form do not have: only a defect of the caller leads here.
/// @throws std::logic_error
[[noreturn]] void refuse(const char* function);

}  // namespace manymod::ecc::scalar64
