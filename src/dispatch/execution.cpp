// SPDX-License-Identifier: Apache-2.0
#include "dispatch/execution.hpp"

#include <algorithm>
#include <atomic>

#include "dispatch/chunking.hpp"
#include "dispatch/cpu_features.hpp"
#include "dispatch/thread_pool.hpp"

namespace manymod {
namespace {

// Below this, waking threads (some 50 us until they all run) costs more than it gains.
constexpr double kWorthThreadsNs = 150e3;
// Below this, nobody misses progress or a way to stop.
constexpr double kWorthProgressNs = 20e6;

std::atomic<unsigned> threads_setting{0};

void run_inline(const Engine& engine, const Job& job, const BucketedBatch& batch) {
  for (const Bucket& bucket : batch.buckets) engine.run(job, bucket.items, bucket.limbs);
}

bool run_on_pool(const Engine& engine, const Job& job, const BucketedBatch& batch,
                 const std::vector<BucketCost>& costs, unsigned threads, const Progress& progress) {
  const std::vector<Chunk> chunks = cut_chunks(batch.buckets, costs, threads);
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> done{batch.settled};
  bool cancelled = false;
  const ThreadPool::Body body = [&](std::size_t index, const StopToken& token) {
    const Chunk& chunk = chunks[index];
    const Bucket& bucket = batch.buckets[chunk.bucket];
    Job own = job;
    own.stop = token;
    engine.run(own, bucket.items.subspan(chunk.begin, chunk.end - chunk.begin), bucket.limbs);
    done.fetch_add(chunk.end - chunk.begin, std::memory_order_relaxed);
  };
  Tick tick;
  if (progress.callback != nullptr) {
    tick = [&] {
      const std::size_t items = done.load(std::memory_order_relaxed);
      cancelled = wants_stop(progress, items, job.result.count);
      return cancelled;
    };
  }
  ThreadPool::of_this_process().run(threads, chunks.size(), body, stop, tick);
  return !cancelled;
}

}  // namespace

bool wants_stop(const Progress& progress, std::size_t done, std::size_t total) {
  try {
    return progress.callback(done, total, progress.user) != 0;
  } catch (...) {
    return true;
  }
}

unsigned default_threads() {
  const unsigned setting = threads_setting.load(std::memory_order_relaxed);
  return setting != 0 ? setting : std::min(usable_cpu_count(), kMaxThreads);
}

unsigned set_default_threads(unsigned threads) {
  threads_setting.store(std::min(threads, kMaxThreads), std::memory_order_relaxed);
  return default_threads();
}

bool execute(const Engine& engine, Job job, const BucketedBatch& batch, unsigned threads,
             const Progress& progress) {
  if (batch.buckets.empty()) return true;
  const std::vector<BucketCost> costs = bucket_costs(engine, job, batch.buckets);
  double total_ns = 0;
  for (const BucketCost& cost : costs) total_ns += cost.total_ns;
  job.stop = StopToken();
  const bool unobserved = progress.callback == nullptr || total_ns < kWorthProgressNs;
  const bool short_call = total_ns < kWorthThreadsNs;
  if (threads == 0 && !short_call) threads = default_threads();
  if (short_call || (threads == 1 && unobserved)) {
    run_inline(engine, job, batch);
    return true;
  }
  return run_on_pool(engine, job, batch, costs, threads, progress);
}

}  // namespace manymod
