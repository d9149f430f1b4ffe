// SPDX-License-Identifier: Apache-2.0
#include "api/plan.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "api/checks.hpp"
#include "core/status_error.hpp"

namespace manymod {
namespace {

std::size_t checked_modulus_bits(std::size_t bits) {
  if (bits >= 1 && bits <= MM_MAX_MODULUS_BITS) return bits;
  throw StatusError(MM_ERR_ARGUMENT, "modulus_bits is " + std::to_string(bits) + ", expected 1 to " +
                                         std::to_string(MM_MAX_MODULUS_BITS));
}

Operation checked_plan_operation(const mm_op& op) {
  const Operation operation = checked_operation(op);
  if (operation != Operation::fixed_base_powmod) return operation;
  throw StatusError(MM_ERR_ARGUMENT, "fixed_base_powmod has no plan; use mm_fixed_base_create");
}

}  // namespace

Plan::Plan(const mm_plan_options& options)
    : op_(checked_plan_operation(options.op)),
      timing_(checked_timing(options.timing)),
      shared_(checked_shared(options.modulus_kind)),
      modulus_bits_(checked_modulus_bits(options.modulus_bits)),
      threads_(checked_threads(options.threads)),
      selection_options_(options, op_, timing_, modulus_bits_, shared_),
      selection_(selection_options_.select()),
      engines_(make_engines(selection_)),
      moduli_(engines_) {}

mm_status Plan::run(const mm_call& call) const {
  if (call.count == 0) return MM_OK;
  if (shared_ && call.modulus.count != 1) {
    throw StatusError(MM_ERR_ARGUMENT, "modulus.count is " + std::to_string(call.modulus.count) +
                                           ", expected 1 in a plan for a shared modulus");
  }
  Job job = checked_job(call, op_, timing_, nullptr);
  if (uses_device_memory(job)) return run_resident(call, job);
  const auto statuses = own_statuses(job);
  return compute(engines_, moduli_, job, {call.progress, call.progress_user}, {});
}

mm_status Plan::run_resident(const mm_call& call, Job& job) const {
  const Resident& resident = resident_.get(call.device_index, [this](gpu::Device& device) {
    return std::make_unique<const Resident>(selection_options_, device, timing_);
  });
  const gpu::ResidentArrays& arrays = resident.engines.arrays();
  ResidentCall arrays_of_call(call, arrays, job);
  if (const std::optional<mm_status> outcome = run_rows(call, resident, arrays_of_call, job)) return *outcome;
  const auto statuses = own_statuses(job);
  arrays_of_call.prepare(modulus_bits_, job);
  return compute(resident.engines.engines(), resident.moduli, job, {call.progress, call.progress_user},
                 [&](Items items) { arrays.zero(job.result, items); });
}

std::optional<mm_status> Plan::run_rows(const mm_call& call, const Resident& resident, ResidentCall& arrays,
                                        Job& job) const {
  const ResidentRows* const rows = resident.engines.rows();
  if (rows == nullptr || !rows->accepts_call(job)) return std::nullopt;
  std::shared_ptr<const CachedModulus> modulus;
  Job seen = job;
  if (job.modulus.broadcast()) {
    arrays.fetch_modulus(job);
    modulus = resident.moduli.get(job.modulus, modulus_bits_, op_, timing_);
    if (modulus->modulus_class() != ModulusClass::compute) return std::nullopt;
    seen.modulus = job.modulus;
    seen.shared = modulus->prepared().get(0, 0);
  }
  const std::vector<ModulusClass> classes = rows->run_call(seen, modulus_bits_, call.stream);
  if (classes.empty()) {
    if (job.status != nullptr) std::fill_n(job.status, job.result.count, ItemStatus::ok);
    return MM_OK;
  }
  const auto statuses = own_statuses(job);
  std::ranges::transform(classes, job.status, [](ModulusClass of_item) {
    return of_item == ModulusClass::compute ? ItemStatus::ok : initial_status(of_item);
  });
  return summarised(job, true);
}

// Buckets for a call with a modulus per item.
BucketedBatch Plan::bucketed(const Job& job) const {
  if (job.facts == nullptr || !job.facts->all_moduli) return bucket_each(job, modulus_bits_, threads_);
  const ModulusFact& modulus = *job.facts->all_moduli;
  BucketedBatch batch = bucket_shared(job, modulus.modulus_class, modulus.limbs, threads_);
  for (Bucket& bucket : batch.buckets) bucket.all_odd = modulus.odd != 0;
  return batch;
}

mm_status Plan::compute(const EngineSet& engines, const ModulusCache& moduli, const Job& job,
                        const Progress& progress, const ZeroItems& zero) const {
  if (!shared_ && (job.result.count == 1 || job.modulus.count != 1)) {
    return run_batch({engines}, job, bucketed(job), threads_, progress, zero);
  }
  const std::shared_ptr<const CachedModulus> modulus = moduli.get(job.modulus, modulus_bits_, op_, timing_);
  const BucketedBatch batch = bucket_shared(job, modulus->modulus_class(), modulus->limbs(), threads_);
  Job with_copy = job;
  if (modulus->modulus_class() == ModulusClass::compute) with_copy.modulus = modulus->view_of(job.modulus);
  return run_batch({engines, &modulus->prepared()}, with_copy, batch, threads_, progress, zero);
}

}  // namespace manymod
