// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/opencl/device.hpp"
#include "gpu/opencl/stream.hpp"

namespace manymod::opencl {
namespace {

// Drivers do not tell how many work-groups are resident on a compute unit at the same time. With so many
// work-items GPUs are busy, while tables still fit in memory; a CPU computes one work-group after another.
constexpr unsigned kResidentOnGpu = 1024;
constexpr unsigned kSlotShift = 60;           // job.clh
constexpr std::size_t kLeastLocalBytes = 16;  // an argument of local memory may not be empty

}  // namespace

/// The argument of a launch with the places of its pointers instead of addresses: 0 for null, else the number
/// of a buffer among those of the launch, counted from 1, and an offset in it.
class Kernel::Arguments {
 public:
  Arguments(const Kernel& kernel, const void* argument, std::size_t bytes,
            std::span<const std::size_t> pointers)
      : kernel_(kernel), job_(bytes) {
    if (pointers.empty()) fail(" was given an argument that does not tell where its pointers are");
    std::memcpy(job_.data(), argument, bytes);
    for (const std::size_t at : pointers) translate(at);
  }

  [[nodiscard]] const std::vector<unsigned char>& job() const { return job_; }
  /// Null from the first unused slot on.
  [[nodiscard]] const std::array<MemoryHandle, kSlots>& buffers() const { return buffers_; }

 private:
  const Kernel& kernel_;
  std::vector<unsigned char> job_;
  std::array<MemoryHandle, kSlots> buffers_{};

  void translate(std::size_t at) {
    const void* address = nullptr;
    std::memcpy(&address, job_.data() + at, sizeof address);
    if (address == nullptr) return;
    const std::optional<Place> place = kernel_.device_->memory().find(address);
    if (!place) fail(" was given an address that is not in the device's memory");
    const std::uint64_t value = std::uint64_t{slot_of(place->memory) + 1} << kSlotShift | place->offset;
    std::memcpy(job_.data() + at, &value, sizeof value);
  }

  unsigned slot_of(MemoryHandle memory) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if (buffers_[slot] == nullptr) buffers_[slot] = memory;
      if (buffers_[slot] == memory) return slot;
    }
    fail(" was given more buffers than it takes");
  }

  [[noreturn]] void fail(const char* why) const {
    throw DriverError(Fault::other, static_cast<int>(kernel_.device_->index()), kernel_.name_ + why);
  }
};

Kernel::Kernel(Device& device, KernelHandle handle, std::string name)
    : device_(&device), handle_(handle), name_(std::move(name)), mutex_(std::make_unique<std::mutex>()) {
  std::size_t most = 0;
  std::array<std::size_t, 3> required{};
  const auto ask = [&](Info info, auto& value) {
    device.call(device.api().get_kernel_info, handle_, device.handle(), info, sizeof value,
                static_cast<void*>(&value), nullptr);
  };
  ask(kKernelWorkGroupSize, most);
  ask(kKernelRequiredWorkGroupSize, required);
  most_work_items_ = static_cast<unsigned>(most);
  requires_size_ = required[0] != 0;
}

unsigned Kernel::blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const {
  if (block > most_work_items_ || shared_bytes > device_->properties().shared_per_block) return 0;
  return device_->is_cpu() ? 1 : std::max(1u, kResidentOnGpu / block);
}

void Kernel::launch_with(const gpu::Stream& stream, const gpu::LaunchShape& shape, const void* argument,
                         std::size_t bytes, std::span<const std::size_t> pointers) const {
  Arguments arguments(*this, argument, bytes, pointers);
  // The driver keeps what an enqueued kernel uses until it has run.
  const OwnedMemory job = device_->copy_of(arguments.job().data(), arguments.job().size());
  const MemoryHandle any = arguments.buffers()[0] == nullptr ? job.get() : arguments.buffers()[0];
  const std::size_t global = std::size_t{shape.grid} * shape.block;
  // Only kernels that name the size of their work-groups have work-items that cooperate. In the others each
  // work-item has its own part of the local memory, so that smaller work-groups, which some drivers demand of
  // long kernels, need a part of what is there. The global size is a multiple of theirs.
  const unsigned most = std::min(kWorkGroup, std::bit_floor(std::max(1U, most_work_items_)));
  const bool fits = requires_size_ || shape.block <= most;
  const std::size_t local = fits ? shape.block : std::gcd(shape.block, most);
  const DriverApi& api = device_->api();
  const std::lock_guard lock(*mutex_);
  std::uint32_t number = 0;
  const auto set = [&](std::size_t size, const void* value) {
    device_->call(api.set_kernel_argument, handle_, number++, size, value);
  };
  const MemoryHandle job_handle = job.get();
  set(sizeof job_handle, &job_handle);
  for (const MemoryHandle buffer : arguments.buffers()) {
    const MemoryHandle given = buffer == nullptr ? any : buffer;
    set(sizeof given, &given);
  }
  set(std::max(shape.shared_bytes, kLeastLocalBytes), nullptr);
  device_->call(api.enqueue_kernel, queue_of(stream), handle_, 1u, nullptr, &global, &local, 0u, nullptr,
                nullptr);
}

}  // namespace manymod::opencl
