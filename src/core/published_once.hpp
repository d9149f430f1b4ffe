// SPDX-License-Identifier: Apache-2.0
// Lock-free lazy initialisation.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace manymod {

/// A value that is computed on first use, without a lock: several threads may compute it at once, of which
/// one publishes its value and the others discard theirs. A fork at any moment leaves nothing locked.
template <class T>
class PublishedOnce {
 public:
  PublishedOnce() = default;
  PublishedOnce(const PublishedOnce&) = delete;
  PublishedOnce& operator=(const PublishedOnce&) = delete;
  ~PublishedOnce() { delete value_.load(std::memory_order_acquire); }

  [[nodiscard]] bool has_value() const { return value_.load(std::memory_order_acquire) != nullptr; }

  /// The value, valid as long as this object; computed by make() if there is none yet.
  /// @param make returns a std::unique_ptr; null is returned to the caller and not kept
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
