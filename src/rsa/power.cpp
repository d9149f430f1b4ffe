// SPDX-License-Identifier: Apache-2.0
#include "rsa/power.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "exec/batch.hpp"
#include "repr/limbs.hpp"

namespace manymod::rsa {

PowerEngines::PowerEngines(const mm_rsa_ring_options& options, TimingClass timing, std::size_t limbs)
    : timing_(timing),
      limbs_(limbs),
      selection_(SelectionOptions(options, Operation::powmod, timing, limbs * kLimbBits, true).select()),
      engines_(make_engines(selection_)) {}

unsigned PowerEngines::gpus() const {
  unsigned most = 0;
  for (std::size_t i = 0; i < engines_.size(); ++i) most = std::max(most, engines_[i].gpus());
  return most;
}

std::optional<PowerGpu> PowerEngines::gpu_for(std::size_t powers) const {
  if (!on_gpus(powers)) return std::nullopt;
  return PowerGpu{engines_, engines_.for_items(powers), 0};
}

std::size_t PowerEngines::gpu_wave(std::size_t powers) const {
  const EngineChoice& choice = choice_for(powers);
  if (choice.gpus() == 0) return 0;
  // A GPU that cannot be used has a wave of one item.
  const std::size_t wave = choice.placement.chunk_granularity(Job(), limbs_);
  return wave > 1 ? wave : 0;
}

double PowerEngines::power_ns(std::size_t choice, std::size_t exponent_limbs) const {
  Job job;
  job.op = Operation::powmod;
  job.timing = timing_;
  job.x.width = limbs_;
  job.y.width = exponent_limbs;
  return engines_[choice].placement.item_cost_ns(job, limbs_);
}

bool PowerEngines::worth_sharing(std::size_t rows, std::size_t all_rows, std::size_t row_powers,
                                 unsigned threads) const {
  const EngineChoice& choice = choice_for(all_rows * row_powers);
  if (rows == all_rows && (choice.gpus() > 0 || row_powers == 1)) return true;
  if (choice.gpus() > 0) return false;
  if (threads == 0) threads = default_threads();
  return rows >= choice.placement.chunk_granularity(Job(), limbs_) * threads;
}

bool compute_powers(const PowerEngines& engines, const PowerBatch& batch, unsigned threads,
                    const ProgressPart& progress) {
  std::vector<ItemStatus> statuses(batch.result.count, ItemStatus::not_computed);
  Job job;
  job.op = Operation::powmod;
  job.timing = engines.timing();
  job.public_exponent = batch.public_exponent;
  job.x = batch.x;
  job.y = batch.y;
  job.modulus = batch.modulus;
  job.result = batch.result;
  job.status = statuses.data();
  BucketedBatch bucketed;
  Bucket& bucket = bucketed.buckets.emplace_back();
  bucket.limbs = batch.limbs;
  bucket.items = batch.rows;
  bucket.exponent_limbs = batch.y.width;
  bucket.all_odd = true;
  bucketed.finished = batch.result.count - batch.rows.size();
  if (!compute_batch({engines.set(), batch.shared}, job, bucketed, threads, progress.nested())) return false;
  const bool all = std::all_of(batch.rows.begin(), batch.rows.end(),
                               [&](std::size_t row) { return statuses[row] == ItemStatus::ok; });
  if (!all) throw std::logic_error("a power of an RSA key was not computed");
  return true;
}

bool PooledPowers::compute(unsigned threads, const ProgressPart& progress) {
  const auto all = static_cast<double>(powers_.size());
  auto begin = powers_.begin();
  while (begin != powers_.end()) {
    const PowerEngines* engines = begin->engines;
    const auto end = std::partition(begin, powers_.end(),
                                    [engines](const Power& power) { return power.engines == engines; });
    const ProgressPart part = progress.part(static_cast<double>(begin - powers_.begin()) / all,
                                            static_cast<double>(end - begin) / all);
    if (!compute_some(std::span<const Power>(begin, end), threads, part)) return false;
    begin = end;
  }
  return true;
}

bool PooledPowers::compute_some(std::span<const Power> powers, unsigned threads,
                                const ProgressPart& progress) const {
  const std::size_t count = powers.size();
  const std::size_t limbs = powers.front().modulus.size();
  limbs::Buffer x(count * x_limbs_);
  limbs::Buffer exponents(count * limbs);
  limbs::Buffer moduli(count * limbs);
  limbs::Buffer results(count * limbs);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(powers[i].x, x_limbs_, x.data() + i * x_limbs_);
    limbs::copy_extend(exponents.part(i * limbs, limbs), powers[i].exponent);
    limbs::copy_extend(moduli.part(i * limbs, limbs), powers[i].modulus);
  }
  const std::vector<std::size_t> rows = all_rows(count);
  PowerBatch batch;
  batch.x = {x.data(), count, x_limbs_, x_limbs_, nullptr};
  batch.y = {exponents.data(), count, limbs, limbs, nullptr};
  batch.modulus = {moduli.data(), count, limbs, limbs, nullptr};
  batch.result = {results.data(), count, limbs, limbs, nullptr};
  batch.limbs = limbs;
  batch.rows = rows;
  if (!compute_powers(*powers.front().engines, batch, threads, progress)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(results.data() + i * limbs, limbs, powers[i].target);
  }
  return true;
}

std::vector<std::size_t> all_rows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace manymod::rsa
