// SPDX-License-Identifier: Apache-2.0
#include "api/plan.hpp"

#include <algorithm>
#include <thread>

#include "api/batch_run.hpp"
#include "api/checks.hpp"
#include "api/select.hpp"
#include "dispatch/status_error.hpp"

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

// The lock if it comes free in a moment: its holders keep it for well under a microsecond. One that stays
// locked is a forked child's copy of a mutex that another thread of the parent held.
std::unique_lock<std::mutex> lock_without_waiting(std::mutex& mutex) {
  constexpr int kAttempts = 50;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int attempt = 1; attempt < kAttempts && !lock.owns_lock(); ++attempt) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace

CachedModulus::CachedModulus(const EngineSet& engines, std::span<const Limb> modulus,
                             std::size_t modulus_bits, Operation op, TimingClass timing)
    : value_(modulus.size()),
      class_(classify_modulus(modulus, modulus_bits, timing)),
      prepared_(engines, value(), op, timing) {
  std::copy(modulus.begin(), modulus.end(), value_.data());
}

bool CachedModulus::is(std::span<const Limb> modulus) const {
  const std::span<const Limb> own = value();
  if (modulus.size() != own.size()) return false;
  Limb difference = 0;
  for (std::size_t i = 0; i < own.size(); ++i) difference |= modulus[i] ^ own[i];
  return difference == 0;
}

Plan::Plan(const mm_plan_options& options)
    : op_(checked_plan_operation(options.op)),
      timing_(checked_timing(options.timing)),
      shared_(checked_shared(options.modulus_kind)),
      modulus_bits_(checked_modulus_bits(options.modulus_bits)),
      threads_(checked_threads(options.threads)),
      selection_(select_for(options, op_, timing_, modulus_bits_, shared_)),
      engines_(make_engines(selection_)) {}

std::shared_ptr<const CachedModulus> Plan::shared_modulus(const BatchView& modulus) {
  const std::span<const Limb> padded = modulus.magnitude(0);
  const std::span<const Limb> value = padded.first(limbs::normalized_size_var(padded));
  {
    const auto lock = lock_without_waiting(mutex_);
    if (lock.owns_lock() && last_modulus_ && last_modulus_->is(value)) return last_modulus_;
  }
  // Prepared, and the one before destroyed, outside the lock: other calls on this plan go on meanwhile.
  auto fresh = std::make_shared<const CachedModulus>(engines_, value, modulus_bits_, op_, timing_);
  std::shared_ptr<const CachedModulus> kept = fresh;
  {
    const auto lock = lock_without_waiting(mutex_);
    if (lock.owns_lock()) last_modulus_.swap(kept);
  }
  return fresh;
}

mm_status Plan::run(const mm_call& call) {
  if (call.count == 0) return MM_OK;
  if (shared_ && call.modulus.count != 1) {
    throw StatusError(MM_ERR_ARGUMENT, "modulus.count is " + std::to_string(call.modulus.count) +
                                           ", expected 1 in a plan for a shared modulus");
  }
  Job job = checked_job(call, op_, timing_, nullptr);
  const auto statuses = own_statuses(job);
  const Progress progress{call.progress, call.progress_user};
  if (!shared_ && (call.count == 1 || call.modulus.count != 1)) {
    return run_batch({engines_}, job, bucket_each(job, modulus_bits_), threads_, progress);
  }
  const std::shared_ptr<const CachedModulus> modulus = shared_modulus(job.modulus);
  const BucketedBatch batch = bucket_shared(job, modulus->modulus_class(), modulus->limbs());
  return run_batch({engines_, &modulus->prepared()}, job, batch, threads_, progress);
}

}  // namespace manymod
