// SPDX-License-Identifier: Apache-2.0
#include "api/fixed_base.hpp"

#include "api/batch_run.hpp"
#include "api/checks.hpp"
#include "dispatch/status_error.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

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

std::vector<Limb> normalized(const BatchView& view) {
  const std::span<const Limb> padded = view.magnitude(0);
  const std::span<const Limb> value = padded.first(limbs::normalized_size_var(padded));
  return {value.begin(), value.end()};
}

ModulusClass checked_class(std::span<const Limb> modulus, TimingClass timing) {
  const ModulusClass modulus_class = classify_modulus(modulus, kMaxModulusBits, timing);
  if (modulus_class == ModulusClass::compute || modulus_class == ModulusClass::unit) return modulus_class;
  throw StatusError(
      MM_ERR_ARGUMENT,
      std::string("modulus: ") + mm_status_message(static_cast<mm_status>(initial_status(modulus_class))));
}

Selection select_for(const mm_fixed_base_options& options, std::span<const Limb> modulus,
                     TimingClass timing) {
  VariantRequest request;
  request.op = Operation::fixed_base_powmod;
  request.timing = timing;
  request.modulus_bits = limbs::bit_length_var(modulus);
  if (options.device != nullptr) request.device = options.device;
  apply_forced_variant(request, options.variant);
  return select_variant(request);
}

}  // namespace

FixedBase::FixedBase(const mm_fixed_base_options& options, const mm_view& base, const mm_view& modulus)
    : timing_(checked_timing(options.timing)),
      exponent_bits_(checked_exponent_bits(options.exponent_bits)),
      threads_(options.threads),
      modulus_(normalized(checked_single(modulus, "modulus"))),
      negative_(modulus.negative != nullptr && modulus.negative[0] != 0 ? 1 : 0),
      has_signs_(modulus.negative != nullptr),
      modulus_class_(checked_class(modulus_, timing_)),
      selection_(select_for(options, modulus_, timing_)),
      engine_(selection_.variant->make_engine()) {
  const BatchView base_view = checked_single(base, "base");
  if (modulus_class_ == ModulusClass::unit) return;
  prepared_ = engine_->prepare_base(base_view, modulus_, exponent_bits_, timing_);
}

FixedBase::~FixedBase() { wipe(modulus_); }

BatchView FixedBase::modulus_view() const {
  return {modulus_.data(), 1, modulus_.size(), modulus_.size(), has_signs_ ? &negative_ : nullptr};
}

mm_status FixedBase::powmod(const mm_call& call) const {
  if (call.count == 0) return MM_OK;
  const BatchView modulus = modulus_view();
  Job job = checked_job(call, Operation::fixed_base_powmod, timing_, &modulus);
  if (timing_ == TimingClass::secret && job.y.width > limbs_for_bits(exponent_bits_)) {
    throw StatusError(MM_ERR_ARGUMENT, "y.width is " + std::to_string(job.y.width) +
                                           " limbs, but the secret comb serves " +
                                           std::to_string(exponent_bits_) + "-bit exponents");
  }
  job.fixed_base = prepared_.get();
  const auto statuses = own_statuses(job);
  const BucketedBatch batch = bucket_shared(job, modulus_class_, modulus_.size());
  return run_batch(*engine_, job, batch, threads_, {call.progress, call.progress_user});
}

}  // namespace manymod
