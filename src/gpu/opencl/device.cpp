// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/device.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "gpu/opencl/fill.hpp"
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
}

// Releases nothing: drivers may have shut down before static objects are destroyed.
Device::~Device() = default;

void Device::check_usable() const {
  const int number = static_cast<int>(index());
  if (!driver_.own_process()) throw DriverError(Fault::forked, number, forked_message());
  const std::string* const lost = lost_.published();
  if (lost != nullptr) throw DriverError(Fault::lost, number, "lost by an earlier failure: " + *lost);
}

// A driver may allocate memory only when a command first uses it, so that it is the command that fails where
// there is too little; and NVIDIA's invalidates queues when a command fails (see kDriversLocalBytes). So
// after a lack of memory CL_INVALID_COMMAND_QUEUE means a lost device only if a new queue does not work
// either.
void Device::judge(const char* call, Status status) {
  if (status == kSuccess) return;
  const int number = static_cast<int>(index());
  note_shortage({call, status});
  if (fault_of(status) != Fault::lost) opencl::check(call, status, number);
  std::string name = status_name(status);
  const Failure shortage = last_shortage();
  if (shortage.call != nullptr) {
    name += std::string(", after ") + shortage.call + " returned " + status_name(shortage.status);
    if (status == kInvalidQueue && runs_commands())
      throw DriverError(Fault::out_of_memory, number, call, name);
  }
  lost_.get([&] { return std::make_unique<std::string>(std::string(call) + " returned " + name); });
  throw DriverError(Fault::lost, number, call, name);
}

void Device::note_shortage(const Failure& failure) noexcept {
  if (fault_of(failure.status) != Fault::out_of_memory) return;
  const std::lock_guard lock(shortage_mutex_);
  shortage_ = failure;
}

Device::Failure Device::last_shortage() const {
  const std::lock_guard lock(shortage_mutex_);
  return shortage_;
}

template <class Command, class... Arguments>
bool Device::run_apart(const Command& command, Arguments... arguments) noexcept {
  if (!driver_.own_process()) return false;
  Failure failure{api().create_queue.name()};
  const QueueHandle queue = api().create_queue(context_, facts_.handle, Bits{0}, &failure.status);
  if (failure.status == kSuccess) {
    failure = {command.name(), command(queue, arguments...)};
    const Status finished = api().finish(queue);
    if (failure.status == kSuccess) failure = {api().finish.name(), finished};
    api().release_queue(queue);
  }
  note_shortage(failure);
  return failure.status == kSuccess;
}

bool Device::runs_commands() noexcept {
  Status status = kSuccess;
  const MemoryHandle memory =
      api().create_buffer(context_, kMemoryReadWrite, kPatternBytes, nullptr, &status);
  if (status != kSuccess) return false;
  const bool ran = zero(memory, kPatternBytes);
  api().release_memory(memory);
  return ran;
}

bool Device::zero(MemoryHandle memory, std::size_t bytes) noexcept {
  return run_apart(api().enqueue_fill, memory, pattern_of(0).data(), kPatternBytes, std::size_t{0}, bytes, 0u,
                   nullptr, nullptr);
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
  const MemoryHandle memory =
      create(api().create_buffer, context_, kMemoryReadWrite, whole_patterns(bytes), nullptr);
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
    const Stream apart(*this);  // see run_apart
    void* const data = create(api().enqueue_map, apart.queue(), memory, Bool{1}, kMapRead | kMapWrite,
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
  zero(memory, whole_patterns(bytes));
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
  run_apart(api().enqueue_unmap, memory, data, 0u, nullptr, nullptr);
  release(api().release_memory, memory);
}

}  // namespace manymod::opencl
