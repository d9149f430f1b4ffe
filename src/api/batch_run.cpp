// SPDX-License-Identifier: Apache-2.0
#include "api/batch_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "abi/last_error.hpp"
#include "engine/store.hpp"

namespace manymod {
namespace {

struct Summary {
  std::size_t failed = 0;
  std::size_t first_failed = 0;
};

// Zero the results in a device's memory of items that failed, and of items with modulus 1 or -1, which are in
// no bucket.
void zero_on_device(const Job& job, const BucketedBatch& batch, const ZeroItems& zero) {
  std::vector<bool> computed(job.result.count, batch.finished == 0);
  if (batch.finished > 0) {
    for (const Bucket& bucket : batch.buckets) {
      for (const std::size_t item : bucket.items) computed[item] = true;
    }
  }
  std::vector<std::size_t> without_result;
  for (std::size_t i = 0; i < job.result.count; ++i) {
    if (!computed[i] || job.status[i] != ItemStatus::ok) without_result.push_back(i);
  }
  if (!without_result.empty()) zero(without_result);
}

// Compilers vectorise this count, but not the search for failed items.
bool all_ok(const Job& job) {
  const auto good = std::count(job.status, job.status + job.result.count, ItemStatus::ok);
  return static_cast<std::size_t>(good) == job.result.count;
}

Summary zero_failed_items(const Job& job) {
  Summary summary;
  for (std::size_t i = 0; i < job.result.count; ++i) {
    if (job.status[i] == ItemStatus::ok) continue;
    if (summary.failed++ == 0) summary.first_failed = i;
    if (!job.result.on_device) store_zero(job.result, i);
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
                    const Progress& progress, const ZeroItems& zero) {
  const bool completed = compute_batch(workers, job, batch, threads, progress);
  if (job.result.on_device && !(batch.finished == 0 && all_ok(job))) zero_on_device(job, batch, zero);
  return summarised(job, completed);
}

mm_status summarised(const Job& job, bool completed) {
  const Summary summary = all_ok(job) ? Summary() : zero_failed_items(job);
  if (summary.failed == 0) return MM_OK;  // also if a request to stop came too late for the last items
  const std::string counts =
      std::to_string(summary.failed) + " of " + std::to_string(job.result.count) + " items have no result";
  if (!completed) return fail(MM_ERR_CANCELLED, "cancelled; " + counts);
  const auto first_status = static_cast<mm_status>(job.status[summary.first_failed]);
  return fail(MM_ERR_ITEMS, counts + "; the first is item " + std::to_string(summary.first_failed) + ": " +
                                mm_status_message(first_status));
}

}  // namespace manymod
