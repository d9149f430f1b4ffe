// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "core/cpu_features.hpp"
#include "core/status_error.hpp"

namespace manymod {
namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Range, class Name>
std::string joined(const Range& range, Name&& name) {
  std::string text;
  for (const auto& element : range) {
    if (!text.empty()) text += ", ";
    text += name(element);
  }
  return text.empty() ? "none" : text;
}

std::string device_names(std::span<const Device> devices) {
  return joined(devices, [](const Device& d) { return d.name; });
}

std::string with_commas(std::string names) {
  for (std::size_t at = names.find(' '); at != std::string::npos; at = names.find(' ', at + 2)) {
    names.replace(at, 1, ", ");
  }
  return names;
}

constexpr unsigned kNoLimit = std::numeric_limits<unsigned>::max();

std::string capability(unsigned value) {
  return std::to_string(value / 10) + "." + std::to_string(value % 10);
}

std::string task_name(const VariantRequest& request) {
  return std::string(operation_name(request.op)) + " in timing class " +
         std::string(timing_name(request.timing)) + " at " + std::to_string(request.modulus_bits) + " bits";
}

// Why the variant cannot do the task on any hardware; "" if it can.
std::string task_obstacle(const Variant& variant, const VariantRequest& request) {
  if (!offers(variant, request.op, request.timing)) {
    return "does not offer " + std::string(operation_name(request.op)) + " in timing class " +
           std::string(timing_name(request.timing));
  }
  if (request.modulus_bits < variant.min_bits || request.modulus_bits > variant.max_bits) {
    return "serves moduli of " + std::to_string(variant.min_bits) + " to " +
           std::to_string(variant.max_bits) + " bits, not " + std::to_string(request.modulus_bits);
  }
  return {};
}

std::vector<const Device*> devices_of_backend(std::span<const Device> devices, Backend backend) {
  std::vector<const Device*> matching;
  for (const Device& device : devices) {
    if (device.backend == backend) matching.push_back(&device);
  }
  return matching;
}

bool is_cuda_index(std::string_view name) {
  if (!name.starts_with("cuda:") || name.size() == 5) return false;
  unsigned index = 0;
  const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), index);
  return error == std::errc() && end == name.data() + name.size();
}

std::vector<const Device*> devices_named(std::string_view name, std::span<const Device> devices) {
  std::vector<const Device*> matching;
  if (name == "auto") {
    for (const Device& device : devices) matching.push_back(&device);
    return matching;
  }
  if (name == "cpu") return devices_of_backend(devices, Backend::cpu);
  if (name != "cuda" && !is_cuda_index(name)) {
    throw StatusError(
        MM_ERR_UNKNOWN_DEVICE,
        "unknown device " + in_quotes(name) +
            ": expected 'auto', 'cpu', 'cuda' or 'cuda:K'; devices here: " + device_names(devices));
  }
  matching = devices_of_backend(devices, Backend::cuda);
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE, "no CUDA device found: device " + in_quotes(name) +
                                                 " asked for, devices here: " + device_names(devices));
  }
  if (name == "cuda") return matching;
  std::erase_if(matching, [name](const Device* device) { return device->name != name; });
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE,
                      "no device " + in_quotes(name) + "; devices here: " + device_names(devices));
  }
  return matching;
}

// Multiprocessors of unlike GPUs are not the same, but nothing else tells before a measurement.
bool is_larger(const Device* a, const Device* b) {
  if (a->units != b->units) return a->units > b->units;
  return a->full_rate_doubles && !b->full_rate_doubles;
}

// Largest first.
std::vector<const Device*> devices_for(const Variant& variant, const std::vector<const Device*>& among) {
  std::vector<const Device*> able;
  for (const Device* device : among) {
    if (hardware_obstacle(variant, *device).empty()) able.push_back(device);
  }
  std::stable_sort(able.begin(), able.end(), is_larger);
  return able;
}

struct Candidate {
  const Variant* variant = nullptr;
  std::vector<const Device*> devices;  // that can run it, the largest first
};

bool suits(const Variant& variant, const Device* device) {
  return !variant.wants_fast_doubles || device->full_rate_doubles;
}

// Those that it suits, where there are any.
std::vector<const Device*> best_devices(const Candidate& candidate) {
  std::vector<const Device*> best;
  for (const Device* device : candidate.devices) {
    if (suits(*candidate.variant, device)) best.push_back(device);
  }
  return best.empty() ? candidate.devices : best;
}

// Null where no GPU can run any.
const Device* largest_gpu(const std::vector<Candidate>& candidates) {
  const Device* largest = nullptr;
  for (const Candidate& candidate : candidates) {
    const Device* const own = candidate.devices.front();
    if (own->backend == Backend::cuda && (largest == nullptr || is_larger(own, largest))) largest = own;
  }
  return largest;
}

std::vector<Candidate> candidates(const VariantRequest& request, const Catalogue& from,
                                  const std::vector<const Device*>& among) {
  std::vector<Candidate> usable;
  for (const Variant& variant : from.variants) {
    if (!task_obstacle(variant, request).empty()) continue;
    Candidate candidate{&variant, devices_for(variant, among)};
    if (!candidate.devices.empty()) usable.push_back(std::move(candidate));
  }
  return usable;
}

bool speaks_for(const TuningRow& row, const VariantRequest& request) {
  return row.op == request.op && row.timing == request.timing && row.min_bits <= request.modulus_bits &&
         request.modulus_bits <= row.max_bits;
}

// Without a measurement: vectors that are half full beat one item at a time on every technique so far, and
// some thousands of items keep a GPU busy, which one that was asked for by name need not be.
constexpr std::size_t kUnmeasuredGpuItems = 4096;
std::size_t unmeasured_min_items(const Variant& variant, const VariantRequest& request) {
  if (variant.backend == Backend::cpu) return std::max(1u, variant.instances / 2);
  return request.device == "auto" ? kUnmeasuredGpuItems : 1;
}

// Puts together a plan's list of choices.
class Chooser {
 public:
  /// `helpers`: for what the usable variants do not accept.
  Chooser(const VariantRequest& request, std::span<const TuningRow> tuning, std::vector<Candidate> usable,
          std::vector<Candidate> helpers)
      : request_(request),
        tuning_(tuning),
        usable_(std::move(usable)),
        helpers_(std::move(helpers)),
        largest_gpu_(largest_gpu(usable_)) {
    for (std::vector<Candidate>* candidates : {&usable_, &helpers_}) {
      std::stable_sort(candidates->begin(), candidates->end(), [](const Candidate& a, const Candidate& b) {
        return a.variant->priority > b.variant->priority;
      });
    }
  }

  Selection best() {
    for (const TuningRow& row : tuning_) {
      if (const Candidate* candidate = named_by(row, usable_)) add(*candidate, row.min_items);
    }
    add_unmeasured([this](const Candidate& candidate) {
      return is_for_this_machine(candidate) && is_worth_the_way(candidate);
    });
    add_unmeasured([](const Candidate&) { return true; });
    const Candidate* all_rounder = all_rounder_of(usable_);
    if (chosen_.choices.back().min_items > 1) {
      if (all_rounder != nullptr) {
        add(*all_rounder, 1);
      } else {
        chosen_.choices.back().min_items = 1;
      }
    }
    return with_fallback();
  }

  Selection forced(const Candidate& candidate) {
    add(candidate, 1);
    return with_fallback();
  }

 private:
  const Candidate* named_by(const TuningRow& row, const std::vector<Candidate>& among) const {
    if (!speaks_for(row, request_)) return nullptr;
    for (const Candidate& candidate : among) {
      if (candidate.variant->name == row.variant && is_for_this_machine(candidate)) return &candidate;
    }
    return nullptr;
  }

  // Those that `wanted` wants, if there is no choice yet.
  template <class Wanted>
  void add_unmeasured(Wanted&& wanted) {
    if (!chosen_.choices.empty()) return;
    for (const Candidate& candidate : usable_) {
      if (wanted(candidate)) add(candidate, unmeasured_min_items(*candidate.variant, request_));
    }
  }

  // Operands of a single product take longer to a GPU and back than most CPUs take for it.
  [[nodiscard]] bool is_worth_the_way(const Candidate& candidate) const {
    const bool product = request_.op == Operation::mulmod || request_.op == Operation::sqrmod;
    return candidate.variant->backend == Backend::cpu || !product || request_.device != "auto";
  }

  // Whether it keeps the largest GPU at work.
  [[nodiscard]] bool is_for_this_machine(const Candidate& candidate) const {
    if (candidate.variant->backend == Backend::cpu) return true;
    const std::vector<const Device*>& devices = candidate.devices;
    return suits(*candidate.variant, largest_gpu_) &&
           std::find(devices.begin(), devices.end(), largest_gpu_) != devices.end();
  }

  // Where it takes fewer items than those before.
  void add(const Candidate& candidate, std::size_t min_items) {
    std::vector<Choice>& choices = chosen_.choices;
    if (!choices.empty() && min_items >= choices.back().min_items) return;
    choices.push_back(choice_of(candidate, min_items));
  }

  [[nodiscard]] Choice choice_of(const Candidate& candidate, std::size_t min_items) const {
    const bool shared = (candidate.variant->shared_modulus_operations & operation_bit(request_.op)) != 0;
    return {candidate.variant, best_devices(candidate), min_items, shared};
  }

  // The best variant that accepts every item; NULL if there is none.
  const Candidate* all_rounder_of(const std::vector<Candidate>& among) const {
    for (const TuningRow& row : tuning_) {
      const Candidate* candidate = named_by(row, among);
      if (candidate != nullptr && candidate->variant->accepts_every_item) return candidate;
    }
    for (const Candidate& candidate : among) {
      if (candidate.variant->accepts_every_item) return &candidate;
    }
    return nullptr;
  }

  Selection with_fallback() {
    const Candidate* all_rounder = all_rounder_of(usable_);
    if (all_rounder == nullptr) all_rounder = all_rounder_of(helpers_);
    const bool has_one = std::any_of(chosen_.choices.begin(), chosen_.choices.end(),
                                     [](const Choice& choice) { return choice.variant->accepts_every_item; });
    if (!has_one && all_rounder != nullptr) {
      chosen_.choices.push_back(choice_of(*all_rounder, kFallbackOnly));
    }
    chosen_.shared_modulus = request_.shared_modulus;
    if (request_.device == "auto") chosen_.substitute = all_rounder_on_cpu(all_rounder);
    return chosen_;
  }

  // What computes in the place of a GPU that fails.
  [[nodiscard]] static const Variant* all_rounder_on_cpu(const Candidate* all_rounder) {
    const bool is_one = all_rounder != nullptr && all_rounder->variant->backend == Backend::cpu;
    return is_one ? all_rounder->variant : nullptr;
  }

  const VariantRequest& request_;
  std::span<const TuningRow> tuning_;
  std::vector<Candidate> usable_, helpers_;  // highest priority first
  const Device* largest_gpu_;
  Selection chosen_;
};

std::string obstacle_on(const Variant& variant, const std::vector<const Device*>& among) {
  std::string obstacle;
  for (const Device* device : among) {
    obstacle = hardware_obstacle(variant, *device);
    if (obstacle.empty() || device->backend == variant.backend) return obstacle;
  }
  return obstacle;
}

std::string candidate_names(const std::vector<Candidate>& usable) {
  return joined(usable, [](const Candidate& c) { return c.variant->name; });
}

[[noreturn]] void throw_unusable(const Variant& variant, const VariantRequest& request,
                                 const std::vector<const Device*>& among,
                                 const std::vector<Candidate>& usable) {
  std::string why = task_obstacle(variant, request);
  if (why.empty()) why = obstacle_on(variant, among);
  throw StatusError(MM_ERR_UNUSABLE_VARIANT,
                    "variant " + in_quotes(variant.name) + " (" + std::string(request.forced_by) + ") " +
                        why + "; usable for " + task_name(request) + ": " + candidate_names(usable));
}

Candidate forced_candidate(const VariantRequest& request, const Catalogue& from,
                           const std::vector<const Device*>& among, const std::vector<Candidate>& usable) {
  for (const Candidate& candidate : usable) {
    if (candidate.variant->name == *request.forced) return candidate;
  }
  for (const Variant& variant : from.variants) {
    if (variant.name == *request.forced) throw_unusable(variant, request, among, usable);
  }
  throw StatusError(MM_ERR_UNKNOWN_VARIANT,
                    "no variant named " + in_quotes(*request.forced) + " (" + std::string(request.forced_by) +
                        "); usable for " + task_name(request) + ": " + candidate_names(usable) +
                        "; `manymod info` lists all " + std::to_string(from.variants.size()));
}

}  // namespace

std::string hardware_needs(const Variant& variant) {
  if (variant.backend == Backend::cpu) return cpu_feature_names(variant.cpu_features);
  std::string needs = "compute capability " + capability(variant.min_compute_capability);
  if (variant.max_compute_capability < kNoLimit) needs += " to " + capability(variant.max_compute_capability);
  return needs;
}

// Where the build has no code at all for the GPU, calls say so.
std::string gpu_obstacle(const Variant& variant, const Device& device) {
  const unsigned has = device.compute_capability, code = device.code_capability;
  if (has < variant.min_compute_capability || has > variant.max_compute_capability) {
    return "needs " + hardware_needs(variant) + ", device " + in_quotes(device.name) + " has " +
           capability(has);
  }
  if (code == 0 || code >= variant.min_compute_capability) return {};
  return "needs kernels compiled for " + hardware_needs(variant) + ", this build has those of " +
         capability(code) + " for device " + in_quotes(device.name) + " (MANYMOD_CUDA_ARCHITECTURES)";
}

std::string hardware_obstacle(const Variant& variant, const Device& device) {
  if (variant.backend != device.backend) {
    return std::string("needs a ") + (variant.backend == Backend::cuda ? "CUDA device" : "CPU") +
           ", not device " + in_quotes(device.name);
  }
  if (!device.obstacle.empty()) return "needs device " + in_quotes(device.name) + ": " + device.obstacle;
  if (variant.backend == Backend::cuda) return gpu_obstacle(variant, device);
  const CpuFeatures missing = variant.cpu_features & ~device.cpu_features;
  if (missing == 0) return {};
  std::string why = "needs " + with_commas(cpu_feature_names(missing)) + ", which this CPU lacks";
  const CpuFeatures hidden = missing & device.hidden_features;
  if (hidden != 0) why += " (hidden by MANYMOD_HIDE_CPU: " + with_commas(cpu_feature_names(hidden)) + ")";
  return why;
}

std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices) {
  const std::vector<const Device*> matching = devices_of_backend(devices, variant.backend);
  if (matching.empty()) {
    return std::string("no ") + (variant.backend == Backend::cuda ? "CUDA" : "CPU") + " device found";
  }
  return devices_for(variant, matching).empty() ? obstacle_on(variant, matching) : std::string();
}

const Variant& Selection::for_items(std::size_t items) const {
  const bool one_modulus = shared_modulus && items > 1;
  for (const std::size_t least : {std::max<std::size_t>(1, items), kFallbackOnly}) {
    for (const Choice& choice : choices) {
      if (choice.min_items <= least && (one_modulus || !choice.needs_shared_modulus)) return *choice.variant;
    }
  }
  return *choices.back().variant;
}

Catalogue catalogue() { return {registry(), devices(), tuning_table().rows}; }

Selection select_variants(const VariantRequest& request, const Catalogue& from) {
  const std::vector<const Device*> among = devices_named(request.device, from.devices);
  const std::vector<Candidate> usable = candidates(request, from, among);
  Chooser chooser(request, from.tuning, usable,
                  candidates(request, from, devices_of_backend(from.devices, Backend::cpu)));
  if (request.forced) return chooser.forced(forced_candidate(request, from, among, usable));
  if (usable.empty()) {
    throw StatusError(MM_ERR_UNUSABLE_VARIANT, "no variant can run " + task_name(request) + " on device " +
                                                   in_quotes(request.device) +
                                                   "; `manymod info` lists the variants");
  }
  return chooser.best();
}

void apply_forced_variant(VariantRequest& request, const char* argument) {
  if (argument != nullptr) {
    request.forced = argument;
    request.forced_by = "argument";
    return;
  }
  const char* environment = std::getenv("MANYMOD_VARIANT");
  if (environment == nullptr || *environment == '\0') return;
  request.forced = environment;
  request.forced_by = "MANYMOD_VARIANT";
}

}  // namespace manymod
