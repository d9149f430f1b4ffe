// SPDX-License-Identifier: Apache-2.0
// An object that each process makes for itself when it first needs it, so that nothing with threads, locks or
// devices is shared with forked children.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

namespace manymod::provider {

/// No lock is involved: one that another thread held at a fork would stay locked in the child. What the
/// parent made is neither used nor destroyed in the child, since the parent's locks are in it as well.
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  ~PerProcess() {
    Owned* const owned = current_.load(std::memory_order_acquire);
    if (owned != nullptr && owned->process == getpid()) delete owned;
  }

  /// Null if this process has not made it.
  [[nodiscard]] T* find() const {
    Owned* const owned = current_.load(std::memory_order_acquire);
    return owned != nullptr && owned->process == getpid() ? owned->object.get() : nullptr;
  }

  /// What this process has; `make` returns a std::unique_ptr<T>. Of several threads that make it at a time
  /// all get that of the first.
  template <class Make>
  T& get(Make&& make) {
    Owned* before = current_.load(std::memory_order_acquire);
    const pid_t process = getpid();
    if (before != nullptr && before->process == process) return *before->object;
    auto made = std::make_unique<Owned>(Owned{process, make()});
    while (!current_.compare_exchange_weak(before, made.get(), std::memory_order_acq_rel)) {
      if (before != nullptr && before->process == process) return *before->object;
    }
    return *made.release()->object;
  }

 private:
  struct Owned {
    pid_t process;
    std::unique_ptr<T> object;
  };
  std::atomic<Owned*> current_{nullptr};
};

}  // namespace manymod::provider
