// SPDX-License-Identifier: Apache-2.0
#include "dispatch/chooser.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace manymod {
namespace {

bool applies_to(const TuningRow& row, const VariantRequest& request) {
  return row.op == request.op && row.timing == request.timing && row.min_bits <= request.modulus_bits &&
         request.modulus_bits <= row.max_bits;
}

// The least number of items of a variant without a tuning row. With every technique so far, vectors that are
// half full have been faster than single items, and thousands of items keep a GPU busy. A GPU that was
// requested by name takes any number.
constexpr std::size_t kUnmeasuredGpuItems = 4096;
std::size_t unmeasured_min_items(const Variant& variant, const VariantRequest& request) {
  if (variant.backend == Backend::cpu) return std::max(1u, variant.instances / 2);
  return request.device == "auto" ? kUnmeasuredGpuItems : 1;
}

void sort_by_priority(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.variant->priority > b.variant->priority;
  });
}

// The variant for failover from GPUs to the CPU.
const Variant* general_on_cpu(const Candidate* general) {
  const bool is_one = general != nullptr && general->variant->backend == Backend::cpu;
  return is_one ? general->variant : nullptr;
}

}  // namespace

Chooser::Chooser(const VariantRequest& request, std::span<const TuningRow> tuning,
                 std::vector<Candidate> usable, std::vector<Candidate> on_cpu)
    : request_(request),
      tuning_(tuning),
      usable_(std::move(usable)),
      on_cpu_(std::move(on_cpu)),
      largest_gpu_(largest_gpu(usable_)) {
  sort_by_priority(usable_);
  sort_by_priority(on_cpu_);
}

Selection Chooser::best() {
  if (const Candidate* const rows = row_variant()) add(*rows, 1);
  for (const TuningRow& row : tuning_) {
    if (const Candidate* candidate = named_by(row, usable_)) add(*candidate, row.min_items);
  }
  add_unmeasured(
      [this](const Candidate& candidate) { return uses_largest_gpu(candidate) && transfer_pays(candidate); });
  add_unmeasured([](const Candidate&) { return true; });
  const Candidate* general = general_variant_of(usable_);
  if (chosen_.choices.back().min_items > 1) {
    if (general != nullptr) {
      add(*general, 1);
    } else {
      chosen_.choices.back().min_items = 1;
    }
  }
  return with_fallback();
}

Selection Chooser::forced(const Candidate& candidate) {
  add(candidate, 1);
  return with_fallback();
}

// ---- candidates ------------------------------------------------------------------------------------------

const Candidate* Chooser::named_by(const TuningRow& row, const std::vector<Candidate>& among) const {
  if (!applies_to(row, request_)) return nullptr;
  for (const Candidate& candidate : among) {
    if (candidate.variant->name == row.variant && uses_largest_gpu(candidate)) return &candidate;
  }
  return nullptr;
}

bool Chooser::computes_rows(const Candidate& candidate) const {
  return contains(candidate.variant->row_operations, request_.op);
}

const Candidate* Chooser::row_variant() const {
  if (request_.device == "auto") return nullptr;
  const auto found = std::ranges::find_if(usable_, [this](const Candidate& candidate) {
    return computes_rows(candidate) && uses_largest_gpu(candidate);
  });
  return found == usable_.end() ? nullptr : &*found;
}

const Candidate* Chooser::after_rows() const {
  const auto is_for_rows = [](const Choice& choice) { return choice.variant->row_operations != 0; };
  const auto is_other = [this](const Candidate& candidate) {
    return candidate.variant->backend != Backend::cpu && !computes_rows(candidate);
  };
  if (request_.forced || std::ranges::none_of(chosen_.choices, is_for_rows)) return nullptr;
  for (const TuningRow& row : tuning_) {
    const Candidate* const candidate = named_by(row, usable_);
    if (candidate != nullptr && is_other(*candidate)) return candidate;
  }
  const auto found = std::ranges::find_if(usable_, [&](const Candidate& candidate) {
    return is_other(candidate) && !candidate.variant->comparison_only && uses_largest_gpu(candidate);
  });
  return found == usable_.end() ? nullptr : &*found;
}

const Candidate* Chooser::general_variant_of(const std::vector<Candidate>& among) const {
  for (const TuningRow& row : tuning_) {
    const Candidate* candidate = named_by(row, among);
    if (candidate != nullptr && candidate->variant->accepts_every_item) return candidate;
  }
  for (const Candidate& candidate : among) {
    if (candidate.variant->accepts_every_item) return &candidate;
  }
  return nullptr;
}

bool Chooser::transfer_pays(const Candidate& candidate) const {
  const bool takes_long = has_exponent(request_.op) || request_.op == Operation::invmod;
  return candidate.variant->backend == Backend::cpu || request_.device != "auto" || takes_long;
}

bool Chooser::uses_largest_gpu(const Candidate& candidate) const {
  if (candidate.variant->backend == Backend::cpu) return true;
  const std::vector<const Device*>& devices = candidate.devices;
  return std::find(devices.begin(), devices.end(), largest_gpu_) != devices.end() &&
         suits(*candidate.variant, largest_gpu_);
}

// ---- choices ---------------------------------------------------------------------------------------------

Choice Chooser::choice_of(const Candidate& candidate, std::size_t min_items) const {
  const bool shared = request_.timing == TimingClass::public_ &&
                      contains(candidate.variant->shared_modulus_operations, request_.op);
  return {candidate.variant, best_devices(candidate), min_items, shared};
}

void Chooser::add(const Candidate& candidate, std::size_t min_items) {
  std::vector<Choice>& choices = chosen_.choices;
  if (!choices.empty() && min_items >= choices.back().min_items) return;
  choices.push_back(choice_of(candidate, min_items));
}

template <class Condition>
void Chooser::add_unmeasured(Condition&& condition) {
  if (!chosen_.choices.empty()) return;
  for (const Candidate& candidate : usable_) {
    if (condition(candidate)) add(candidate, unmeasured_min_items(*candidate.variant, request_));
  }
}

Selection Chooser::with_fallback() {
  if (const Candidate* const next = after_rows()) {
    chosen_.choices.push_back(choice_of(*next, kFallbackOnly));
  }
  const Candidate* general = general_variant_of(usable_);
  if (general == nullptr) general = general_variant_of(on_cpu_);
  const bool has_one = std::ranges::any_of(
      chosen_.choices, [](const Choice& choice) { return choice.variant->accepts_every_item; });
  if (!has_one && general != nullptr) {
    chosen_.choices.push_back(choice_of(*general, kFallbackOnly));
  }
  chosen_.shared_modulus = request_.shared_modulus;
  if (request_.device == "auto") chosen_.cpu_fallback = general_on_cpu(general);
  return chosen_;
}

}  // namespace manymod
