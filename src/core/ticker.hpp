// SPDX-License-Identifier: Apache-2.0
// Periodic callbacks on the calling thread while it computes, and requests to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace manymod {

/// A periodic callback. @return true to request a stop. It must not throw.
using Tick = std::function<bool()>;

/// Time between two ticks.
inline constexpr std::chrono::milliseconds kTickInterval{100};

/// Calls a tick every kTickInterval and sets the stop flag if the tick requests it. Only the calling thread
/// polls it.
class Ticker {
 public:
  Ticker(const Tick& tick, std::atomic<bool>& stop)
      : tick_(tick), stop_(stop), next_(std::chrono::steady_clock::now() + kTickInterval) {}

  /// For loops whose iterations take less than a millisecond: only every 64th call reads the clock.
  void poll() {
    if (++calls_ % kCallsPerClock == 0) poll_clock();
  }
  /// Reads the clock on every call.
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

/// A request to stop, polled between the windows of an exponentiation and between items, so that a long call
/// stops within a second.
class StopToken {
 public:
  StopToken() = default;
  /// `ticker` is null except on the calling thread.
  explicit StopToken(const std::atomic<bool>* flag, Ticker* ticker = nullptr)
      : flag_(flag), ticker_(ticker) {}

  [[nodiscard]] bool requested() const {
    if (ticker_ != nullptr) ticker_->poll();
    return is_set();
  }
  /// For loops whose iterations take longer: reads the clock on every call.
  [[nodiscard]] bool requested_now() const {
    if (ticker_ != nullptr) ticker_->poll_clock();
    return is_set();
  }
  /// After a long step that polls by itself, and whose result has no meaning if a stop was requested
  /// meanwhile.
  [[nodiscard]] bool was_requested() const { return is_set(); }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  Ticker* ticker_ = nullptr;

  [[nodiscard]] bool is_set() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
};

}  // namespace manymod
