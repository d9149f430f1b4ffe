// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a GPU: a shared library with the functions of libcuda.so.1 and libnvidia-ml.so.1 that
// the library uses. Memory is the host's; copies and kernels are done when they are called. Tests in C++ link
// it for these controls, and give its path to Driver::use.
//
// Other programs meet it by LD_LIBRARY_PATH: the build's folder fake_cuda has it under both names. It then
// has the kernels of kernels.hpp, and the settings that the environment variable FAKE_CUDA gives by their
// names below:
//
//   FAKE_CUDA=devices=2,memory_bytes=1000000,lost_at_call=40
//
// fake_cuda_count("launches") is a function in C that says what Counts has of that name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#define FAKE_CUDA_API __attribute__((visibility("default")))

namespace fake_cuda {

/// A kernel: gets the launch's shape and the array of pointers to its arguments.
struct Launch {
  unsigned grid = 0;
  unsigned block = 0;
  unsigned shared_bytes = 0;
};
using KernelFunction = std::function<void(const Launch& launch, void** parameters)>;

inline constexpr unsigned kMaxDevices = 8;
inline constexpr std::size_t kNever = SIZE_MAX;

/// How the driver is and what goes wrong. Counts begin at 0.
struct Settings {
  unsigned devices = 1;
  int version = 13000;
  int capability = 90;
  unsigned multiprocessors = 132;
  unsigned threads_per_multiprocessor = 2048;
  bool management = true;                           ///< NVML works
  bool unlike_models = false;                       ///< each GPU has a name of its own
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
  std::size_t failing_call = kNever;     ///< this one does nothing and returns call_result
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

/// As new: nothing is left of what was made and registered before, nor of the environment's settings.
FAKE_CUDA_API void reset();
FAKE_CUDA_API Settings& settings();
FAKE_CUDA_API const Counts& counts();
/// Of device memory, at this moment.
FAKE_CUDA_API std::size_t allocated_bytes();
/// Whether these bytes stand anywhere in the memory of a device or in page-locked memory.
FAKE_CUDA_API bool holds(const void* bytes, std::size_t size);
/// A kernel that every image has. nullptr: one that does nothing. See kernels.hpp for the library's.
FAKE_CUDA_API void add_kernel(const char* name, const KernelFunction& function);
/// What was registered under that name: for kernels that do something besides.
FAKE_CUDA_API KernelFunction kernel(const char* name);

}  // namespace fake_cuda
