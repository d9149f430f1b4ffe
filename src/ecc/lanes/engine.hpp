// SPDX-License-Identifier: Apache-2.0
// The point engine on instances in the lanes of vectors.
#pragma once

#include <memory>

#include "ecc/lanes/point_lane_calls.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc::lanes {

/// The functions of a backend for a curve; null if it does not offer the curve.
const PointLaneCalls* find_calls(const PointLaneBackend& backend, const Curve& curve);

/// Whether this processor has what the backend needs.
bool runs_here(const PointLaneBackend& backend);

/// On input: find_calls is not null, runs_here. `exact` does what is not worth vectors: sums of many points.
std::unique_ptr<const PointEngine> make_engine(const Curve& curve, const PointLaneBackend& backend,
                                               std::unique_ptr<const PointEngine> exact);

}  // namespace manymod::ecc::lanes
