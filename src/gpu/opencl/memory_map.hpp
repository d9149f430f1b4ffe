// SPDX-License-Identifier: Apache-2.0
// Addresses of device memory. OpenCL 1.2 has none: memory is known by handles, and kernels receive it as
// arguments. Each allocation is therefore given a range of addresses of this process that nothing else has
// and that cannot be accessed, so that pointers into it can be calculated with as in other backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "gpu/opencl/driver_api.hpp"

namespace manymod::opencl {

/// A position in the device's memory.
struct Place {
  MemoryHandle memory = nullptr;
  std::size_t offset = 0;
};

/// Thread-safe.
class MemoryMap {
 public:
  MemoryMap() = default;
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap();

  /// Gives the memory addresses. @return the first one; null if the process has no more
  void* add(MemoryHandle memory, std::size_t bytes);
  /// Takes back the addresses that `add` returned. @return the memory
  MemoryHandle remove(void* address);
  /// Nothing for an address that `add` did not give to any memory. The address just behind a memory belongs
  /// to it, where an array of no elements may be.
  [[nodiscard]] std::optional<Place> find(const void* address) const;

 private:
  struct Range {
    MemoryHandle memory;
    std::size_t bytes;
  };
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_;
};

}  // namespace manymod::opencl
