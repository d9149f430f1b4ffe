// SPDX-License-Identifier: Apache-2.0
#include "api/batch_run.hpp"

#include <span>
#include <vector>

#include "abi/last_error.hpp"
#include "core/all_zero.hpp"
#include "engine/store.hpp"

namespace manymod {
namespace {

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

bool all_ok(const Job& job) {
  static_assert(ItemStatus::ok == ItemStatus{0});
  return all_zero(std::span<const ItemStatus>(job.status, job.result.count));
}

FailedItems zero_failed_items(const Job& job) {
  FailedItems failed;
  for (std::size_t i = 0; i < job.result.count; ++i) {
    if (job.status[i] == ItemStatus::ok) continue;
    if (failed.count++ == 0) {
      failed.first = i;
      failed.first_status = static_cast<mm_status>(job.status[i]);
    }
    if (!job.result.on_device) store_zero(job.result, i);
  }
  return failed;
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
  const FailedItems failed = all_ok(job) ? FailedItems() : zero_failed_items(job);
  // Without failed items a request to stop came too late for the last ones.
  return fail_items(completed || failed.count == 0, job.result.count, failed);
}

}  // namespace manymod
