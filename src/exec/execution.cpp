// SPDX-License-Identifier: Apache-2.0
#include "exec/execution.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/thread_pool.hpp"
#include "exec/chunking.hpp"
#include "exec/splitting.hpp"

namespace manymod {
namespace {

// Below this, waking threads (some 50 us until they all run) costs more than it gains.
constexpr double kWorthThreadsNs = 150e3;
// Below this, nobody misses progress or a way to stop.
constexpr double kWorthProgressNs = 20e6;
// For each GPU: while it computes one chunk the next is brought to it and the results of the last are stored.
constexpr unsigned kThreadsForGpu = 3;

std::atomic<unsigned> threads_setting{0};

// Buckets of one engine each, their estimated costs, and the job as each engine sees it.
struct Work {
  SplitBatch split;
  std::span<const Bucket> buckets;
  std::vector<BucketCost> costs;
  std::vector<Job> jobs;  ///< by engine; those of engines without a bucket are not filled in

  [[nodiscard]] unsigned threads_for_gpus(const EngineSet& engines) const {
    unsigned gpus = 0;
    for (const Bucket& bucket : buckets) gpus = std::max(gpus, engines[bucket.engine].gpus);
    return std::min(kThreadsForGpu * gpus, kMaxThreads);
  }
  [[nodiscard]] double total_ns() const {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [](double sum, const BucketCost& cost) { return sum + cost.total_ns; });
  }
};

Work divided(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads) {
  Work work;
  work.buckets = batch.buckets;
  if (workers.engines.size() > 1) {
    std::optional<std::size_t> fixed_base_engine;
    if (workers.bases != nullptr) {
      // They share a modulus and so a bucket.
      fixed_base_engine = workers.bases->engine_for(batch.buckets.front().items.size());
    }
    work.split = split_by_engine(workers.engines, job, batch.buckets, threads, fixed_base_engine);
    work.buckets = work.split.buckets;
  }
  work.jobs.assign(workers.engines.size(), job);
  if (workers.moduli != nullptr) {
    for (const Bucket& bucket : work.buckets) {
      work.jobs[bucket.engine].shared = workers.moduli->for_engine(bucket.engine);
    }
  }
  work.costs = bucket_costs(workers.engines, work.jobs, work.buckets);
  return work;
}

// Give each engine the comb of its own. It is made here where an engine is the choice for the first time, for
// so few exponents or for negative ones, and stopped by the callback.
// @return false if the callback asked to stop
bool give_combs(const PreparedBases& bases, const Progress& progress, std::size_t settled, Work& work) {
  std::atomic<bool> stop{false};
  Tick tick;
  if (progress.callback != nullptr) {
    tick = [&] { return wants_stop(progress, settled, work.jobs.front().result.count); };
  }
  Ticker ticker(tick, stop);
  const StopToken token(&stop, tick ? &ticker : nullptr);
  for (const Bucket& bucket : work.buckets) {
    Job& own = work.jobs[bucket.engine];
    own.fixed_base = bases.for_engine(bucket.engine, token);
    if (own.fixed_base == nullptr) return false;
  }
  return true;
}

void run_inline(const Workers& workers, const Work& work) {
  for (const Bucket& bucket : work.buckets) {
    workers.engines[bucket.engine].engine->run(work.jobs[bucket.engine], bucket.items, bucket.limbs);
  }
}

bool run_on_pool(const Workers& workers, const Work& work, std::size_t settled, std::size_t total,
                 unsigned threads, const Progress& progress) {
  const std::vector<Chunk> chunks = cut_chunks(work.buckets, work.costs, threads);
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> done{settled};
  bool cancelled = false;
  const ThreadPool::Body body = [&](std::size_t index, const StopToken& token) {
    const Chunk& chunk = chunks[index];
    const Bucket& bucket = work.buckets[chunk.bucket];
    Job own = work.jobs[bucket.engine];
    own.stop = token;
    const Items items = bucket.items.subspan(chunk.begin, chunk.end - chunk.begin);
    workers.engines[bucket.engine].engine->run(own, items, bucket.limbs);
    done.fetch_add(items.size(), std::memory_order_relaxed);
  };
  Tick tick;
  if (progress.callback != nullptr) {
    tick = [&] {
      cancelled = wants_stop(progress, done.load(std::memory_order_relaxed), total);
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

bool execute(const Workers& workers, Job job, const BucketedBatch& batch, unsigned threads,
             const Progress& progress) {
  if (batch.buckets.empty()) return true;
  job.stop = StopToken();
  Work work = divided(workers, job, batch, 1);
  const double total_ns = work.total_ns();
  const bool unobserved = progress.callback == nullptr || total_ns < kWorthProgressNs;
  const bool short_call = total_ns < kWorthThreadsNs;
  if (threads == 0 && !short_call) threads = default_threads();
  if (!short_call) threads = std::max(threads, work.threads_for_gpus(workers.engines));
  const bool on_caller = short_call || (threads == 1 && unobserved);
  if (!on_caller && threads > 1 && workers.engines.size() > 1) work = divided(workers, job, batch, threads);
  if (workers.bases != nullptr && !give_combs(*workers.bases, progress, batch.settled, work)) return false;
  if (!on_caller) return run_on_pool(workers, work, batch.settled, job.result.count, threads, progress);
  run_inline(workers, work);
  return true;
}

}  // namespace manymod
