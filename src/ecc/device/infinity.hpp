// SPDX-License-Identifier: Apache-2.0
// Sums with infinity among their operands, which the kernels do not recognise.
#pragma once

#include <cstddef>

#include "ecc/point_engine.hpp"

namespace manymod::ecc::device {

/// Items of r = p + q: where p is infinity, r = q, and else where q is, r = p. On input: r.infinity is not
/// null.
void replace_infinite(const PointResults& r, const PointRows& p, const PointRows& q, std::size_t limbs,
                      ItemRange items);

}  // namespace manymod::ecc::device
