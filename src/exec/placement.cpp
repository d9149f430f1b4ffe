// SPDX-License-Identifier: Apache-2.0
#include "exec/placement.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace manymod {
namespace {

// In the order in which GPUs are preferred.
enum class State : std::uint8_t {
  works,
  failed,  ///< until no work is in flight
  lost,    ///< for the rest of the process
};

/// A GPU that has failed is tried only if no working one is left, a lost one only if no other is left.
std::vector<GpuCandidate> candidates(std::span<const GpuEngine> gpus, std::span<const std::size_t> places,
                                     const std::vector<std::atomic<State>>& states) {
  std::vector<GpuCandidate> found;
  for (const std::size_t place : places) {
    const State state = states[place].load(std::memory_order_relaxed);
    found.push_back({gpus[place].load, gpus[place].size, static_cast<unsigned>(state)});
  }
  return found;
}

}  // namespace

struct Placement::Health {
  explicit Health(std::size_t gpus) : states(gpus) {}

  std::vector<std::atomic<State>> states;
  std::atomic<std::size_t> under_way{0};
};

namespace {

// Counts work as in flight for as long as this object lives. When no other work is in flight, GPUs that
// failed, but are not lost, are used again.
class UnderWay {
 public:
  UnderWay(std::atomic<std::size_t>& count, std::vector<std::atomic<State>>& states) : count_(count) {
    if (count_.fetch_add(1, std::memory_order_relaxed) > 0) return;
    for (std::atomic<State>& state : states) {
      State failed = State::failed;
      state.compare_exchange_strong(failed, State::works, std::memory_order_relaxed);
    }
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace

Placement::Placement(std::vector<GpuEngine> gpus, std::unique_ptr<const Engine> fallback)
    : gpus_(std::move(gpus)), health_(std::make_unique<Health>(gpus_.size())), cpu_(std::move(fallback)) {}
Placement::Placement(Placement&&) noexcept = default;
Placement& Placement::operator=(Placement&&) noexcept = default;
Placement::~Placement() = default;

std::size_t Placement::chunk_granularity(const Job& job, std::size_t modulus_limbs) const {
  std::size_t place = 0;
  while (place < gpus_.size() && health_->states[place].load(std::memory_order_relaxed) != State::works) {
    ++place;
  }
  return engine(place < gpus_.size() ? place : 0).chunk_granularity(job, modulus_limbs);
}

std::exception_ptr Placement::attempt_on_gpus(double cost_ns,
                                              const std::function<void(std::size_t)>& attempt) const {
  const UnderWay under_way(health_->under_way, health_->states);
  const auto work =
      static_cast<std::uint64_t>(std::clamp(cost_ns, 1.0, static_cast<double>(LoadShare::kMostWork)));
  std::vector<std::size_t> left(gpus_.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::exception_ptr failure;
  while (!left.empty()) {
    const LoadShare share(candidates(gpus_, left, health_->states), work);
    const std::size_t place = left[share.chosen()];
    try {
      attempt(place);
      return nullptr;
    } catch (const StatusError& error) {
      if (error.failure() == FailureClass::call) throw;
      const bool lost = error.failure() == FailureClass::device_lost;
      health_->states[place].store(lost ? State::lost : State::failed, std::memory_order_relaxed);
      std::erase(left, place);
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  return failure;
}

}  // namespace manymod
