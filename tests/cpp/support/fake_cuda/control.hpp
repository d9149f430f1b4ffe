// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a GPU: a shared library with the functions of libcuda.so.1 and libnvidia-ml.so.1 that
// the library uses. Device memory is host memory, and copies and kernels run synchronously. C++ tests link it
// for the controls below, and pass its path to Driver::use.
//
// Other programs load it by LD_LIBRARY_PATH: the folder fake_cuda of the build has it under both names. It
// then has the kernels of kernels.hpp, and the environment variable FAKE_CUDA sets the settings below by
// name:
//
//   FAKE_CUDA=devices=2,memory_bytes=1000000,lost_at_call=40
//
// The C function fake_cuda_count("launches") returns the member of Counts with that name; after
// fake_cuda_lose() every call fails, as from `lost_at_call` on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#define FAKE_CUDA_API __attribute__((visibility("default")))

namespace fake_cuda {

/// A kernel: a function of the launch shape and the array of pointers to its arguments.
struct Launch {
  unsigned grid = 0;
  unsigned block = 0;
  unsigned shared_bytes = 0;
};
using KernelFunction = std::function<void(const Launch& launch, void** parameters)>;

inline constexpr unsigned kMaxDevices = 8;
inline constexpr std::size_t kNever = SIZE_MAX;

/// The properties of the driver and its GPUs, and the failures to inject. Call numbers begin at 0.
struct Settings {
  unsigned devices = 1;
  int version = 13000;
  int capability = 90;
  unsigned multiprocessors = 132;
  unsigned threads_per_multiprocessor = 2048;
  bool management = true;                           ///< NVML works
  bool different_models = false;                    ///< the GPUs have different model names
  bool prohibited = false;                          ///< compute mode
  bool partitioned = false;                         ///< MIG mode
  int init_result = 0;                              ///< of cuInit
  int retain_result = 0;                            ///< of cuDevicePrimaryCtxRetain
  int load_result = 0;                              ///< of cuLibraryLoadData and cuModuleLoadData
  int stream_result = 0;                            ///< of cuStreamCreate
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of a device: more is out of memory
  std::size_t host_memory_bytes = kNever;           ///< that can be page-locked
  std::size_t failing_allocation = kNever;          ///< of device memory: this one is out of memory
  std::size_t failing_host_allocation = kNever;
  std::size_t failing_call = kNever;     ///< this call does nothing and returns call_result
  int call_result = 801;                 ///< CUDA_ERROR_NOT_SUPPORTED
  std::size_t failing_launch = kNever;   ///< this launch returns launch_result
  int launch_result = 701;               ///< CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
  std::size_t faulting_launch = kNever;  ///< its kernel does not run; from then on every call fails
  int fault_result = 700;                ///< CUDA_ERROR_ILLEGAL_ADDRESS
  std::size_t lost_at_call = kNever;     ///< from this call on every call fails, with fault_result
};

struct Counts {
  std::size_t calls = 0;  ///< of functions that can fail by `failing_call` and `lost_at_call`
  std::size_t initialisations = 0;
  std::size_t contexts = 0;       ///< retained
  std::size_t context_depth = 0;  ///< pushed by this thread and not yet popped
  std::size_t images = 0;         ///< loaded
  std::size_t launches = 0;
  std::size_t to_device_bytes = 0;  ///< copied
  std::size_t to_host_bytes = 0;
  std::size_t on_device_bytes = 0;
  std::size_t allocations = 0;  ///< of device memory, live
  std::size_t host_allocations = 0;
  std::size_t largest_host_allocation = 0;  ///< bytes
  std::size_t streams = 0;                  ///< live
  std::size_t events = 0;                   ///< live
  std::size_t unwiped = 0;                  ///< memory freed that was not all 0
  std::size_t misuses = 0;  ///< no context, freed twice, copy out of bounds, call in a forked child
};

/// Resets everything: objects, registered kernels, settings (those of the environment included) and counts.
FAKE_CUDA_API void reset();
FAKE_CUDA_API Settings& settings();
FAKE_CUDA_API const Counts& counts();
/// The number of bytes of device memory that are allocated now.
FAKE_CUDA_API std::size_t allocated_bytes();
/// Whether these bytes occur anywhere in device memory or page-locked memory.
FAKE_CUDA_API bool holds(const void* bytes, std::size_t size);
/// Registers a kernel that every image then has; nullptr: a kernel that does nothing. kernels.hpp has the
/// library's kernels.
FAKE_CUDA_API void add_kernel(const char* name, const KernelFunction& function);
/// The kernel registered under that name, for kernels that wrap another one.
FAKE_CUDA_API KernelFunction kernel(const char* name);

}  // namespace fake_cuda
