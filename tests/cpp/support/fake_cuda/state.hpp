// SPDX-License-Identifier: Apache-2.0
// The state of the fake driver, which the files that define its functions share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

#include "gpu/cuda/driver_api.hpp"
#include "support/fake_cuda/control.hpp"

// The handle types are declared in driver_api.hpp and defined here.
namespace manymod::cuda {
struct ContextObject {
  int device;
};
struct FunctionObject {
  std::string name;
  fake_cuda::KernelFunction function;
};
struct KernelObject {
  FunctionObject* function;
};
struct LibraryObject {
  const void* data;
};
struct ModuleObject {
  const void* data;
};
struct StreamObject {
  int device;
};
struct EventObject {
  bool recorded;
};
}  // namespace manymod::cuda

namespace fake_cuda {

inline constexpr manymod::cuda::Result kOutOfMemory = 2;
inline constexpr manymod::cuda::Result kInvalidDevice = 101;
inline constexpr manymod::cuda::Result kInvalidContext = 201;
inline constexpr manymod::cuda::Result kNotFound = 500;

struct Memory {
  std::size_t bytes = 0;
  int device = 0;
  std::unique_ptr<unsigned char[]> data;
};

struct State {
  Settings settings;
  Counts counts;
  pid_t process = 0;                ///< that called cuInit
  manymod::cuda::Result fault = 0;  ///< returned by every call, once it is not 0
  std::size_t allocated = 0;        ///< bytes of device memory
  std::size_t host_allocated = 0;   ///< bytes of page-locked memory
  std::size_t allocations_made = 0;
  std::size_t host_allocations_made = 0;
  std::array<manymod::cuda::ContextObject, kMaxDevices> contexts{};
  std::map<std::uintptr_t, Memory> device_memory;  ///< by address
  std::map<std::uintptr_t, Memory> host_memory;
  std::map<std::string, manymod::cuda::FunctionObject> functions;
  std::map<std::string, manymod::cuda::KernelObject> kernels;
  manymod::cuda::LibraryObject library{};
  manymod::cuda::ModuleObject module{};
};

/// The contexts that the calling thread has pushed and not yet popped.
struct ContextStack {
  std::array<manymod::cuda::ContextObject*, 16> contexts{};
  std::size_t depth = 0;
};

/// Guards state(); not held while a kernel runs.
std::recursive_mutex& lock();
State& state();
ContextStack& context_stack();
/// The context on top of the calling thread's stack, or nullptr.
manymod::cuda::ContextObject* current_context();

/// Counts a misuse of the driver. @return `result`
manymod::cuda::Result misuse(manymod::cuda::Result result);
/// The first step of every call after cuInit: counts the call and applies the failures of the settings.
manymod::cuda::Result begin_call();
/// The first step of a call that needs a current context.
manymod::cuda::Result begin_context_call();

/// The model name of device `index`.
std::string model_of(int index);
/// Copies `text` and its terminating zero to an array of `size` characters, if it fits.
manymod::cuda::Result copy_text(const std::string& text, char* to, std::size_t size);

}  // namespace fake_cuda
