// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/device.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "gpu/opencl/program.hpp"
#include "gpu/opencl/stream.hpp"
#include "repr/wipe.hpp"

namespace manymod::opencl {
namespace {

// Local memory that is left to the driver: NVIDIA's refuses a launch that takes all 48 KiB
// (CL_OUT_OF_RESOURCES), and invalidates its queues.
constexpr std::size_t kDriversLocalBytes = 1024;

}  // namespace

OwnedMemory::~OwnedMemory() { device_.release(device_.api().release_memory, handle_); }

Device::Device(Driver& driver, unsigned index, const DeviceFacts& facts)
    : gpu::Device(index), driver_(driver), facts_(facts) {
  properties_.model = facts.name;
  properties_.multiprocessors = facts.compute_units;
  properties_.shared_per_block = facts.local_bytes - std::min(facts.local_bytes, kDriversLocalBytes);
  properties_.memory_bytes = facts.memory_bytes;
  const Property properties[] = {kContextPlatform, reinterpret_cast<Property>(facts.platform), 0};
  const DeviceHandle device = facts.handle;
  context_ =
      create(api().create_context, static_cast<const Property*>(properties), 1u, &device, nullptr, nullptr);
  own_queue_ = make_queue();
}

// Releases nothing: drivers may have shut down before static objects are destroyed.
Device::~Device() = default;

void Device::check_usable() const {
  const int number = static_cast<int>(index());
  if (!driver_.own_process()) throw DriverError(Fault::forked, number, forked_message());
  const Status lost = lost_status_;
  if (lost != kSuccess) {
    throw DriverError(
        Fault::lost, number,
        "lost by an earlier failure: " + std::string(lost_call_) + " returned " + status_name(lost));
  }
}

void Device::judge(const char* call, Status status) {
  if (status == kSuccess) return;
  if (fault_of(status) == Fault::lost) {
    lost_call_ = call;
    lost_status_ = status;
  }
  opencl::check(call, status, static_cast<int>(index()));
}

const Kernel& Device::kernel(const gpu::KernelId& id) {
  check_usable();
  const std::lock_guard lock(kernels_mutex_);
  const auto known = kernels_.find(id.name);
  if (known != kernels_.end()) return known->second;
  const ProgramBuilder builder(api(), context_, facts_, driver_.sources().kernels);
  KernelHandle handle = nullptr;
  try {
    handle = builder.kernel(id);
  } catch (const BuildFailure& failure) {
    throw DriverError(Fault::no_device_code, static_cast<int>(index()), failure.what());
  }
  return kernels_.emplace(id.name, Kernel(*this, handle, id.name)).first->second;
}

std::unique_ptr<gpu::Stream> Device::make_stream() { return std::make_unique<Stream>(*this); }

std::unique_ptr<gpu::Stream> Device::borrow_stream(void* native_handle) {
  return std::make_unique<Stream>(*this, static_cast<QueueHandle>(native_handle));
}

std::unique_ptr<gpu::Event> Device::make_event() { return std::make_unique<Event>(*this); }

std::optional<unsigned> Device::owner_of(const void* address) {
  check_usable();
  return memory_.find(address) ? std::optional(index()) : std::nullopt;
}

Place Device::place_of(const void* address) const {
  const std::optional<Place> place = memory_.find(address);
  if (!place) {
    throw DriverError(Fault::other, static_cast<int>(index()), "an address is not in the device's memory");
  }
  return *place;
}

OwnedMemory Device::copy_of(const void* data, std::size_t bytes) {
  return {*this, create(api().create_buffer, context_, kMemoryReadOnly | kMemoryCopyFromHost, bytes,
                        const_cast<void*>(data))};
}

QueueHandle Device::make_queue() {
  const QueueHandle queue = create(api().create_queue, context_, facts_.handle, Bits{0});
  const std::lock_guard lock(queues_mutex_);
  queues_.insert(queue);
  return queue;
}

void Device::release_queue(QueueHandle queue) noexcept {
  if (!driver_.own_process()) return;
  {
    const std::lock_guard lock(queues_mutex_);
    queues_.erase(queue);
  }
  release(api().release_queue, queue);
}

void Device::finish_all() noexcept {
  const std::lock_guard lock(queues_mutex_);
  for (const QueueHandle queue : queues_) release(api().finish, queue);
}

void* Device::allocate(gpu::MemoryKind kind, std::size_t bytes) {
  if (kind == gpu::MemoryKind::pinned) return allocate_pinned(bytes);
  const MemoryHandle memory = create(api().create_buffer, context_, kMemoryReadWrite, bytes, nullptr);
  try {
    if (void* const address = memory_.add(memory, bytes)) return address;
    throw DriverError(Fault::out_of_memory, static_cast<int>(index()), "this process has no more addresses");
  } catch (...) {
    release(api().release_memory, memory);
    throw;
  }
}

// Drivers page-lock the memory that they allocate on the host, where that makes copies faster.
void* Device::allocate_pinned(std::size_t bytes) {
  const MemoryHandle memory =
      create(api().create_buffer, context_, kMemoryReadWrite | kMemoryAllocateOnHost, bytes, nullptr);
  try {
    void* const data = create(api().enqueue_map, own_queue_, memory, Bool{1}, kMapRead | kMapWrite,
                              std::size_t{0}, bytes, 0u, nullptr, nullptr);
    const std::lock_guard lock(pinned_mutex_);
    pinned_.emplace(data, memory);
    return data;
  } catch (...) {
    release(api().release_memory, memory);
    throw;
  }
}

void Device::free(gpu::MemoryKind kind, void* data, std::size_t bytes) noexcept {
  if (!driver_.own_process()) return;
  finish_all();
  if (kind == gpu::MemoryKind::pinned) {
    free_pinned(data, bytes);
    return;
  }
  const MemoryHandle memory = memory_.remove(data);
  const unsigned char zero = 0;
  release(api().enqueue_fill, own_queue_, memory, &zero, sizeof zero, std::size_t{0}, bytes, 0u, nullptr,
          nullptr);
  release(api().finish, own_queue_);
  release(api().release_memory, memory);
}

void Device::free_pinned(void* data, std::size_t bytes) noexcept {
  MemoryHandle memory = nullptr;
  {
    const std::lock_guard lock(pinned_mutex_);
    memory = std::exchange(pinned_[data], nullptr);
    pinned_.erase(data);
  }
  wipe_bytes(data, bytes);
  release(api().enqueue_unmap, own_queue_, memory, data, 0u, nullptr, nullptr);
  release(api().finish, own_queue_);
  release(api().release_memory, memory);
}

}  // namespace manymod::opencl
