// SPDX-License-Identifier: Apache-2.0
// Computing a bucketed batch: the executor's client for powers, products and all other operations on items.
#pragma once

#include <cstddef>

#include "exec/bucketing.hpp"
#include "exec/engine_set.hpp"
#include "exec/executor.hpp"
#include "exec/prepared.hpp"
#include "exec/progress.hpp"

namespace manymod {

/// What computes a call's items.
struct Workers {
  const EngineSet& engines;
  const PreparedModuli* moduli = nullptr;  ///< set iff the items share one modulus
  const PreparedBases* bases = nullptr;    ///< fixed_base_powmod only
};

/// The cost of buckets (of one choice each, Bucket::engine) by their engines' estimates. `jobs`: as each
/// choice of the set sees the call.
std::vector<WorkPart> work_parts(const EngineSet& engines, std::span<const Job> jobs,
                                 std::span<const Bucket> buckets);

/// Compute `items`, moduli of `modulus_limbs` limbs each, at one place of choice `index`; where that fails,
/// what has no result yet at the next one (see Placement).
/// @throws StatusError where all places fail
void run_items(const Workers& workers, std::size_t index, const Job& job, Items items,
               std::size_t modulus_limbs);

/// Compute every item of `batch`. `job.stop`, `job.shared` and `job.fixed_base` are replaced. `threads` 0
/// means default_threads().
/// @return false if the progress callback asked to stop; items not reached keep status not_computed
/// @throws std::bad_alloc, StatusError where devices fail, std::logic_error where no engine accepts an item
bool compute_batch(const Workers& workers, Job job, const BucketedBatch& batch, unsigned threads,
                   const Progress& progress);

}  // namespace manymod
