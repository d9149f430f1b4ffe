// SPDX-License-Identifier: Apache-2.0
// Running a bucketed batch: inline where it is short, else on the thread pool with progress and stopping.
#pragma once

#include <cstddef>

#include "exec/bucketing.hpp"
#include "exec/engine_set.hpp"

namespace manymod {

struct Progress {
  mm_progress_fn callback = nullptr;  ///< NULL: nobody asks
  void* user = nullptr;
};

/// Ask progress.callback (not NULL) whether to stop. One that throws (it may be C++) is taken as a wish to:
/// nothing may unwind through the C ABI.
bool wants_stop(const Progress& progress, std::size_t done, std::size_t total);

/// CPU threads of calls whose plan does not say: set_default_threads()'s number, else the CPUs of this
/// process.
unsigned default_threads();
/// Set it, at most kMaxThreads; 0 restores the default. Returns the new number.
unsigned set_default_threads(unsigned threads);

/// What computes a call's items.
struct Workers {
  const EngineSet& engines;
  const PreparedModuli* moduli = nullptr;  ///< set iff the items share one modulus
  const PreparedBases* bases = nullptr;    ///< fixed_base_powmod only
};

/// Compute every item of `batch`. `job.stop`, `job.shared` and `job.fixed_base` are replaced. `threads` 0
/// means default_threads().
/// @return false if the progress callback asked to stop; items not reached keep status not_computed.
/// @throws std::bad_alloc, std::logic_error where no engine accepts an item
bool execute(const Workers& workers, Job job, const BucketedBatch& batch, unsigned threads,
             const Progress& progress);

}  // namespace manymod
