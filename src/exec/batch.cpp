// SPDX-License-Identifier: Apache-2.0
#include "exec/batch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <vector>

#include "exec/splitting.hpp"

namespace manymod {
namespace {

// The part of an exponentiation's cost that does not depend on the exponent (conversions, the table), in
// bits of exponent.
constexpr double kFixedBits = 24;

// The vector slots that the engine computes per item: more than 1 where the last vector is not full.
double padding(std::size_t items, std::size_t lanes) {
  const std::size_t vectors = (items + lanes - 1) / lanes;
  return static_cast<double>(vectors * lanes) / static_cast<double>(items);
}

// The items without a result. The others must not be computed again: a result may have overwritten an
// operand.
std::vector<std::size_t> unfinished(const Job& job, Items items) {
  std::vector<std::size_t> rest;
  std::copy_if(items.begin(), items.end(), std::back_inserter(rest),
               [&](std::size_t item) { return job.status[item] == ItemStatus::not_computed; });
  return rest;
}

// Buckets of one choice each, their estimated costs, and the job as each choice sees it.
struct Work {
  SplitBatch split;
  std::span<const Bucket> buckets;
  std::vector<WorkPart> parts;  ///< of the buckets
  std::vector<Job> jobs;        ///< by choice

  [[nodiscard]] unsigned gpus(const EngineSet& engines) const {
    unsigned most = 0;
    for (const Bucket& bucket : buckets) most = std::max(most, engines[bucket.engine].gpus());
    return most;
  }
};

Work divide(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads) {
  Work work;
  work.buckets = batch.buckets;
  if (workers.engines.size() > 1) {
    std::optional<std::size_t> fixed_base_choice;
    if (workers.bases != nullptr) {
      // Powers of a fixed base share a modulus and so a bucket.
      fixed_base_choice = workers.bases->choice_for(batch.buckets.front().items.size());
    }
    work.split = split_by_engine(workers.engines, job, batch.buckets, threads, fixed_base_choice);
    work.buckets = work.split.buckets;
  }
  work.jobs.assign(workers.engines.size(), job);
  if (workers.moduli != nullptr) {
    for (const Bucket& bucket : work.buckets) {
      // On the CPU it is prepared once, before several threads need it; on a GPU when the first items go
      // there.
      if (workers.engines[bucket.engine].gpus() > 0) continue;
      work.jobs[bucket.engine].shared = workers.moduli->get(bucket.engine, 0);
    }
  }
  work.parts = work_parts(workers.engines, work.jobs, work.buckets);
  return work;
}

// Ensure that each choice has a comb. It is computed here, with progress, if a choice is used for the first
// time, such as that for few exponents or for negative ones.
// @return false if the callback requested a stop
bool prepare_combs(const PreparedBases& bases, const Progress& progress, std::size_t finished,
                   const Work& work) {
  std::atomic<bool> stop{false};
  Tick tick;
  if (progress.observed()) {
    tick = [&] { return progress.wants_stop(finished, work.jobs.front().result.count); };
  }
  Ticker ticker(tick, stop);
  const StopToken token(&stop, tick ? &ticker : nullptr);
  return std::ranges::all_of(work.buckets,
                             [&](const Bucket& bucket) { return bases.prepare(bucket.engine, token); });
}

}  // namespace

std::vector<WorkPart> work_parts(const EngineSet& engines, std::span<const Job> jobs,
                                 std::span<const Bucket> buckets) {
  std::vector<WorkPart> parts;
  parts.reserve(buckets.size());
  for (const Bucket& bucket : buckets) {
    const EngineChoice& choice = engines[bucket.engine];
    Job sized = jobs[bucket.engine];
    sized.y.width = bucket.exponent_limbs;
    WorkPart part;
    part.items = bucket.items.size();
    part.granularity =
        std::max<std::size_t>(1, choice.placement.chunk_granularity(jobs[bucket.engine], bucket.limbs));
    part.item_ns = choice.placement.item_cost_ns(sized, bucket.limbs);
    part.weights = bucket.exponent_bits;
    part.fixed_weight = kFixedBits;
    part.total_ns = part.cost_ns(0, part.items) * padding(part.items, choice.lanes);
    parts.push_back(part);
  }
  return parts;
}

void run_items(const Workers& workers, std::size_t index, const Job& job, Items items,
               std::size_t modulus_limbs) {
  const Placement& placement = workers.engines[index].placement;
  const double item_ns = placement.gpus() == 0 ? 0 : placement.item_cost_ns(job, modulus_limbs);
  std::vector<std::size_t> rest;
  bool first = true;
  placement.run(item_ns * static_cast<double>(items.size()), [&](std::size_t place) {
    if (!first) items = rest = unfinished(job, items);
    first = false;
    Job own = job;
    if (workers.moduli != nullptr) own.shared = workers.moduli->get(index, place);
    if (workers.bases != nullptr) {
      own.fixed_base = workers.bases->get(index, place, job.stop);
      if (own.fixed_base == nullptr) return;  // stopped
    }
    placement.engine(place).run(own, items, modulus_limbs);
  });
}

bool compute_batch(const Workers& workers, Job job, const BucketedBatch& batch, unsigned threads,
                   const Progress& progress) {
  if (batch.buckets.empty()) return true;
  job.stop = StopToken();
  Work work = divide(workers, job, batch, 1);
  const Schedule schedule =
      schedule_for(total_ns(work.parts), threads, work.gpus(workers.engines), progress.observed());
  if (schedule.threads > 1 && workers.engines.size() > 1)
    work = divide(workers, job, batch, schedule.threads);
  if (workers.bases != nullptr && !prepare_combs(*workers.bases, progress, batch.finished, work))
    return false;
  StopQuery wants_stop;
  if (progress.observed()) {
    wants_stop = [&](std::size_t done) {
      return progress.wants_stop(batch.finished + done, job.result.count);
    };
  }
  return execute(work.parts, schedule, wants_stop, [&](const Chunk& chunk, const StopToken& stop) {
    const Bucket& bucket = work.buckets[chunk.part];
    Job own = work.jobs[bucket.engine];
    own.stop = stop;
    run_items(workers, bucket.engine, own, bucket.items.subspan(chunk.begin, chunk.size()), bucket.limbs);
  });
}

}  // namespace manymod
