// SPDX-License-Identifier: Apache-2.0
// Giving a caller the floor while its own thread computes: progress and the wish to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace manymod {

/// Returns true to ask the workers to stop. Must not throw.
using Tick = std::function<bool()>;

/// How often a caller is given the floor.
inline constexpr std::chrono::milliseconds kTickInterval{100};

/// Calls a tick every kTickInterval and sets the stop flag when it asks to. Belongs to the calling thread:
/// only that one polls it.
class Ticker {
 public:
  Ticker(const Tick& tick, std::atomic<bool>& stop)
      : tick_(tick), stop_(stop), next_(std::chrono::steady_clock::now() + kTickInterval) {}

  /// Cheap enough for inner loops whose turns take under a millisecond: most calls do not read the clock.
  void poll() {
    if (++calls_ % kCallsPerClock == 0) poll_clock();
  }
  void poll_clock() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ || stop_.load(std::memory_order_relaxed)) return;
    if (tick_()) stop_.store(true, std::memory_order_relaxed);
    next_ = std::chrono::steady_clock::now() + kTickInterval;
  }

 private:
  static constexpr unsigned kCallsPerClock = 64;

  const Tick& tick_;
  std::atomic<bool>& stop_;
  std::chrono::steady_clock::time_point next_;
  unsigned calls_ = 0;
};

/// Asked between windows of an exponentiation and between items, so that a long call stops within a second.
class StopToken {
 public:
  StopToken() = default;
  /// `ticker`: null but on the calling thread.
  explicit StopToken(const std::atomic<bool>* flag, Ticker* ticker = nullptr)
      : flag_(flag), ticker_(ticker) {}

  [[nodiscard]] bool requested() const {
    if (ticker_ != nullptr) ticker_->poll();
    return is_set();
  }
  /// For turns that take longer: always reads the clock.
  [[nodiscard]] bool requested_now() const {
    if (ticker_ != nullptr) ticker_->poll_clock();
    return is_set();
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  Ticker* ticker_ = nullptr;

  [[nodiscard]] bool is_set() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
};

}  // namespace manymod
