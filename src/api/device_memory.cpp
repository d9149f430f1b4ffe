// SPDX-License-Identifier: Apache-2.0
#include "api/device_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "abi/enum_value.hpp"
#include "abi/last_error.hpp"
#include "abi/required.hpp"
#include "core/status_error.hpp"
#include "dispatch/devices.hpp"
#include "gpu/buffer.hpp"
#include "manymod/manymod.h"

namespace manymod {
namespace {

// The memory that mm_device_allocate returned: it is zeroed before it is freed, and nothing is freed twice.
class Allocations {
 public:
  // Never destroyed: the driver may have shut down before static objects are.
  static Allocations& of_this_process() {
    static auto& allocations = *new Allocations;
    return allocations;
  }

  void* add(gpu::DeviceBuffer buffer, gpu::Device& device) {
    void* const address = buffer.data();
    const std::lock_guard lock(mutex_);
    buffers_.emplace(std::pair(&device, address), std::move(buffer));
    return address;
  }

  /// @return nothing if no allocation on that device has that address
  std::optional<gpu::DeviceBuffer> take(void* address, gpu::Device& device) {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find({&device, address});
    if (found == buffers_.end()) return std::nullopt;
    std::optional<gpu::DeviceBuffer> buffer(std::move(found->second));
    buffers_.erase(found);
    return buffer;
  }

 private:
  std::mutex mutex_;  // never locked in a forked child, where checked_device throws before
  std::map<std::pair<gpu::Device*, void*>, gpu::DeviceBuffer> buffers_;
};

// The backend of the devices that the C ABI addresses by an index alone (mm_call.device_index).
constexpr Backend kBackend = Backend::cuda;

std::string device_name(unsigned index) { return device_option(kBackend, index); }

void copy(gpu::Device& device, void* to, const void* from, std::size_t bytes, mm_copy_direction direction) {
  const std::unique_ptr<gpu::Stream> stream = device.borrow_stream(nullptr);
  switch (direction) {
    case MM_COPY_TO_DEVICE:
      check_on_device(device, to, bytes, "to");
      stream->copy_to_device(to, from, bytes);
      break;
    case MM_COPY_TO_HOST:
      check_on_device(device, from, bytes, "from");
      stream->copy_to_host(to, from, bytes);
      break;
    case MM_COPY_ON_DEVICE:
      check_on_device(device, to, bytes, "to");
      check_on_device(device, from, bytes, "from");
      stream->copy_on_device(to, from, bytes);
      break;
  }
  stream->synchronize();
}

mm_copy_direction checked_direction(const mm_copy_direction& direction) {
  const long long value = enum_value(direction);
  if (value >= MM_COPY_TO_DEVICE && value <= MM_COPY_ON_DEVICE) return static_cast<mm_copy_direction>(value);
  throw StatusError(MM_ERR_ARGUMENT, "direction " + std::to_string(value) + " is not a copy direction");
}

}  // namespace

gpu::Device& checked_device(unsigned index) {
  const std::span<const Device> all = devices_for(device_option(kBackend));
  const auto found = std::find_if(all.begin(), all.end(), [index](const Device& device) {
    return device.backend == kBackend && device.index == index;
  });
  if (found == all.end()) {
    const std::string& obstacle = gpu_support(kBackend).obstacle;
    throw StatusError(MM_ERR_UNKNOWN_DEVICE,
                      "no device " + device_name(index) + (obstacle.empty() ? "" : ": " + obstacle));
  }
  if (!found->obstacle.empty()) throw StatusError(MM_ERR_DEVICE, device_name(index) + ": " + found->obstacle);
  gpu::Device& device = gpu_device(kBackend, index);
  device.check_usable();
  return device;
}

void check_on_device(gpu::Device& device, const void* address, std::size_t bytes, const std::string& what) {
  // As numbers: pointers must not wrap around. The highest address belongs to no array.
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t last = bytes - 1 > UINTPTR_MAX - first ? UINTPTR_MAX : first + (bytes - 1);
  for (const std::uintptr_t byte : {first, last}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the caller's, which is not dereferenced
    const std::optional<unsigned> owner = device.owner_of(reinterpret_cast<const void*>(byte));
    if (owner == device.index()) continue;
    std::string message = what + " is ";
    if (owner) {
      message += "in the memory of " + device_name(*owner);
    } else {
      message += byte == first ? "not in the memory of a CUDA device" : "larger than the memory there";
    }
    message += ", expected " + device_name(device.index());
    throw StatusError(MM_ERR_ARGUMENT, message);
  }
}

}  // namespace manymod

extern "C" {

mm_status mm_device_allocate(unsigned device_index, size_t bytes, void** address) {
  if (address != nullptr) *address = nullptr;
  return manymod::guarded([&] {
    manymod::check_not_null(address, "address");
    manymod::gpu::Device& device = manymod::checked_device(device_index);
    if (bytes > 0) {
      *address = manymod::Allocations::of_this_process().add({device, bytes}, device);
    }
    return MM_OK;
  });
}

mm_status mm_device_free(unsigned device_index, void* address) {
  return manymod::guarded([&] {
    if (address == nullptr) return MM_OK;
    manymod::gpu::Device& device = manymod::checked_device(device_index);
    if (manymod::Allocations::of_this_process().take(address, device)) return MM_OK;
    throw manymod::StatusError(MM_ERR_ARGUMENT,
                               "address was not allocated by mm_device_allocate, or is freed already");
  });
}

mm_status mm_device_copy(unsigned device_index, void* to, const void* from, size_t bytes,
                         mm_copy_direction direction) {
  return manymod::guarded([&] {
    const mm_copy_direction checked = manymod::checked_direction(direction);
    manymod::gpu::Device& device = manymod::checked_device(device_index);
    if (bytes == 0) return MM_OK;
    manymod::check_not_null(to, "to");
    manymod::check_not_null(from, "from");
    manymod::copy(device, to, from, bytes, checked);
    return MM_OK;
  });
}

}  // extern "C"
