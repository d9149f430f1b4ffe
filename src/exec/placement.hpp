// SPDX-License-Identifier: Apache-2.0
// Where one variant computes: on the CPU, or on one or several GPUs with a CPU engine that takes over where
// they fail.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/status_error.hpp"
#include "engine/engine.hpp"
#include "exec/gpu_load.hpp"

namespace manymod {

/// One GPU's engine of a variant.
struct GpuEngine {
  std::unique_ptr<const Engine> engine;
  unsigned index = 0;       ///< of the GPU
  unsigned size = 1;        ///< multiprocessors
  GpuLoad* load = nullptr;  ///< must outlive the placement
};

/// The places of a variant, numbered: the CPU alone is place 0; or GPUs 0, 1, .., and after them the CPU
/// engine that takes over, if there is one.
///
/// Each piece of work goes to the GPU that would finish it first. Where a GPU fails (a StatusError whose
/// FailureClass is not `call`), the work is given to another GPU and in the end to the CPU engine; without
/// one, the call fails with the first GPU's error. A GPU that failed gets nothing more while other work is
/// under way, as what was in its way, such as too little memory, may be gone later; one that is lost for this
/// process gets nothing at all, unless there is nothing else left.
class Placement {
 public:
  /// On the CPU.
  template <std::derived_from<Engine> CpuEngine>
  Placement(std::unique_ptr<CpuEngine> engine)  // NOLINT(google-explicit-constructor)
      : Placement(std::vector<GpuEngine>(), std::move(engine)) {}
  /// On GPUs. `fallback` accepts every item, or is null; without GPUs it is the variant's own engine.
  explicit Placement(std::vector<GpuEngine> gpus, std::unique_ptr<const Engine> fallback = nullptr);
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;
  ~Placement();

  /// The number of places.
  [[nodiscard]] std::size_t size() const { return gpus() + (cpu_ != nullptr ? 1 : 0); }
  [[nodiscard]] unsigned gpus() const { return static_cast<unsigned>(gpus_.size()); }
  [[nodiscard]] const Engine& engine(std::size_t place) const {
    return place < gpus_.size() ? *gpus_[place].engine : *cpu_;
  }
  /// The index of the GPU that is `place` < gpus().
  [[nodiscard]] unsigned gpu_index(std::size_t place) const { return gpus_[place].index; }

  /// As the variant's engine on any of the places.
  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const { return engine(0).accepts(job, item); }
  /// Of the first GPU that works.
  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const;
  /// On one GPU.
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const {
    return engine(0).item_cost_ns(job, modulus_limbs);
  }

  /// Run attempt(place) for the place that work of `cost_ns` goes to, and where a GPU fails for the next one.
  /// An attempt leaves what a failed one before it has computed.
  /// @throws what an attempt threw, if it is no GPU's failure or there is no other place left
  template <class Attempt>
  void run(double cost_ns, const Attempt& attempt) const {
    if (gpus_.empty()) return attempt(std::size_t{0});
    const std::exception_ptr failure = attempt_on_gpus(cost_ns, std::cref(attempt));
    if (failure == nullptr) return;
    if (cpu_ == nullptr) std::rethrow_exception(failure);
    attempt(gpus_.size());
  }

  /// The same on GPUs alone. @return false if there is none, or if each fails
  template <class Attempt>
  [[nodiscard]] bool run_on_gpu(double cost_ns, const Attempt& attempt) const {
    return !gpus_.empty() && attempt_on_gpus(cost_ns, std::cref(attempt)) == nullptr;
  }

 private:
  struct Health;  // of the GPUs

  /// @return null once an attempt succeeds; what the first threw where all GPUs fail
  [[nodiscard]] std::exception_ptr attempt_on_gpus(double cost_ns,
                                                   const std::function<void(std::size_t)>& attempt) const;

  std::vector<GpuEngine> gpus_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<const Engine> cpu_;  ///< the variant's own, or the fallback of GPUs
};

}  // namespace manymod
