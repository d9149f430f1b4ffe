// SPDX-License-Identifier: Apache-2.0
// Several GPUs as one engine.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "exec/gpu_load.hpp"

namespace manymod {

/// A variant on one GPU.
struct SpreadPart {
  std::unique_ptr<const Engine> engine;
  unsigned size = 1;        ///< multiprocessors
  GpuLoad* load = nullptr;  ///< must outlive the engine
};

/// Gives each `run` to the GPU that would end it first: the one whose load, these items included, is least
/// relative to its size; the earlier of equal ones. So several calls of `run` at a time use all GPUs, and one
/// much smaller than the others gets nothing as long as those have little to do.
///
/// Items on a GPU that fails (StatusError) are computed by another; the call fails where all do. A failed GPU
/// gets nothing more as long as other items are being computed, and one that is of no more use to this
/// process (cuda::Fault::lost) nothing at all, unless there is no other left.
///
/// Moduli and bases are prepared on a GPU when items first go there; `prepare_base` makes the comb of one at
/// once. `parts` are of one variant, not empty, the one that speaks for all of them (accepts,
/// chunk_granularity, item_cost_ns of one GPU) first.
std::unique_ptr<Engine> spread(std::vector<SpreadPart> parts);

}  // namespace manymod
