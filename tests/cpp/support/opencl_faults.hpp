// SPDX-License-Identifier: Apache-2.0
// Functions in place of an OpenCL driver's (opencl::DriverSources::replaced_functions), which fail, or use
// the driver's own.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

#include "gpu/opencl/driver_api.hpp"

namespace manymod::testing {

inline constexpr const char* kOpenclLoader = "libOpenCL.so.1";

/// The driver's own function.
template <class Pointer>
Pointer own(const char* name) {
  static void* const library = dlopen(kOpenclLoader, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Pointer>(dlsym(library, name));
}

template <class Pointer>
void* address(Pointer function) {
  return reinterpret_cast<void*>(function);
}

/// clBuildProgram of a compiler that fails.
inline opencl::Status fail_to_build(opencl::ProgramHandle, std::uint32_t, const opencl::DeviceHandle*,
                                    const char*, void*, void*) {
  return -11;  // CL_BUILD_PROGRAM_FAILURE
}

/// clEnqueueReadBuffer that changes a bit of the first byte: a kernel that is wrong in one item.
inline opencl::Status read_wrongly(opencl::QueueHandle queue, opencl::MemoryHandle memory,
                                   opencl::Bool /*wait*/, std::size_t offset, std::size_t bytes, void* to,
                                   std::uint32_t count, const opencl::EventHandle* events,
                                   opencl::EventHandle* event) {
  const opencl::Status status = own<decltype(&read_wrongly)>("clEnqueueReadBuffer")(
      queue, memory, 1, offset, bytes, to, count, events, event);
  *static_cast<unsigned char*>(to) ^= 1;
  return status;
}

}  // namespace manymod::testing
