// SPDX-License-Identifier: Apache-2.0
#include "rsa/grid_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "exec/executor.hpp"

namespace manymod::rsa {
namespace {

// Estimated time of one pair: two squarings modulo n.
double blinding_ns(std::size_t limbs) { return 3 * static_cast<double>(limbs * limbs); }

}  // namespace

Grid::Grid(std::size_t rows)
    : columns(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(rows))))),
      lines((rows + columns - 1) / columns) {}

GridPairs::GridPairs(const Rows& rows) : limbs_(rows.limbs) {
  std::size_t pairs = 0;
  for (const KeyRun& run : rows.runs) {
    first_.push_back(pairs);
    const Grid grid(run.size());
    pairs += grid.columns + grid.lines;
  }
  factors_ = limbs::Buffer(pairs * limbs_);
  inverses_ = limbs::Buffer(pairs * limbs_);
}

bool GridPairs::draw(const Rows& rows, unsigned threads, const ProgressPart& progress) {
  const auto draw_some = [&](std::size_t begin, std::size_t end, const StopToken& stop) {
    for (std::size_t run = run_of(begin); begin < end && !stop.requested(); ++run) {
      const std::size_t next = run + 1 < first_.size() ? std::min(end, first_[run + 1]) : end;
      draw_of_key(*rows.runs[run].key, begin, next);
      begin = next;
    }
  };
  return execute_ranges(count(), blinding_ns(limbs_), threads, progress, draw_some);
}

std::size_t GridPairs::run_of(std::size_t pair) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, pair) - first_.begin()) - 1;
}

void GridPairs::draw_of_key(const RingKey& key, std::size_t begin, std::size_t end) {
  const PrivateArithmetic& arithmetic = key.arithmetic();
  limbs::Buffer scratch(arithmetic.scratch_limbs());
  Blinder blinder(key.blinding(), arithmetic);
  for (std::size_t pair = begin; pair < end; ++pair) {
    const BlindingPair& drawn = blinder.next(scratch.data());
    std::copy_n(drawn.factor.data(), limbs_, factors_.data() + pair * limbs_);
    std::copy_n(drawn.inverse.data(), limbs_, inverses_.data() + pair * limbs_);
  }
}

}  // namespace manymod::rsa
