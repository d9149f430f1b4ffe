// SPDX-License-Identifier: Apache-2.0
// The last leg of every call: bucketed items computed, bad results zeroed, statuses summed up.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "exec/batch.hpp"
#include "exec/bucketing.hpp"

namespace manymod {

/// Gives `job` a status array of its own where the caller brought none; keep the returned owner until the
/// call ends.
std::unique_ptr<ItemStatus[]> own_statuses(Job& job);

/// Zeroes the results of these items of a job, where they are on_device.
using ZeroItems = std::function<void(Items items)>;

/// Compute `batch`, zero the results of items without one. `zero`: needed where the results are on_device.
/// @return MM_OK, or MM_ERR_ITEMS or MM_ERR_CANCELLED with mm_last_error() set.
mm_status run_batch(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads,
                    const Progress& progress, const ZeroItems& zero = {});

}  // namespace manymod
