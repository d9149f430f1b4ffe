// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver API that this library uses, looked up at run time.
//
// The declarations follow cuda.h (CUDA Driver API reference manual, 13.0), so that neither building nor
// loading this library needs any file of CUDA. cuda.h's macros expand to the versioned names (cuMemAlloc_v2),
// which the driver keeps forever.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gpu/cuda/error.hpp"
#include "gpu/symbol_source.hpp"

namespace manymod::cuda {

using DeviceHandle = int;                       // CUdevice
using DeviceAddress = unsigned long long;       // CUdeviceptr
using ContextHandle = struct ContextObject*;    // CUcontext
using ModuleHandle = struct ModuleObject*;      // CUmodule
using FunctionHandle = struct FunctionObject*;  // CUfunction
using LibraryHandle = struct LibraryObject*;    // CUlibrary
using KernelHandle = struct KernelObject*;      // CUkernel
using StreamHandle = struct StreamObject*;      // CUstream
using EventHandle = struct EventObject*;        // CUevent

inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorInvalidValue = 1;
inline constexpr Result kErrorNotInitialized = 3;
inline constexpr Result kErrorNotFound = 500;

// CUdevice_attribute
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeMode = 20;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kSharedPerBlockOptIn = 97;

inline constexpr int kComputeModeProhibited = 2;  // CUcomputemode

// CUfunction_attribute
inline constexpr int kFunctionStaticShared = 1;
inline constexpr int kFunctionLocalBytes = 3;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionMaxDynamicShared = 8;

// CUpointer_attribute, CUmemorytype
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr unsigned kMemoryTypeDevice = 2;

inline constexpr unsigned kStreamNonBlocking = 1;   // CUstream_flags
inline constexpr unsigned kEventBlockingSync = 1;   // CUevent_flags
inline constexpr unsigned kEventDisableTiming = 2;  // CUevent_flags
inline constexpr unsigned kHostAllocPortable = 1;   // CU_MEMHOSTALLOC_PORTABLE

using gpu::SymbolSource;

template <class... Parameters>
using Function = gpu::DriverFunction<Result, Parameters...>;

/// The driver's functions. A missing one is a null pointer; `missing()` names the required ones among them.
class DriverApi {
 public:
  DriverApi(void* library, std::span<const std::string> hidden)
      : required_(library, hidden), optional_(library, hidden) {}
  [[nodiscard]] const std::string& missing() const { return required_.missing(); }

 private:
  SymbolSource required_;  // declared first: the initialisers of the functions use these two
  const SymbolSource optional_;

 public:
  Function<unsigned> init{required_, "cuInit"};
  Function<int*> driver_get_version{required_, "cuDriverGetVersion"};
  Function<Result, const char**> get_error_name{required_, "cuGetErrorName"};

  Function<int*> device_get_count{required_, "cuDeviceGetCount"};
  Function<DeviceHandle*, int> device_get{required_, "cuDeviceGet"};
  Function<char*, int, DeviceHandle> device_get_name{required_, "cuDeviceGetName"};
  Function<int*, int, DeviceHandle> device_get_attribute{required_, "cuDeviceGetAttribute"};
  Function<std::size_t*, DeviceHandle> device_total_memory{required_, "cuDeviceTotalMem_v2"};

  Function<ContextHandle*, DeviceHandle> primary_context_retain{required_, "cuDevicePrimaryCtxRetain"};
  Function<ContextHandle> context_push{required_, "cuCtxPushCurrent_v2"};
  Function<ContextHandle*> context_pop{required_, "cuCtxPopCurrent_v2"};
  Function<> context_synchronize{required_, "cuCtxSynchronize"};

  // Since CUDA 12.0; modules are used where they are missing.
  Function<LibraryHandle*, const void*, int*, void**, unsigned, int*, void**, unsigned> library_load_data{
      optional_, "cuLibraryLoadData"};
  Function<KernelHandle*, LibraryHandle, const char*> library_get_kernel{optional_, "cuLibraryGetKernel"};
  Function<FunctionHandle*, KernelHandle> kernel_get_function{optional_, "cuKernelGetFunction"};
  Function<ModuleHandle*, const void*> module_load_data{required_, "cuModuleLoadData"};
  Function<FunctionHandle*, ModuleHandle, const char*> module_get_function{required_, "cuModuleGetFunction"};

  Function<int*, int, FunctionHandle> function_get_attribute{required_, "cuFuncGetAttribute"};
  Function<FunctionHandle, int, int> function_set_attribute{required_, "cuFuncSetAttribute"};
  Function<int*, FunctionHandle, int, std::size_t> occupancy_max_blocks{
      required_, "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
  Function<FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle,
           void**, void**>
      launch_kernel{required_, "cuLaunchKernel"};

  Function<StreamHandle*, unsigned> stream_create{required_, "cuStreamCreate"};
  Function<StreamHandle> stream_destroy{required_, "cuStreamDestroy_v2"};
  Function<StreamHandle> stream_synchronize{required_, "cuStreamSynchronize"};

  Function<EventHandle*, unsigned> event_create{required_, "cuEventCreate"};
  Function<EventHandle> event_destroy{required_, "cuEventDestroy_v2"};
  Function<EventHandle, StreamHandle> event_record{required_, "cuEventRecord"};
  Function<EventHandle> event_synchronize{required_, "cuEventSynchronize"};
  Function<float*, EventHandle, EventHandle> event_elapsed_time{required_, "cuEventElapsedTime"};

  Function<DeviceAddress*, std::size_t> memory_allocate{required_, "cuMemAlloc_v2"};
  Function<DeviceAddress> memory_free{required_, "cuMemFree_v2"};
  Function<void**, std::size_t, unsigned> host_allocate{required_, "cuMemHostAlloc"};
  Function<void*> host_free{required_, "cuMemFreeHost"};
  Function<DeviceAddress, const void*, std::size_t, StreamHandle> copy_to_device{required_,
                                                                                 "cuMemcpyHtoDAsync_v2"};
  Function<void*, DeviceAddress, std::size_t, StreamHandle> copy_to_host{required_, "cuMemcpyDtoHAsync_v2"};
  Function<DeviceAddress, DeviceAddress, std::size_t, StreamHandle> copy_on_device{required_,
                                                                                   "cuMemcpyDtoDAsync_v2"};
  Function<DeviceAddress, unsigned char, std::size_t, StreamHandle> memory_set{required_, "cuMemsetD8Async"};
  Function<void*, int, DeviceAddress> pointer_attribute{required_, "cuPointerGetAttribute"};
};

}  // namespace manymod::cuda
