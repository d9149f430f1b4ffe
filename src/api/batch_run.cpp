// SPDX-License-Identifier: Apache-2.0
#include "api/batch_run.hpp"

#include <string>

#include "api/last_error.hpp"
#include "repr/store.hpp"

namespace manymod {
namespace {

struct Summary {
  std::size_t failed = 0;
  std::size_t first_failed = 0;
};

Summary zero_failed_items(const Job& job) {
  Summary summary;
  for (std::size_t i = 0; i < job.result.count; ++i) {
    if (job.status[i] == ItemStatus::ok) [[likely]]
      continue;
    if (summary.failed++ == 0) summary.first_failed = i;
    store_zero(job.result, i);
  }
  return summary;
}

}  // namespace

std::unique_ptr<ItemStatus[]> own_statuses(Job& job) {
  if (job.status != nullptr) return nullptr;
  auto statuses = std::make_unique_for_overwrite<ItemStatus[]>(job.result.count);
  job.status = statuses.get();
  return statuses;
}

mm_status run_batch(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads,
                    const Progress& progress) {
  const bool completed = execute(workers, job, batch, threads, progress);
  const Summary summary = zero_failed_items(job);
  if (completed && summary.failed == 0) return MM_OK;
  const std::string counts =
      std::to_string(summary.failed) + " of " + std::to_string(job.result.count) + " items have no result";
  if (!completed) return fail(MM_ERR_CANCELLED, "cancelled by the progress callback; " + counts);
  const auto first_status = static_cast<mm_status>(job.status[summary.first_failed]);
  return fail(MM_ERR_ITEMS, counts + "; the first is item " + std::to_string(summary.first_failed) + ": " +
                                mm_status_message(first_status));
}

}  // namespace manymod
