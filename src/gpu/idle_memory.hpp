// SPDX-License-Identifier: Apache-2.0
// Memory of a device that its owners keep for their next use. Each engine keeps some, so that those of
// several plans can fill a device while none of them computes: whoever is short of memory frees what all of
// them keep.
#pragma once

#include <bit>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace manymod::gpu {

class Device;

/// What one owner keeps.
class IdleMemory {
 public:
  IdleMemory() = default;
  IdleMemory(const IdleMemory&) = delete;
  IdleMemory& operator=(const IdleMemory&) = delete;
  virtual ~IdleMemory() = default;

  /// Frees it; called from any thread. @return whether there was any
  virtual bool free_all() noexcept = 0;
};

/// Objects that one owner keeps. Thread-safe.
template <class Object>
class IdleObjects final : public IdleMemory {
 public:
  /// `usual`: so many are kept without an allocation.
  explicit IdleObjects(std::size_t usual = 0) { objects_.reserve(usual); }

  /// Null if there is none.
  std::unique_ptr<Object> take() {
    const std::lock_guard lock(mutex_);
    if (objects_.empty()) return nullptr;
    std::unique_ptr<Object> object = std::move(objects_.back());
    objects_.pop_back();
    return object;
  }
  /// One that is kept, else a new one on the device.
  std::unique_ptr<Object> take_or_make(Device& device) {
    std::unique_ptr<Object> kept = take();
    return kept != nullptr ? std::move(kept) : std::make_unique<Object>(device);
  }
  /// Keeps the object, unless there is no memory for the list of them.
  void give(std::unique_ptr<Object> object) noexcept {
    const std::lock_guard lock(mutex_);
    if (has_room()) objects_.push_back(std::move(object));
  }
  bool free_all() noexcept override {
    bool freed = false;
    while (take() != nullptr) freed = true;  // one at a time: nothing is allocated, and the mutex is free
    return freed;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Object>> objects_;

  bool has_room() noexcept {
    try {
      objects_.reserve(std::bit_ceil(objects_.size() + 1));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
};

/// What all owners on a device keep. Thread-safe.
class IdleMemories {
 public:
  /// From now on free_all() frees that too, for as long as its owner lives. Owners need not say when they
  /// end: in a forked child, where they end without a use of the device, the mutex may be locked forever.
  void add(const std::shared_ptr<IdleMemory>& memory) {
    const std::lock_guard lock(mutex_);
    std::erase_if(memories_, [](const std::weak_ptr<IdleMemory>& one) { return one.expired(); });
    memories_.push_back(memory);
  }
  /// @return whether there was any
  bool free_all() {
    std::vector<std::weak_ptr<IdleMemory>> all;  // the mutex is not held while a device is waited for
    {
      const std::lock_guard lock(mutex_);
      all = memories_;
    }
    bool freed = false;
    for (const std::weak_ptr<IdleMemory>& one : all) {
      if (const std::shared_ptr<IdleMemory> memory = one.lock()) freed = memory->free_all() || freed;
    }
    return freed;
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<IdleMemory>> memories_;
};

}  // namespace manymod::gpu
