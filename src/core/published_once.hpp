// SPDX-License-Identifier: Apache-2.0
// Values that are made when they are first needed, without a lock.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace manymod {

/// A value made by whoever needs it first. Without a lock: two threads may both make it, one of them wins,
/// and a fork in the middle leaves nothing locked.
template <class T>
class PublishedOnce {
 public:
  PublishedOnce() = default;
  PublishedOnce(const PublishedOnce&) = delete;
  PublishedOnce& operator=(const PublishedOnce&) = delete;
  ~PublishedOnce() { delete value_.load(std::memory_order_acquire); }

  [[nodiscard]] bool has_value() const { return value_.load(std::memory_order_acquire) != nullptr; }

  /// The value; where there is none yet, `make()`'s, which may be null and is then not kept.
  template <class Make>
  const T* get(Make&& make) const {
    if (const T* found = value_.load(std::memory_order_acquire)) return found;
    std::unique_ptr<const T> fresh = std::forward<Make>(make)();
    const T* found = nullptr;
    if (fresh && value_.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
      return fresh.release();
    }
    return found;
  }

 private:
  mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace manymod
