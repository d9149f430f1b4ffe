// SPDX-License-Identifier: Apache-2.0
// Work on rows spread over the library's threads, and how far a call has come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "core/thread_pool.hpp"
#include "exec/execution.hpp"

namespace manymod::rsa {

/// Part of a call as its caller's progress callback sees it: of the call's `total` items, `before` are done,
/// and all of this part would be another `share`.
struct ProgressPart {
  Progress caller;
  std::size_t total = 0;
  double before = 0;
  double share = 0;

  /// A part of this part.
  [[nodiscard]] ProgressPart part(double from, double size) const {
    return {caller, total, before + share * from, share * size};
  }
  [[nodiscard]] bool wants_stop(double done_of_one) const {
    return manymod::wants_stop(caller, static_cast<std::size_t>(before + share * done_of_one), total);
  }
  /// As a callback for calls inside; this object must outlive them. Without a caller's callback: none.
  [[nodiscard]] Progress inner() const {
    if (caller.callback == nullptr) return {};
    return {&called, const_cast<ProgressPart*>(this)};
  }

 private:
  static int called(std::size_t done, std::size_t total_inner, void* user) {
    const auto& part = *static_cast<const ProgressPart*>(user);
    return part.wants_stop(static_cast<double>(done) /
                           static_cast<double>(std::max<std::size_t>(1, total_inner)))
               ? 1
               : 0;
  }
};

/// visit(chunk, stop) for all chunks, on up to `threads` threads. A visit may leave early once
/// stop.requested(). @return false if the caller asked to stop
template <class Visit>
bool for_chunks(unsigned threads, std::size_t chunks, const ProgressPart& progress, const Visit& visit) {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> done{0};
  bool cancelled = false;
  Tick tick;
  if (progress.caller.callback != nullptr) {
    tick = [&] {
      cancelled = progress.wants_stop(static_cast<double>(done.load(std::memory_order_relaxed)) /
                                      static_cast<double>(chunks));
      return cancelled;
    };
  }
  const ThreadPool::Body body = [&](std::size_t chunk, const StopToken& token) {
    visit(chunk, token);
    done.fetch_add(1, std::memory_order_relaxed);
  };
  ThreadPool::of_this_process().run(threads, chunks, body, stop, tick);
  return !cancelled;
}

/// visit(begin, end, stop) for runs of rows that together are [0, count), on up to `threads` threads (0:
/// default_threads()). `row_ns`: what a row takes, roughly. A visit may leave early once stop.requested().
/// @return false if the caller asked to stop
template <class Visit>
bool for_rows(unsigned threads, std::size_t count, double row_ns, const ProgressPart& progress,
              const Visit& visit) {
  constexpr double kWorthThreadsNs = 150e3;
  constexpr double kMostOfChunkNs = 10e6;
  const double total_ns = row_ns * static_cast<double>(count);
  if (total_ns < kWorthThreadsNs) {
    visit(std::size_t{0}, count, StopToken());
    return true;
  }
  if (threads == 0) threads = default_threads();
  const auto enough = static_cast<std::size_t>(total_ns / kMostOfChunkNs) + 4 * std::size_t{threads};
  const std::size_t chunks = threads == 1 && total_ns < kMostOfChunkNs ? 1 : std::min(count, enough);
  return for_chunks(threads, chunks, progress, [&](std::size_t chunk, const StopToken& stop) {
    visit(count * chunk / chunks, count * (chunk + 1) / chunks, stop);
  });
}

}  // namespace manymod::rsa
