// SPDX-License-Identifier: Apache-2.0
#include "ecc/plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "abi/options.hpp"
#include "core/environment.hpp"
#include "core/status_error.hpp"
#include "dispatch/named_devices.hpp"
#include "dispatch/registry.hpp"
#include "ecc/call.hpp"
#include "ecc/variants.hpp"

namespace manymod::ecc {
namespace {

std::string curve_title(const Curve& curve) {
  return curve.name.empty() ? std::to_string(curve.field_bits) + "-bit curve" : curve.name;
}

// The variant that MANYMOD_VARIANT names; null if it is not set or names a variant of modular arithmetic
// (dispatch/registry.hpp), which does not concern points.
const char* variant_of_environment() {
  const char* name = environment_variable("MANYMOD_VARIANT");
  if (name == nullptr || *name == '\0' || find_variant(name) != nullptr) return name;
  const bool of_moduli = std::ranges::any_of(
      registry(), [name](const manymod::Variant& variant) { return variant.name == name; });
  return of_moduli ? nullptr : name;
}

const Variant* checked_variant(const char* name) {
  if (name == nullptr || *name == '\0') return nullptr;
  if (const Variant* found = find_variant(name)) return found;
  std::string known;
  for (const Variant& variant : variants()) known += (known.empty() ? "" : ", ") + std::string(variant.name);
  throw StatusError(MM_ERR_UNKNOWN_VARIANT,
                    "unknown variant '" + std::string(name) + "' of curves: expected one of " + known);
}

// The fastest variant of the backend for the curve; null if there is none.
const Variant* choose(const Curve& curve, const Variant* forced, Backend backend) {
  for (const Variant& variant : variants()) {
    if (variant.backend != backend || (forced != nullptr && &variant != forced)) continue;
    if (variant.offers(curve) && variant.runs_here()) return &variant;
  }
  return nullptr;
}

// The more terms a sum has, the fewer additions each takes.
constexpr std::size_t kGranulesOfSum = 4;
// If a thread's own part of a chunk takes less than this, chunks are not made shorter to give other threads
// a share: waking threads takes time, and the GPU is used less well by short chunks.
constexpr double kShortPartNs = 2e6;

// The part of item_ns that is the thread's own work: item_ns without the time of the operation on a GPU.
double thread_ns(const PointEngine& engine, PointOperation operation, double item_ns) {
  return std::max(item_ns - engine.item_ns(operation), 0.0);
}

}  // namespace

double expected_cpu_ns(const PointEngine& engine, double item_ns, std::size_t items, unsigned threads) {
  const auto granularity = static_cast<double>(engine.granularity());
  const double granules = std::ceil(static_cast<double>(items) / granularity);
  return std::ceil(granules / threads) * granularity * item_ns;
}

std::size_t gpu_granule(const PointEngine& engine, PointOperation operation, double item_ns,
                        std::size_t items, unsigned threads) {
  const std::size_t granules = operation == PointOperation::sum ? kGranulesOfSum : 1;
  const std::size_t granule = granules * engine.granularity();
  const auto all = static_cast<double>(items);
  const double of_chunk = std::min(all, static_cast<double>(granule)) * thread_ns(engine, operation, item_ns);
  const double of_all = all * engine.item_ns(operation) / std::max(1U, engine.gpus());
  if (of_chunk <= std::max(kShortPartNs, of_all)) return granule;
  const std::size_t share = (items + threads - 1) / threads;
  return std::clamp(share, granules * engine.least_chunk(), granule);
}

double expected_gpu_ns(const PointEngine& engine, PointOperation operation, double item_ns, std::size_t items,
                       unsigned threads) {
  const std::size_t most = engine.granularity();
  const auto granule =
      static_cast<double>(std::min(most, gpu_granule(engine, operation, item_ns, items, threads)));
  const double granules = std::ceil(static_cast<double>(items) / granule);
  const double per_thread = std::ceil(granules / threads) * std::min(static_cast<double>(items), granule);
  const double of_one = std::ceil(granules / std::max(1U, engine.gpus()));
  return of_one * granule * engine.item_ns(operation) + per_thread * thread_ns(engine, operation, item_ns);
}

CurveEngines::CurveEngines(std::shared_ptr<const Curve> curve, const char* device, const char* forced_name)
    : curve_(std::move(curve)) {
  std::string_view name = device == nullptr ? "auto" : device;
  const Variant* forced = checked_variant(forced_name);
  if (name == "auto" && forced != nullptr && forced->backend == Backend::opencl) {
    name = device_option(Backend::opencl);
  }
  std::vector<unsigned> gpus;
  Backend gpu_backend = Backend::cuda;  // a device option names the GPUs of one backend
  // OpenCL devices compute on curves only if the options name the device or its variant.
  for (const Device* place : devices_named(name, devices_for(name == "auto" ? "cuda" : name))) {
    if (!place->obstacle.empty()) continue;
    if (place->backend != Backend::cpu) {
      gpu_backend = place->backend;
      gpus.push_back(place->index);
    } else if (const Variant* variant = choose(*curve_, forced, Backend::cpu)) {
      cpu_ = variant->make(*curve_, {});
    }
  }
  const Variant* on_gpus = gpus.empty() ? nullptr : choose(*curve_, forced, gpu_backend);
  if (on_gpus != nullptr) {
    try {
      gpu_ = on_gpus->make(*curve_, gpus);
    } catch (const StatusError& error) {
      // If a GPU cannot be used, for instance for lack of memory, the processor computes alone.
      if (error.failure() == FailureClass::call || !cpu_) throw;
    }
  }
  if (cpu_ || gpu_) return;
  throw StatusError(MM_ERR_UNUSABLE_VARIANT,
                    (forced == nullptr ? "no variant" : "variant '" + std::string(forced->name) + "' not") +
                        std::string(" usable for ") + curve_title(*curve_) + " on device '" +
                        std::string(name) + "'");
}

Plan::Plan(const mm_ecc_plan_options& options, std::span<const std::shared_ptr<const Curve>> curves)
    : threads_(checked_threads(options.threads)) {
  if (curves.empty()) throw StatusError(MM_ERR_ARGUMENT, "a plan needs at least one curve");
  const char* forced = options.variant != nullptr ? options.variant : variant_of_environment();
  for (const std::shared_ptr<const Curve>& curve : curves) {
    const auto same =
        std::ranges::find_if(curves_, [&](const auto& engines) { return &engines->curve() == curve.get(); });
    curves_.push_back(
        same != curves_.end() ? *same : std::make_shared<const CurveEngines>(curve, options.device, forced));
  }
}

unsigned Plan::gpus() const {
  unsigned most = 0;
  for (const auto& engines : curves_) {
    if (engines->on_gpu() != nullptr) most = std::max(most, engines->on_gpu()->gpus());
  }
  return most;
}

const char* Plan::variant_name(std::size_t index) const {
  if (index >= size()) return "";
  const CurveEngines& chosen = curve(index);
  return (chosen.on_gpu() != nullptr ? chosen.on_gpu() : chosen.on_cpu())->variant();
}

mm_status Plan::run(const mm_ecc_call& call) const { return run_call(*this, call); }

}  // namespace manymod::ecc
