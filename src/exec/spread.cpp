// SPDX-License-Identifier: Apache-2.0
#include "exec/spread.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <span>
#include <utility>

#include "exec/engine_set.hpp"
#include "exec/preparation.hpp"
#include "exec/unfinished.hpp"
#include "gpu/device_error.hpp"

namespace manymod {
namespace {

enum class Health : std::uint8_t {
  well,
  failed,  // until nothing is being computed: what was in the way, such as too little memory, may be gone
  gone,    // for the rest of the process
};

Health health_after(const StatusError& error) {
  const auto* const failure = dynamic_cast<const gpu::DeviceError*>(&error);
  if (failure == nullptr) return Health::failed;
  switch (failure->fault()) {
    case gpu::Fault::out_of_memory:
    case gpu::Fault::other:
      return Health::failed;
    default:
      return Health::gone;
  }
}

struct Gpu {
  SpreadPart part;
  mutable std::atomic<Health> health{Health::well};

  [[nodiscard]] const Engine& engine() const { return *part.engine; }
  [[nodiscard]] bool is_well() const { return health.load(std::memory_order_relaxed) == Health::well; }
  void failed(const StatusError& error) const {
    health.store(health_after(error), std::memory_order_relaxed);
  }
  void try_again() const {
    Health failed = Health::failed;
    health.compare_exchange_strong(failed, Health::well, std::memory_order_relaxed);
  }
};

class SpreadModulus final : public PreparedModulus {
 public:
  SpreadModulus(const std::vector<Gpu>& gpus, std::span<const Limb> modulus, Operation op, TimingClass timing)
      : gpus_(gpus), preparation_(modulus, op, timing), prepared_(gpus.size()) {}

  [[nodiscard]] const PreparedModulus* on(std::size_t gpu) const {
    return prepared_[gpu].get([&] { return preparation_.by(gpus_[gpu].engine()); });
  }

 private:
  const std::vector<Gpu>& gpus_;
  ModulusPreparation preparation_;
  std::vector<PublishedOnce<PreparedModulus>> prepared_;
};

class SpreadBase final : public PreparedBase {
 public:
  SpreadBase(const std::vector<Gpu>& gpus, BasePreparation preparation)
      : gpus_(gpus), preparation_(std::move(preparation)), prepared_(gpus.size()) {}

  /// Null if `stop` was requested.
  [[nodiscard]] const PreparedBase* on(std::size_t gpu, const StopToken& stop) const {
    return prepared_[gpu].get([&] { return preparation_.by(gpus_[gpu].engine(), stop); });
  }

 private:
  const std::vector<Gpu>& gpus_;
  BasePreparation preparation_;
  std::vector<PublishedOnce<PreparedBase>> prepared_;
};

class SpreadEngine final : public Engine {
 public:
  explicit SpreadEngine(std::vector<SpreadPart> parts) : gpus_(parts.size()) {
    for (std::size_t i = 0; i < parts.size(); ++i) gpus_[i].part = std::move(parts[i]);
  }

  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    return gpus_.front().engine().accepts(job, item);
  }
  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return std::make_unique<SpreadModulus>(gpus_, modulus, op, timing);
  }
  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    auto bases = std::make_unique<SpreadBase>(gpus_, BasePreparation(base, modulus, exponent_bits, timing));
    bool made = false;
    on_some_gpu(1, [&](std::size_t gpu) { made = bases->on(gpu, stop) != nullptr; });
    if (!made) return nullptr;
    return bases;
  }
  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const override {
    return first_well().engine().chunk_granularity(job, modulus_limbs);
  }
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    return gpus_.front().engine().item_cost_ns(job, modulus_limbs);
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    const Running running(*this);
    const double work = item_cost_ns(job, modulus_limbs) * static_cast<double>(items.size());
    std::vector<std::size_t> rest;
    bool first = true;
    const double bounded = std::clamp(work, 1.0, static_cast<double>(GpuPlace::kMostWork));
    on_some_gpu(static_cast<std::uint64_t>(bounded), [&](std::size_t gpu) {
      if (!std::exchange(first, false)) items = rest = unfinished(job, items);
      Job own = job;
      if (job.shared != nullptr) own.shared = static_cast<const SpreadModulus*>(job.shared)->on(gpu);
      if (job.fixed_base != nullptr) {
        own.fixed_base = static_cast<const SpreadBase*>(job.fixed_base)->on(gpu, job.stop);
        if (own.fixed_base == nullptr) return;
      }
      gpus_[gpu].engine().run(own, items, modulus_limbs);
    });
  }

 private:
  // A call of `run` for as long as it lives. The first after a pause gives GPUs that failed another chance.
  class Running {
   public:
    explicit Running(const SpreadEngine& engine) : engine_(engine) {
      if (engine.running_.fetch_add(1, std::memory_order_relaxed) > 0) return;
      for (const Gpu& gpu : engine.gpus_) gpu.try_again();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { engine_.running_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    const SpreadEngine& engine_;
  };

  // Calls use(gpu) for one GPU, or for one after the other until one does not fail.
  // @throws what the first threw, where all do
  template <class Use>
  void on_some_gpu(std::uint64_t work, Use&& use) const {
    std::vector<std::size_t> left(gpus_.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    std::exception_ptr failure;
    while (!left.empty()) {
      const GpuPlace place(candidates(left), work);
      const std::size_t gpu = left[place.chosen()];
      try {
        use(gpu);
        return;
      } catch (const StatusError& error) {
        gpus_[gpu].failed(error);
        std::erase(left, gpu);
        if (!failure) failure = std::current_exception();
      }
    }
    std::rethrow_exception(failure);
  }

  [[nodiscard]] std::vector<GpuCandidate> candidates(std::span<const std::size_t> gpus) const {
    std::vector<GpuCandidate> found;
    for (const std::size_t gpu : gpus) {
      found.push_back({gpus_[gpu].part.load, gpus_[gpu].part.size, !gpus_[gpu].is_well()});
    }
    return found;
  }

  [[nodiscard]] const Gpu& first_well() const {
    const auto well = std::find_if(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return gpu.is_well(); });
    return well != gpus_.end() ? *well : gpus_.front();
  }

  std::vector<Gpu> gpus_;
  mutable std::atomic<std::size_t> running_{0};
};

}  // namespace

std::unique_ptr<Engine> spread(std::vector<SpreadPart> parts) {
  return std::make_unique<SpreadEngine>(std::move(parts));
}

}  // namespace manymod
