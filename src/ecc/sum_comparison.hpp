// SPDX-License-Identifier: Apache-2.0
// What an engine may offer besides PointEngine: the equation of a verification, where that takes less time
// than the sum that it compares.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ticker.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc {

/// Ranges, threads and `stop` as with PointEngine.
class SumComparison {
 public:
  SumComparison() = default;
  virtual ~SumComparison() = default;
  SumComparison(const SumComparison&) = delete;
  SumComparison& operator=(const SumComparison&) = delete;

  /// A rough estimate for one of many items, on one thread.
  [[nodiscard]] virtual double item_ns() const = 0;

  /// equal[i] = 1 where 2^doublings (u G + v P - R) is the neutral element, else 0, for public scalars 0 <=
  /// u, v < n and any points of the curve.
  virtual void compare(std::uint8_t* equal, const NumberRows& u, const NumberRows& v, const PointRows& p,
                       const PointRows& r, unsigned doublings, ItemRange items,
                       const StopToken& stop) const = 0;
};

}  // namespace manymod::ecc
