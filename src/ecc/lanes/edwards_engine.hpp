// SPDX-License-Identifier: Apache-2.0
// Engines of Ed25519, X25519, Ed448 and X448 on vectors.
#pragma once

#include <memory>

#include "ecc/lanes/edwards_lane_calls.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc::lanes {

/// Whether there is an engine of these kernels for the curve: Ed25519, X25519, Ed448 and X448.
bool offers_edwards_lanes(const Curve& curve);

/// On input: offers_edwards_lanes(curve), which must outlive the engine; the machine has what the backend
/// needs.
std::unique_ptr<const PointEngine> make_edwards_lanes(const Curve& curve, const EdwardsLaneBackend& backend);

}  // namespace manymod::ecc::lanes
