// SPDX-License-Identifier: Apache-2.0
// The fake driver: device memory, page-locked memory, and copies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/cuda/driver_api.hpp"
#include "support/fake_cuda/state.hpp"

// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr): the driver's own names and types
using namespace fake_cuda;      // NOLINT(google-build-using-namespace)
using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

namespace {

Result find_range(const std::map<std::uintptr_t, Memory>& memory, std::uintptr_t address, std::size_t bytes) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return misuse(kErrorInvalidValue);
  const auto& [start, block] = *--after;
  const bool inside = address - start <= block.bytes && bytes <= block.bytes - (address - start);
  return inside ? kSuccess : misuse(kErrorInvalidValue);
}

std::uintptr_t keep(std::map<std::uintptr_t, Memory>& memory, std::size_t bytes) {
  Memory block{bytes, current_context()->device, std::make_unique<unsigned char[]>(bytes)};
  std::memset(block.data.get(), 0xa5, bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(block.data.get());
  memory.emplace(address, std::move(block));
  return address;
}

// The memory of a lost device cannot be wiped. It counts as freed although the call fails, so that the rest
// is a leak.
Result drop(std::map<std::uintptr_t, Memory>& memory, std::size_t& allocated, std::uintptr_t address) {
  const Result begun = begin_context_call();
  const auto found = memory.find(address);
  if (found == memory.end()) return misuse(kErrorInvalidValue);
  const std::size_t bytes = found->second.bytes;
  const unsigned char* const data = found->second.data.get();
  const bool wiped = std::all_of(data, data + bytes, [](unsigned char byte) { return byte == 0; });
  const bool can_be_wiped = begun == kSuccess || &memory == &state().host_memory;
  if (can_be_wiped && !wiped) ++state().counts.unwiped;
  allocated -= bytes;
  memory.erase(found);
  return begun;
}

}  // namespace

extern "C" {

FAKE_CUDA_API Result cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  State& s = state();
  if (bytes == 0) return misuse(kErrorInvalidValue);
  if (s.allocations_made++ == s.settings.failing_allocation) return kOutOfMemory;
  if (bytes > s.settings.memory_bytes - std::min(s.allocated, s.settings.memory_bytes)) return kOutOfMemory;
  s.allocated += bytes;
  *address = keep(s.device_memory, bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemFree_v2(DeviceAddress address) {
  const std::lock_guard guard(lock());
  return drop(state().device_memory, state().allocated, address);
}

FAKE_CUDA_API Result cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  State& s = state();
  if (s.host_allocations_made++ == s.settings.failing_host_allocation) return kOutOfMemory;
  if (bytes > s.settings.host_memory_bytes - std::min(s.host_allocated, s.settings.host_memory_bytes)) {
    return kOutOfMemory;
  }
  s.host_allocated += bytes;
  s.counts.largest_host_allocation = std::max(s.counts.largest_host_allocation, bytes);
  *data = reinterpret_cast<void*>(keep(s.host_memory, bytes));
  return kSuccess;
}

FAKE_CUDA_API Result cuMemFreeHost(void* data) {
  const std::lock_guard guard(lock());
  return drop(state().host_memory, state().host_allocated, reinterpret_cast<std::uintptr_t>(data));
}

FAKE_CUDA_API Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes,
                                          StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result != kSuccess) return result;
  state().counts.to_device_bytes += bytes;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, from, bytes);
  if (result != kSuccess) return result;
  state().counts.to_host_bytes += bytes;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                          StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result == kSuccess) result = find_range(state().device_memory, from, bytes);
  if (result != kSuccess) return result;
  state().counts.on_device_bytes += bytes;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemsetD8Async(DeviceAddress to, unsigned char value, std::size_t bytes, StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result == kSuccess) std::memset(reinterpret_cast<void*>(to), value, bytes);
  return result;
}

FAKE_CUDA_API Result cuPointerGetAttribute(void* value, int attribute, DeviceAddress address) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  const auto& memory = state().device_memory;
  const auto after = memory.upper_bound(address);
  if (after == memory.begin()) return kErrorInvalidValue;
  const auto& [start, block] = *std::prev(after);
  if (address - start >= block.bytes) return kErrorInvalidValue;
  const int found = attribute == kPointerMemoryType ? static_cast<int>(kMemoryTypeDevice) : block.device;
  std::memcpy(value, &found, sizeof found);
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)
