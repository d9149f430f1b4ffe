// SPDX-License-Identifier: Apache-2.0
// What every engine of points must pass, whatever backend and curve it is for: results of all its functions
// against the textbook laws (plain_group.hpp). engines_test.cpp runs both functions on all variants.
#pragma once

#include "ecc/point_engine.hpp"

namespace manymod::test {

/// All pairs of points, all multiples of all points, all coordinates: for curves whose points can be listed,
/// with p < 2^9. Failures are reported to GoogleTest.
void check_every_point(const ecc::PointEngine& engine);

/// Scalars and points at edges, and random ones, on curves of any size. `seed`: of the random numbers.
void check_edges(const ecc::PointEngine& engine, unsigned seed);

}  // namespace manymod::test
