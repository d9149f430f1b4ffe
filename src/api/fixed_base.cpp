// SPDX-License-Identifier: Apache-2.0
#include "api/fixed_base.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "api/checks.hpp"
#include "core/status_error.hpp"
#include "exec/progress.hpp"
#include "repr/copied.hpp"

namespace manymod {
namespace {

BatchView checked_single(const mm_view& view, const char* what) {
  if (view.count != 1) {
    throw StatusError(MM_ERR_ARGUMENT,
                      std::string(what) + ".count is " + std::to_string(view.count) + ", expected 1");
  }
  return checked_view(view, what);
}

std::size_t checked_exponent_bits(std::size_t bits) {
  if (bits >= 1 && bits <= kMaxCombExponentBits) return bits;
  throw StatusError(MM_ERR_ARGUMENT, "exponent_bits is " + std::to_string(bits) + ", expected 1 to " +
                                         std::to_string(kMaxCombExponentBits));
}

std::uint8_t is_negative(const mm_view& view) {
  return view.negative != nullptr && view.negative[0] != 0 ? 1 : 0;
}

ModulusClass checked_class(std::span<const Limb> modulus, TimingClass timing) {
  const ModulusClass modulus_class = classify_modulus(modulus, kMaxModulusBits, timing);
  if (modulus_class == ModulusClass::compute || modulus_class == ModulusClass::unit) return modulus_class;
  throw StatusError(
      MM_ERR_ARGUMENT,
      std::string("modulus: ") + mm_status_message(static_cast<mm_status>(initial_status(modulus_class))));
}

// The items whose exponent has more than `limbs` limbs. Timing: their statuses tell as much; all else is
// constant-time in the exponents.
std::vector<std::size_t> wide_exponents(const Job& job, std::size_t limbs) {
  std::vector<std::size_t> wide;
  for (std::size_t i = 0; i < job.result.count; ++i) {
    if (limbs::is_zero(job.y.magnitude(i).subspan(limbs)) == 0) wide.push_back(i);
  }
  return wide;
}

// Call prepare(token), where the token lets the caller's progress callback stop the preparation.
template <class Prepare>
void prepare_observed(const Progress& progress, Prepare&& prepare) {
  if (!progress.observed()) {
    prepare(StopToken());
    return;
  }
  std::atomic<bool> stop{false};
  const Tick tick = [&progress] { return progress.wants_stop(0, 1); };
  Ticker ticker(tick, stop);
  prepare(StopToken(&stop, &ticker));
  if (stop) throw StatusError(MM_ERR_CANCELLED, "cancelled by the progress callback; there is no fixed base");
}

}  // namespace

FixedBase::FixedBase(const mm_fixed_base_options& options, const mm_view& base, const mm_view& modulus)
    : timing_(checked_timing(options.timing)),
      base_(limbs::copied(checked_single(base, "base").magnitude(0))),
      base_negative_(is_negative(base)),
      exponent_bits_(checked_exponent_bits(options.exponent_bits)),
      threads_(checked_threads(options.threads)),
      modulus_(limbs::normalized_var(checked_single(modulus, "modulus").magnitude(0))),
      negative_(is_negative(modulus)),
      has_signs_(modulus.negative != nullptr),
      modulus_class_(checked_class(magnitude(), timing_)),
      selection_options_(options, Operation::fixed_base_powmod, timing_, limbs::bit_length_var(magnitude()),
                         true),
      selection_(selection_options_.select()),
      engines_(make_engines(selection_)) {
  if (modulus_class_ == ModulusClass::unit) return;
  bases_.emplace(engines_, base_view(), magnitude(), exponent_bits_, timing_);
  prepare_observed({options.progress, options.progress_user}, [this](const StopToken& stop) {
    static_cast<void>(bases_->prepare(bases_->main_choice(), stop));
  });
}

BatchView FixedBase::modulus_view() const {
  return {modulus_.data(), 1, modulus_.size(), modulus_.size(), has_signs_ ? &negative_ : nullptr};
}

BatchView FixedBase::base_view() const {
  return {base_.data(), 1, base_.size(), base_.size(), &base_negative_};
}

mm_status FixedBase::powmod(const mm_call& call) const {
  if (call.count == 0) return MM_OK;
  const BatchView modulus = modulus_view();
  Job job = checked_job(call, Operation::fixed_base_powmod, timing_, &modulus);
  const auto statuses = own_statuses(job);
  const std::size_t limbs = limbs_for_bits(exponent_bits_);
  const bool too_wide = timing_ == TimingClass::secret && job.y.width > limbs;
  if (uses_device_memory(job)) {
    if (!too_wide) return run_resident(call, job);
    throw StatusError(MM_ERR_ARGUMENT, "y.width is " + std::to_string(job.y.width) +
                                           " limbs, but the constant-time comb serves " +
                                           std::to_string(exponent_bits_) + "-bit exponents");
  }
  std::vector<std::size_t> refused;
  if (too_wide) {
    refused = wide_exponents(job, limbs);
    job.y.width = limbs;
  }
  return compute(engines_, bases_, job, refused, {call.progress, call.progress_user}, {});
}

mm_status FixedBase::run_resident(const mm_call& call, Job& job) const {
  const Resident& resident = resident_.get(call.device_index, [this](gpu::Device& device) {
    auto fresh = std::make_unique<Resident>(selection_options_, device, timing_);
    if (modulus_class_ != ModulusClass::unit) {
      fresh->bases.emplace(fresh->engines.engines(), base_view(), magnitude(), exponent_bits_, timing_);
    }
    return fresh;
  });
  const gpu::ResidentArrays& arrays = resident.engines.arrays();
  ResidentCall arrays_of_call(call, arrays, job);
  arrays_of_call.prepare(kMaxModulusBits, job);
  return compute(resident.engines.engines(), resident.bases, job, {}, {call.progress, call.progress_user},
                 [&](Items items) { arrays.zero(job.result, items); });
}

mm_status FixedBase::compute(const EngineSet& engines, const std::optional<PreparedBases>& bases,
                             const Job& job, std::span<const std::size_t> refused, const Progress& progress,
                             const ZeroItems& zero) const {
  BucketedBatch batch = bucket_shared(job, modulus_class_, modulus_.size(), threads_);
  take_out(job, refused, ItemStatus::exponent_too_wide, batch);
  return run_batch({engines, nullptr, bases ? &*bases : nullptr}, job, batch, threads_, progress, zero);
}

}  // namespace manymod
