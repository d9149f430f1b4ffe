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

// Buckets of one choice each, and their estimated costs.
struct Work {
  SplitBatch split;
  std::span<const Bucket> buckets;
  std::vector<WorkPart> parts;  ///< of the buckets

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
  work.parts.reserve(work.buckets.size());
  for (const Bucket& bucket : work.buckets) {
    const EngineChoice& choice = workers.engines[bucket.engine];
    Job seen = job;
    // On the CPU the modulus is prepared once, before several threads need it; on a GPU when the first items
    // go there.
    if (workers.moduli != nullptr && choice.gpus() == 0) seen.shared = workers.moduli->get(bucket.engine, 0);
    work.parts.push_back(work_part(choice, seen, bucket));
  }
  return work;
}

// Ensure that each choice has a comb. It is computed here, with progress, if a choice is used for the first
// time, such as that for few exponents or for negative ones.
// @return false if the callback requested a stop
bool prepare_combs(const PreparedBases& bases, const Progress& progress, std::size_t finished,
                   std::size_t total, const Work& work) {
  std::atomic<bool> stop{false};
  Tick tick;
  if (progress.observed()) {
    tick = [&] { return progress.wants_stop(finished, total); };
  }
  Ticker ticker(tick, stop);
  const StopToken token(&stop, tick ? &ticker : nullptr);
  return std::ranges::all_of(work.buckets,
                             [&](const Bucket& bucket) { return bases.prepare(bucket.engine, token); });
}

}  // namespace

WorkPart work_part(const EngineChoice& choice, Job job, const Bucket& bucket) {
  WorkPart part;
  part.items = bucket.items.size();
  part.granularity = std::max<std::size_t>(1, choice.placement.chunk_granularity(job, bucket.limbs));
  // Each GPU has at least a granule then.
  part.joins_rest = choice.placement.joins_rest(job, bucket.limbs) &&
                    part.items >= part.granularity * std::max(1u, choice.gpus());
  job.y.width = bucket.exponent_limbs;
  part.item_ns = choice.placement.item_cost_ns(job, bucket.limbs);
  part.weights = bucket.exponent_bits;
  part.fixed_weight = kFixedBits;
  part.total_ns = part.cost_ns(0, part.items) * padding(part.items, choice.lanes);
  return part;
}

void run_items(const Workers& workers, std::size_t index, const Job& job, const StopToken& stop, Items items,
               std::size_t modulus_limbs) {
  const Placement& placement = workers.engines[index].placement;
  const double item_ns = placement.gpus() == 0 ? 0 : placement.item_cost_ns(job, modulus_limbs);
  Job own = job;
  own.stop = stop;
  std::vector<std::size_t> rest;
  bool first = true;
  placement.run(item_ns * static_cast<double>(items.size()), [&](std::size_t place) {
    if (!first) items = rest = unfinished(own, items);
    first = false;
    if (workers.moduli != nullptr) own.shared = workers.moduli->get(index, place);
    if (workers.bases != nullptr) {
      own.fixed_base = workers.bases->get(index, place, stop);
      if (own.fixed_base == nullptr) return;  // stopped
    }
    placement.engine(place).run(own, items, modulus_limbs);
  });
}

bool compute_batch(const Workers& workers, const Job& job, const BucketedBatch& batch, unsigned threads,
                   const Progress& progress) {
  if (batch.buckets.empty()) return true;
  Work work = divide(workers, job, batch, 1);
  const Schedule schedule =
      schedule_for(total_ns(work.parts), threads, work.gpus(workers.engines), progress.observed());
  if (schedule.threads > 1 && workers.engines.size() > 1)
    work = divide(workers, job, batch, schedule.threads);
  if (workers.bases != nullptr &&
      !prepare_combs(*workers.bases, progress, batch.finished, job.result.count, work))
    return false;
  StopQuery wants_stop;
  if (progress.observed()) {
    wants_stop = [&](std::size_t done) {
      return progress.wants_stop(batch.finished + done, job.result.count);
    };
  }
  return execute(work.parts, schedule, wants_stop, [&](const Chunk& chunk, const StopToken& stop) {
    const Bucket& bucket = work.buckets[chunk.part];
    run_items(workers, bucket.engine, job, stop, bucket.items.subspan(chunk.begin, chunk.size()),
              bucket.limbs);
  });
}

}  // namespace manymod
