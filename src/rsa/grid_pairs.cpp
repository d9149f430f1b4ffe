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
  const std::size_t runs = rows.runs.size();
  const double run_ns = blinding_ns(limbs_) * static_cast<double>(count()) / static_cast<double>(runs);
  const auto draw_some = [&](std::size_t begin, std::size_t end, const StopToken& stop) {
    for (std::size_t run = begin; run < end && !stop.requested(); ++run) {
      draw_run(*rows.runs[run].key, first_[run], run + 1 < runs ? first_[run + 1] : count());
    }
  };
  return execute_ranges(runs, run_ns, threads, progress, draw_some);
}

void GridPairs::draw_run(const RingKey& key, std::size_t begin, std::size_t end) {
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
