// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/infinity.hpp"

#include <algorithm>

namespace manymod::ecc::device {
namespace {

bool is_infinity(const PointRows& points, std::size_t i) {
  return points.infinity != nullptr && points.infinity[i] != 0;
}

/// Result i = point i, with coordinates 0 at infinity.
void copy_point(const PointResults& r, const PointRows& points, std::size_t limbs, std::size_t i) {
  const bool infinite = is_infinity(points, i);
  const auto copy = [&](Limb* to, const Limb* from) {
    if (to == nullptr) return;
    for (std::size_t j = 0; j < limbs; ++j) to[i * limbs + j] = infinite ? 0 : from[j];
  };
  copy(r.x, points.x[i]);
  copy(r.y, points.y[i]);
  r.infinity[i] = infinite ? 1 : 0;
}

}  // namespace

void replace_infinite(const PointResults& r, const PointRows& p, const PointRows& q, std::size_t limbs,
                      ItemRange items) {
  for (std::size_t i = items.begin; i < items.end; ++i) {
    if (is_infinity(p, i)) {
      copy_point(r, q, limbs, i);
    } else if (is_infinity(q, i)) {
      copy_point(r, p, limbs, i);
    }
  }
}

}  // namespace manymod::ecc::device
