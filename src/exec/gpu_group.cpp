// SPDX-License-Identifier: Apache-2.0
#include "exec/gpu_group.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/status_error.hpp"

namespace manymod {

/// The state of each GPU, and how much work is in flight on all of them.
class GpuGroup::Health {
 public:
  explicit Health(std::size_t gpus) : states_(gpus) {}

  [[nodiscard]] bool works(std::size_t gpu) const { return state(gpu) == State::works; }

  /// GPUs in the order of preference: working ones before failed ones before lost ones.
  [[nodiscard]] unsigned preference_class(std::size_t gpu) const { return static_cast<unsigned>(state(gpu)); }

  void record_failure(std::size_t gpu, bool lost) {
    states_[gpu].store(lost ? State::lost : State::failed, std::memory_order_relaxed);
  }

  /// Counts work as in flight for as long as this object lives. When no other work is in flight, GPUs that
  /// failed, but are not lost, are used again.
  class InFlight {
   public:
    explicit InFlight(Health& health) : health_(health) {
      if (health_.in_flight_.fetch_add(1, std::memory_order_relaxed) > 0) return;
      for (std::atomic<State>& state : health_.states_) {
        State failed = State::failed;
        state.compare_exchange_strong(failed, State::works, std::memory_order_relaxed);
      }
    }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight() { health_.in_flight_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    Health& health_;
  };

 private:
  enum class State : std::uint8_t {
    works,
    failed,  ///< until no work is in flight
    lost,    ///< for the rest of the process
  };

  [[nodiscard]] State state(std::size_t gpu) const { return states_[gpu].load(std::memory_order_relaxed); }

  std::vector<std::atomic<State>> states_;
  std::atomic<std::size_t> in_flight_{0};
};

GpuGroup::GpuGroup(std::vector<GpuMember> members)
    : members_(std::move(members)), health_(std::make_unique<Health>(members_.size())) {}
GpuGroup::GpuGroup(GpuGroup&&) noexcept = default;
GpuGroup& GpuGroup::operator=(GpuGroup&&) noexcept = default;
GpuGroup::~GpuGroup() = default;

std::size_t GpuGroup::first_working() const {
  std::size_t gpu = 0;
  while (gpu < size() && !health_->works(gpu)) ++gpu;
  return gpu < size() ? gpu : 0;
}

std::exception_ptr GpuGroup::run(double cost_ns, const std::function<void(std::size_t)>& attempt) const {
  const Health::InFlight in_flight(*health_);
  const auto work =
      static_cast<std::uint64_t>(std::clamp(cost_ns, 1.0, static_cast<double>(LoadShare::kMostWork)));
  std::vector<std::size_t> left(size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::exception_ptr failure;
  while (!left.empty()) {
    std::vector<GpuCandidate> candidates;
    for (const std::size_t gpu : left) {
      candidates.push_back({members_[gpu].load, members_[gpu].size, health_->preference_class(gpu)});
    }
    const LoadShare share(candidates, work);
    const std::size_t gpu = left[share.chosen()];
    try {
      attempt(gpu);
      return nullptr;
    } catch (const StatusError& error) {
      if (error.failure() == FailureClass::call) throw;
      health_->record_failure(gpu, error.failure() == FailureClass::device_lost);
      std::erase(left, gpu);
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  return failure;
}

}  // namespace manymod
