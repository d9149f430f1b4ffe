// SPDX-License-Identifier: Apache-2.0
// The last steps of every call: compute the bucketed items, zero the results of failed ones, summarise the
// statuses.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "exec/batch.hpp"
#include "exec/bucketing.hpp"

namespace manymod {

/// Give `job` a status array if the caller passed none. The returned owner must outlive the call.
std::unique_ptr<ItemStatus[]> own_statuses(Job& job);

/// Zeroes the results of items in a device's memory.
using ZeroItems = std::function<void(Items items)>;

/// The outcome of a call whose statuses are set: MM_OK, or MM_ERR_ITEMS or MM_ERR_CANCELLED with
/// mm_last_error() set. Zeroes the results in host memory of items without one. Not inlined, because the
/// secret-independence tests suppress findings in this function by its name: statuses are public.
[[gnu::noinline]] mm_status summarised(const Job& job, bool completed);

/// Compute `batch` and zero the results of items without one, by `zero` if results are in a device's memory.
/// @return MM_OK, or MM_ERR_ITEMS or MM_ERR_CANCELLED with mm_last_error() set.
mm_status run_batch(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads,
                    const Progress& progress, const ZeroItems& zero = {});

}  // namespace manymod
