// SPDX-License-Identifier: Apache-2.0
#include "modexp/multi.hpp"

namespace manymod {

namespace {

/// Buckets pay up to here: for 10^6 terms the best width is about 15.
constexpr std::size_t kMaxMultiWindow = 16;

}  // namespace

MultiPlan plan_multi(std::size_t terms, std::size_t bits, std::size_t max_residues) {
  MultiPlan best;
  double best_cost = -1;
  const auto t = static_cast<double>(terms);
  const auto b = static_cast<double>(bits);
  const auto consider = [&](bool buckets, std::size_t width, double cost) {
    if (best_cost < 0 || cost < best_cost) {
      best = {buckets, width};
      best_cost = cost;
    }
  };
  for (std::size_t width = 1; width <= kMaxMultiWindow; ++width) {
    const auto power = static_cast<double>(std::size_t{1} << width);
    const auto w = static_cast<double>(width);
    const std::size_t whole_windows = (bits + width - 1) / width;
    const auto windows = static_cast<double>(whole_windows);
    if (width == 1 || (terms << (width - 1)) <= max_residues)
      consider(false, width, t * power / 2 + t * b / (w + 1));
    if (width == 1 || power <= static_cast<double>(max_residues))
      consider(true, width, windows * (t + 2 * power));
  }
  return best;
}

}  // namespace manymod
