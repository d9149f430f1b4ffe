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

/// The engines of a call, and their prepared moduli or combs.
struct Workers {
  const EngineSet& engines;
  const PreparedModuli* moduli = nullptr;  ///< set iff the items share one modulus
  const PreparedBases* bases = nullptr;    ///< fixed_base_powmod only
};

/// The cost of a bucket by the estimates of its choice. `job`: as the choice sees it, with the shared modulus
/// that it prepared, if any.
WorkPart work_part(const EngineChoice& choice, Job job, const Bucket& bucket);

/// Compute `items`, whose moduli have `modulus_limbs` limbs, at one place of choice `index`; if that fails,
/// compute those without a result at the next place (see Placement).
/// @throws StatusError if all places fail
void run_items(const Workers& workers, std::size_t index, const Job& job, const StopToken& stop, Items items,
               std::size_t modulus_limbs);

/// Compute every item of `batch`. `job.stop`, `job.shared` and `job.fixed_base` are not set: engines get them
/// from `workers` and from the executor. `threads` 0 means default_threads().
/// @return false if the progress callback requested a stop; items not reached keep status not_computed
/// @throws std::bad_alloc, StatusError if devices fail, std::logic_error if no engine accepts an item
bool compute_batch(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads,
                   const Progress& progress);

}  // namespace manymod
