// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.hpp"

#include <algorithm>
#include <utility>

#include "core/environment.hpp"
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

std::string task_name(const VariantRequest& request) {
  return std::string(operation_name(request.op)) + " in " + std::string(timing_description(request.timing)) +
         " at " + std::to_string(request.modulus_bits) + " bits";
}

// Why the variant cannot do the task on any hardware; "" if it can.
std::string task_obstacle(const Variant& variant, const VariantRequest& request) {
  if (!offers(variant, request.op, request.timing)) {
    return "does not offer " + std::string(operation_name(request.op)) + " in " +
           std::string(timing_description(request.timing));
  }
  if (request.timing == TimingClass::secret && variant.requirements != nullptr) {
    std::string obstacle = variant.requirements->secret_obstacle();
    if (!obstacle.empty()) return obstacle;
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

// The CPU, and the GPUs of the first backend that has one.
std::vector<const Device*> devices_for_auto(std::span<const Device> devices) {
  const auto usable = std::ranges::find_if(devices, [](const Device& device) {
    return device.backend != Backend::cpu && !device.by_name_only && device.obstacle.empty();
  });
  std::vector<const Device*> matching;
  for (const Device& device : devices) {
    const bool taken = usable == devices.end() || device.backend == usable->backend;
    if (device.backend == Backend::cpu || (taken && !device.by_name_only)) matching.push_back(&device);
  }
  return matching;
}

// The devices not marked by_name_only; all of them if there are no others.
std::vector<const Device*> gpus_or_others(std::vector<const Device*> devices) {
  const auto by_name = [](const Device* device) { return device->by_name_only; };
  if (!std::ranges::all_of(devices, by_name)) std::erase_if(devices, by_name);
  return devices;
}

// The variant that the request names; null if it names none, or an unknown one.
const Variant* forced_variant(const VariantRequest& request, std::span<const Variant> variants) {
  if (!request.forced) return nullptr;
  const auto found = std::ranges::find(variants, *request.forced, &Variant::name);
  return found == variants.end() ? nullptr : &*found;
}

}  // namespace

std::vector<const Device*> devices_named(std::string_view name, std::span<const Device> devices) {
  std::vector<const Device*> matching;
  if (name == "auto") return devices_for_auto(devices);
  if (name == "cpu") return devices_of_backend(devices, Backend::cpu);
  const std::optional<Backend> backend = backend_of_option(name);
  if (!backend) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE, "unknown device " + in_quotes(name) + ": expected " +
                                                 device_options() +
                                                 "; devices here: " + device_names(devices));
  }
  matching = devices_of_backend(devices, *backend);
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE, std::string("no ") + backend_title(*backend) +
                                                 " device found: device " + in_quotes(name) +
                                                 " was requested; devices here: " + device_names(devices));
  }
  if (name.find(':') == std::string_view::npos) return gpus_or_others(std::move(matching));
  std::erase_if(matching, [name](const Device* device) { return device->name != name; });
  if (matching.empty()) {
    throw StatusError(MM_ERR_UNKNOWN_DEVICE,
                      "no device " + in_quotes(name) + "; devices here: " + device_names(devices));
  }
  return matching;
}

namespace {

// Multiprocessors of different models differ in speed, but without a measurement nothing else is known.
bool is_larger(const Device* a, const Device* b) {
  if (a->units != b->units) return a->units > b->units;
  return a->backend == b->backend && a->traits->rank() > b->traits->rank();
}

// The devices of `among` that can run the variant, in order of decreasing size.
std::vector<const Device*> able_devices(const Variant& variant, const std::vector<const Device*>& among) {
  std::vector<const Device*> able;
  for (const Device* device : among) {
    if (hardware_obstacle(variant, *device).empty()) able.push_back(device);
  }
  std::stable_sort(able.begin(), able.end(), is_larger);
  return able;
}

struct Candidate {
  const Variant* variant = nullptr;
  std::vector<const Device*> devices;  // that can run it, in order of decreasing size; not empty
};

bool suits(const Variant& variant, const Device* device) {
  return variant.requirements == nullptr || variant.requirements->suits(*device->traits);
}

// The devices that the variant suits; all that can run it if it suits none.
std::vector<const Device*> best_devices(const Candidate& candidate) {
  std::vector<const Device*> best;
  for (const Device* device : candidate.devices) {
    if (suits(*candidate.variant, device)) best.push_back(device);
  }
  return best.empty() ? candidate.devices : best;
}

// Null if no GPU can run any candidate.
const Device* largest_gpu(const std::vector<Candidate>& candidates) {
  const Device* largest = nullptr;
  for (const Candidate& candidate : candidates) {
    const Device* const own = candidate.devices.front();
    if (own->backend != Backend::cpu && (largest == nullptr || is_larger(own, largest))) largest = own;
  }
  return largest;
}

std::vector<Candidate> candidates(const VariantRequest& request, const Catalogue& from,
                                  const std::vector<const Device*>& among) {
  std::vector<Candidate> usable;
  for (const Variant& variant : from.variants) {
    if (!task_obstacle(variant, request).empty()) continue;
    Candidate candidate{&variant, able_devices(variant, among)};
    if (!candidate.devices.empty()) usable.push_back(std::move(candidate));
  }
  return usable;
}

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

// Composes a plan's list of choices.
class Chooser {
 public:
  /// `usable`: the variants usable on the requested devices. `on_cpu`: those usable on the CPU, among which
  /// the general variant is looked for if none of `usable` is general.
  Chooser(const VariantRequest& request, std::span<const TuningRow> tuning, std::vector<Candidate> usable,
          std::vector<Candidate> on_cpu)
      : request_(request),
        tuning_(tuning),
        usable_(std::move(usable)),
        on_cpu_(std::move(on_cpu)),
        largest_gpu_(largest_gpu(usable_)) {
    for (std::vector<Candidate>* candidates : {&usable_, &on_cpu_}) {
      std::stable_sort(candidates->begin(), candidates->end(), [](const Candidate& a, const Candidate& b) {
        return a.variant->priority > b.variant->priority;
      });
    }
  }

  Selection best() {
    if (const Candidate* const rows = row_variant()) add(*rows, 1);
    for (const TuningRow& row : tuning_) {
      if (const Candidate* candidate = named_by(row, usable_)) add(*candidate, row.min_items);
    }
    add_unmeasured([this](const Candidate& candidate) {
      return uses_largest_gpu(candidate) && transfer_pays(candidate);
    });
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

  Selection forced(const Candidate& candidate) {
    add(candidate, 1);
    return with_fallback();
  }

 private:
  const Candidate* named_by(const TuningRow& row, const std::vector<Candidate>& among) const {
    if (!applies_to(row, request_)) return nullptr;
    for (const Candidate& candidate : among) {
      if (candidate.variant->name == row.variant && uses_largest_gpu(candidate)) return &candidate;
    }
    return nullptr;
  }

  // Adds the usable variants that meet `condition`, if there is no choice yet.
  template <class Condition>
  void add_unmeasured(Condition&& condition) {
    if (!chosen_.choices.empty()) return;
    for (const Candidate& candidate : usable_) {
      if (condition(candidate)) add(candidate, unmeasured_min_items(*candidate.variant, request_));
    }
  }

  [[nodiscard]] bool computes_rows(const Candidate& candidate) const {
    return (candidate.variant->row_operations & operation_bit(request_.op)) != 0;
  }

  // The variant for rows on GPUs that were requested by name; null if there is none.
  [[nodiscard]] const Candidate* row_variant() const {
    if (request_.device == "auto") return nullptr;
    const auto found = std::ranges::find_if(usable_, [this](const Candidate& candidate) {
      return computes_rows(candidate) && uses_largest_gpu(candidate);
    });
    return found == usable_.end() ? nullptr : &*found;
  }

  // The GPU variant for items that the row variant does not accept: the one chosen for the largest batches if
  // there were no row variant. Null if there is no other, or if the choices have no variant for rows.
  [[nodiscard]] const Candidate* after_rows() const {
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

  // Most CPUs compute a sum or a product in less time than the copies of its operands to a GPU and of its
  // result back take.
  [[nodiscard]] bool transfer_pays(const Candidate& candidate) const {
    constexpr Operation kShort[] = {Operation::addmod, Operation::submod,  Operation::negmod,
                                    Operation::mulmod, Operation::sqrmod,  Operation::fmamod,
                                    Operation::summod, Operation::prodmod, Operation::dotmod};
    return candidate.variant->backend == Backend::cpu || request_.device != "auto" ||
           std::ranges::find(kShort, request_.op) == std::end(kShort);
  }

  // False for a candidate on GPUs that would leave the largest one idle.
  [[nodiscard]] bool uses_largest_gpu(const Candidate& candidate) const {
    if (candidate.variant->backend == Backend::cpu) return true;
    const std::vector<const Device*>& devices = candidate.devices;
    return std::find(devices.begin(), devices.end(), largest_gpu_) != devices.end() &&
           suits(*candidate.variant, largest_gpu_);
  }

  // Ignored unless its min_items is below that of the choices before it.
  void add(const Candidate& candidate, std::size_t min_items) {
    std::vector<Choice>& choices = chosen_.choices;
    if (!choices.empty() && min_items >= choices.back().min_items) return;
    choices.push_back(choice_of(candidate, min_items));
  }

  [[nodiscard]] Choice choice_of(const Candidate& candidate, std::size_t min_items) const {
    const bool shared = request_.timing == TimingClass::public_ &&
                        (candidate.variant->shared_modulus_operations & operation_bit(request_.op)) != 0;
    return {candidate.variant, best_devices(candidate), min_items, shared};
  }

  // The best variant that accepts every item; null if there is none.
  const Candidate* general_variant_of(const std::vector<Candidate>& among) const {
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
    if (const Candidate* const next = after_rows()) {
      chosen_.choices.push_back(choice_of(*next, kFallbackOnly));
    }
    const Candidate* general = general_variant_of(usable_);
    if (general == nullptr) general = general_variant_of(on_cpu_);
    const bool has_one = std::any_of(chosen_.choices.begin(), chosen_.choices.end(),
                                     [](const Choice& choice) { return choice.variant->accepts_every_item; });
    if (!has_one && general != nullptr) {
      chosen_.choices.push_back(choice_of(*general, kFallbackOnly));
    }
    chosen_.shared_modulus = request_.shared_modulus;
    if (request_.device == "auto") chosen_.cpu_fallback = general_on_cpu(general);
    return chosen_;
  }

  // The variant for failover from GPUs to the CPU.
  [[nodiscard]] static const Variant* general_on_cpu(const Candidate* general) {
    const bool is_one = general != nullptr && general->variant->backend == Backend::cpu;
    return is_one ? general->variant : nullptr;
  }

  const VariantRequest& request_;
  std::span<const TuningRow> tuning_;
  std::vector<Candidate> usable_, on_cpu_;  // highest priority first
  const Device* largest_gpu_;
  Selection chosen_;
};

std::string no_device(const Variant& variant) {
  return std::string("no ") + backend_title(variant.backend) + " device found";
}

std::string obstacle_on(const Variant& variant, const std::vector<const Device*>& among) {
  if (among.empty()) return "cannot be used: " + no_device(variant);
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

// Why a variant of the devices' backends that offers the operation is not usable, for messages; "" if none
// does.
std::string best_known_obstacle(const VariantRequest& request, const Catalogue& from,
                                const std::vector<const Device*>& among) {
  for (const Variant& variant : from.variants) {
    const auto is_own = [&](const Device* device) { return device->backend == variant.backend; };
    if (!offers(variant, request.op, request.timing) || std::ranges::none_of(among, is_own)) continue;
    std::string why = task_obstacle(variant, request);
    if (why.empty()) why = obstacle_on(variant, among);
    if (!why.empty()) return ": variant " + in_quotes(variant.name) + " " + why;
  }
  return {};
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
  return variant.requirements == nullptr ? std::string() : variant.requirements->describe();
}

std::string hardware_obstacle(const Variant& variant, const Device& device) {
  if (variant.backend != device.backend) {
    return std::string("needs a ") + backend_title(variant.backend) +
           (variant.backend == Backend::cpu ? "" : " device") + ", not device " + in_quotes(device.name);
  }
  if (!device.obstacle.empty()) return "needs device " + in_quotes(device.name) + ": " + device.obstacle;
  if (variant.requirements == nullptr) return {};
  return variant.requirements->obstacle(device.name, *device.traits);
}

std::string hardware_obstacle(const Variant& variant, std::span<const Device> devices) {
  const std::vector<const Device*> matching = devices_of_backend(devices, variant.backend);
  if (matching.empty()) return no_device(variant);
  return able_devices(variant, matching).empty() ? obstacle_on(variant, matching) : std::string();
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

Catalogue catalogue(std::string_view device) {
  return {registry(), devices_for(device), tuning_table().rows};
}

Selection select_variants(const VariantRequest& request) {
  const Variant* const forced = request.device == "auto" ? forced_variant(request, registry()) : nullptr;
  return select_variants(request,
                         catalogue(forced == nullptr ? request.device : device_option(forced->backend)));
}

Selection select_variants(const VariantRequest& request, const Catalogue& from) {
  // A forced variant implies its backend.
  const Variant* const forced = request.device == "auto" ? forced_variant(request, from.variants) : nullptr;
  const std::vector<const Device*> among =
      forced == nullptr || forced->backend == Backend::cpu
          ? devices_named(request.device, from.devices)
          : gpus_or_others(devices_of_backend(from.devices, forced->backend));
  const std::vector<Candidate> usable = candidates(request, from, among);
  Chooser chooser(request, from.tuning, usable,
                  candidates(request, from, devices_of_backend(from.devices, Backend::cpu)));
  if (request.forced) return chooser.forced(forced_candidate(request, from, among, usable));
  if (usable.empty()) {
    throw StatusError(MM_ERR_UNUSABLE_VARIANT,
                      "no variant can run " + task_name(request) + " on device " + in_quotes(request.device) +
                          best_known_obstacle(request, from, among) + "; `manymod info` lists the variants");
  }
  return chooser.best();
}

void apply_forced_variant(VariantRequest& request, const char* argument) {
  if (argument != nullptr) {
    request.forced = argument;
    request.forced_by = "argument";
    return;
  }
  const char* environment = environment_variable("MANYMOD_VARIANT");
  if (environment == nullptr || *environment == '\0') return;
  request.forced = environment;
  request.forced_by = "MANYMOD_VARIANT";
}

}  // namespace manymod
