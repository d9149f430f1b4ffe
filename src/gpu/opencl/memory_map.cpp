// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/memory_map.hpp"

#include <sys/mman.h>

namespace manymod::opencl {
namespace {

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

MemoryMap::~MemoryMap() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses that mmap returned
  for (const auto& [first, range] : ranges_) munmap(reinterpret_cast<void*>(first), range.bytes + 1);
}

void* MemoryMap::add(MemoryHandle memory, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  void* const address =
      mmap(nullptr, bytes + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  try {
    ranges_.emplace(number_of(address), Range{memory, bytes});
  } catch (...) {
    munmap(address, bytes + 1);
    throw;
  }
  return address;
}

MemoryHandle MemoryMap::remove(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(number_of(address));
  const Range range = found->second;
  ranges_.erase(found);
  munmap(address, range.bytes + 1);
  return range.memory;
}

std::optional<Place> MemoryMap::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  auto found = ranges_.upper_bound(number_of(address));
  if (found == ranges_.begin()) return std::nullopt;
  --found;
  const std::size_t offset = number_of(address) - found->first;
  if (offset > found->second.bytes) return std::nullopt;
  return Place{found->second.memory, offset};
}

}  // namespace manymod::opencl
