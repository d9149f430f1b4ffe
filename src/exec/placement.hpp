// SPDX-License-Identifier: Apache-2.0
// Where one variant computes: on the CPU, or on one or several GPUs with a CPU engine to which work fails
// over.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "exec/gpu_group.hpp"

namespace manymod {

/// One GPU's engine of a variant.
struct GpuEngine {
  std::unique_ptr<const Engine> engine;
  unsigned index = 0;       ///< of the GPU
  unsigned size = 1;        ///< multiprocessors
  GpuLoad* load = nullptr;  ///< must outlive the placement
  Backend backend = Backend::cuda;
};

/// The places of a variant, numbered: the CPU alone is place 0; else the GPUs are places 0, 1, .., and the
/// CPU engine for failover, if there is one, is the last.
///
/// Work is distributed over the GPUs, and fails over among them, as GpuGroup states, and at last to the CPU
/// engine; without one, the call fails with the error of the first GPU.
class Placement {
 public:
  /// On the CPU.
  template <std::derived_from<Engine> CpuEngine>
  Placement(std::unique_ptr<CpuEngine> engine)  // NOLINT(google-explicit-constructor)
      : Placement(std::vector<GpuEngine>(), std::move(engine)) {}
  /// On GPUs. `fallback` accepts every item, or is null; without GPUs it is the variant's own engine.
  explicit Placement(std::vector<GpuEngine> gpus, std::unique_ptr<const Engine> fallback = nullptr);

  /// The number of places.
  [[nodiscard]] std::size_t size() const { return gpus() + (cpu_ != nullptr ? 1 : 0); }
  [[nodiscard]] unsigned gpus() const { return static_cast<unsigned>(gpus_.size()); }
  [[nodiscard]] const Engine& engine(std::size_t place) const {
    return place < gpus_.size() ? *gpus_[place].engine : *cpu_;
  }
  /// The GPU that is `place` < gpus(): its backend, and its index there.
  [[nodiscard]] Backend gpu_backend(std::size_t place) const { return gpus_[place].backend; }
  [[nodiscard]] unsigned gpu_index(std::size_t place) const { return gpus_[place].index; }

  /// Engine::accepts, which is the same for all places.
  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const { return engine(0).accepts(job, item); }
  /// Engine::chunk_granularity of the first GPU that works.
  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const;
  /// Engine::joins_rest, which is the same for all places.
  [[nodiscard]] bool joins_rest(const Job& job, std::size_t modulus_limbs) const {
    return engine(0).joins_rest(job, modulus_limbs);
  }
  /// Engine::item_cost_ns, on one GPU.
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const {
    return engine(0).item_cost_ns(job, modulus_limbs);
  }

  /// Run attempt(place) for the place that work of `cost_ns` goes to, and if a GPU fails, for the next one.
  /// An attempt must not compute again what a failed one before it has computed.
  /// @throws what an attempt threw, if it is not the failure of a GPU or no other place is left
  template <class Attempt>
  void run(double cost_ns, const Attempt& attempt) const {
    if (gpus_.empty()) return attempt(std::size_t{0});
    const std::exception_ptr failure = group_.run(cost_ns, std::cref(attempt));
    if (failure == nullptr) return;
    if (cpu_ == nullptr) std::rethrow_exception(failure);
    attempt(gpus_.size());
  }

  /// The same on GPUs alone. @return false if there is none, or if each fails
  template <class Attempt>
  [[nodiscard]] bool run_on_gpu(double cost_ns, const Attempt& attempt) const {
    return !gpus_.empty() && group_.run(cost_ns, std::cref(attempt)) == nullptr;
  }

 private:
  std::vector<GpuEngine> gpus_;
  GpuGroup group_;
  std::unique_ptr<const Engine> cpu_;  ///< the variant's own, or the fallback of GPUs
};

}  // namespace manymod
