// SPDX-License-Identifier: Apache-2.0
// The part of OpenCL 1.2 that this library uses, looked up at run time.
//
// The declarations follow CL/cl.h (The OpenCL Specification 1.2, Khronos), so that neither building nor
// loading this library needs any file of OpenCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "gpu/opencl/error.hpp"
#include "gpu/symbol_source.hpp"

namespace manymod::opencl {

using PlatformHandle = struct PlatformObject*;  // cl_platform_id
using DeviceHandle = struct DeviceObject*;      // cl_device_id
using ContextHandle = struct ContextObject*;    // cl_context
using QueueHandle = struct QueueObject*;        // cl_command_queue
using MemoryHandle = struct MemoryObject*;      // cl_mem
using ProgramHandle = struct ProgramObject*;    // cl_program
using KernelHandle = struct KernelObject*;      // cl_kernel
using EventHandle = struct EventObject*;        // cl_event

using Bits = std::uint64_t;      // cl_bitfield
using Property = std::intptr_t;  // cl_context_properties
using Info = std::uint32_t;      // cl_platform_info, cl_device_info, ..
using Bool = std::uint32_t;      // cl_bool

inline constexpr Status kSuccess = 0;
inline constexpr Status kPlatformNotFound = -1001;  // of cl_khr_icd

inline constexpr Info kPlatformName = 0x0902;

inline constexpr Bits kDeviceTypeCpu = 1u << 1;
inline constexpr Bits kDeviceTypeAll = 0xFFFFFFFF;

inline constexpr Info kDeviceType = 0x1000;
inline constexpr Info kDeviceComputeUnits = 0x1002;
inline constexpr Info kDeviceWorkGroupSize = 0x1004;
inline constexpr Info kDeviceMemoryBytes = 0x101F;
inline constexpr Info kDeviceLocalBytes = 0x1023;
inline constexpr Info kDeviceLittleEndian = 0x1026;
inline constexpr Info kDeviceAvailable = 0x1027;
inline constexpr Info kDeviceCompilerAvailable = 0x1028;
inline constexpr Info kDeviceName = 0x102B;
inline constexpr Info kDeviceVendor = 0x102C;
inline constexpr Info kDriverVersion = 0x102D;
inline constexpr Info kDeviceProfile = 0x102E;
inline constexpr Info kDeviceVersion = 0x102F;
inline constexpr Info kDeviceExtensions = 0x1030;
inline constexpr Info kDeviceDoubleConfig = 0x1032;
inline constexpr Info kDeviceCapabilityMajor = 0x4000;  // of cl_nv_device_attribute_query
inline constexpr Info kDeviceCapabilityMinor = 0x4001;

inline constexpr Bits kRoundsToNearest = 1u << 2;  // of kDeviceDoubleConfig
inline constexpr Bits kHasFma = 1u << 5;

inline constexpr Property kContextPlatform = 0x1084;

inline constexpr Bits kMemoryReadWrite = 1u << 0;
inline constexpr Bits kMemoryReadOnly = 1u << 2;
inline constexpr Bits kMemoryAllocateOnHost = 1u << 4;
inline constexpr Bits kMemoryCopyFromHost = 1u << 5;
inline constexpr Bits kMapRead = 1u << 0;
inline constexpr Bits kMapWrite = 1u << 1;

inline constexpr Info kProgramBinarySizes = 0x1165;
inline constexpr Info kProgramBinaries = 0x1166;
inline constexpr Info kBuildLog = 0x1183;
inline constexpr Info kKernelWorkGroupSize = 0x11B0;
inline constexpr Info kKernelRequiredWorkGroupSize = 0x11B1;

template <class Returned, class... Parameters>
using Function = gpu::DriverFunction<Returned, Parameters...>;

/// The driver's functions. A missing one is a null pointer, and `missing()` names it.
class DriverApi {
 public:
  DriverApi(void* library, std::span<const std::string> hidden, std::map<std::string, void*> replaced)
      : source_(library, hidden, std::move(replaced)) {}
  [[nodiscard]] const std::string& missing() const { return source_.missing(); }

 private:
  gpu::SymbolSource source_;  // declared first: the initialisers of the functions use it
  using Events = const EventHandle*;

 public:
  Function<Status, std::uint32_t, PlatformHandle*, std::uint32_t*> get_platforms{source_, "clGetPlatformIDs"};
  Function<Status, PlatformHandle, Info, std::size_t, void*, std::size_t*> get_platform_info{
      source_, "clGetPlatformInfo"};
  Function<Status, PlatformHandle, Bits, std::uint32_t, DeviceHandle*, std::uint32_t*> get_devices{
      source_, "clGetDeviceIDs"};
  Function<Status, DeviceHandle, Info, std::size_t, void*, std::size_t*> get_device_info{source_,
                                                                                         "clGetDeviceInfo"};

  Function<ContextHandle, const Property*, std::uint32_t, const DeviceHandle*, void*, void*, Status*>
      create_context{source_, "clCreateContext"};
  Function<QueueHandle, ContextHandle, DeviceHandle, Bits, Status*> create_queue{source_,
                                                                                 "clCreateCommandQueue"};
  Function<Status, QueueHandle> release_queue{source_, "clReleaseCommandQueue"};
  Function<Status, QueueHandle> flush{source_, "clFlush"};
  Function<Status, QueueHandle> finish{source_, "clFinish"};
  Function<Status, QueueHandle, std::uint32_t, Events, EventHandle*> enqueue_marker{
      source_, "clEnqueueMarkerWithWaitList"};
  Function<Status, std::uint32_t, Events> wait_for_events{source_, "clWaitForEvents"};
  Function<Status, EventHandle> release_event{source_, "clReleaseEvent"};

  Function<MemoryHandle, ContextHandle, Bits, std::size_t, void*, Status*> create_buffer{source_,
                                                                                         "clCreateBuffer"};
  Function<Status, MemoryHandle> release_memory{source_, "clReleaseMemObject"};
  Function<Status, QueueHandle, MemoryHandle, Bool, std::size_t, std::size_t, void*, std::uint32_t, Events,
           EventHandle*>
      enqueue_read{source_, "clEnqueueReadBuffer"};
  Function<Status, QueueHandle, MemoryHandle, Bool, std::size_t, std::size_t, const void*, std::uint32_t,
           Events, EventHandle*>
      enqueue_write{source_, "clEnqueueWriteBuffer"};
  Function<Status, QueueHandle, MemoryHandle, MemoryHandle, std::size_t, std::size_t, std::size_t,
           std::uint32_t, Events, EventHandle*>
      enqueue_copy{source_, "clEnqueueCopyBuffer"};
  Function<Status, QueueHandle, MemoryHandle, const void*, std::size_t, std::size_t, std::size_t,
           std::uint32_t, Events, EventHandle*>
      enqueue_fill{source_, "clEnqueueFillBuffer"};
  Function<void*, QueueHandle, MemoryHandle, Bool, Bits, std::size_t, std::size_t, std::uint32_t, Events,
           EventHandle*, Status*>
      enqueue_map{source_, "clEnqueueMapBuffer"};
  Function<Status, QueueHandle, MemoryHandle, void*, std::uint32_t, Events, EventHandle*> enqueue_unmap{
      source_, "clEnqueueUnmapMemObject"};

  Function<ProgramHandle, ContextHandle, std::uint32_t, const char**, const std::size_t*, Status*>
      create_program_with_source{source_, "clCreateProgramWithSource"};
  Function<ProgramHandle, ContextHandle, std::uint32_t, const DeviceHandle*, const std::size_t*,
           const unsigned char**, Status*, Status*>
      create_program_with_binary{source_, "clCreateProgramWithBinary"};
  Function<Status, ProgramHandle, std::uint32_t, const DeviceHandle*, const char*, void*, void*>
      build_program{source_, "clBuildProgram"};
  Function<Status, ProgramHandle, Info, std::size_t, void*, std::size_t*> get_program_info{
      source_, "clGetProgramInfo"};
  Function<Status, ProgramHandle, DeviceHandle, Info, std::size_t, void*, std::size_t*> get_build_info{
      source_, "clGetProgramBuildInfo"};
  Function<Status, ProgramHandle> release_program{source_, "clReleaseProgram"};

  Function<KernelHandle, ProgramHandle, const char*, Status*> create_kernel{source_, "clCreateKernel"};
  Function<Status, KernelHandle, DeviceHandle, Info, std::size_t, void*, std::size_t*> get_kernel_info{
      source_, "clGetKernelWorkGroupInfo"};
  Function<Status, KernelHandle, std::uint32_t, std::size_t, const void*> set_kernel_argument{
      source_, "clSetKernelArg"};
  Function<Status, QueueHandle, KernelHandle, std::uint32_t, const std::size_t*, const std::size_t*,
           const std::size_t*, std::uint32_t, Events, EventHandle*>
      enqueue_kernel{source_, "clEnqueueNDRangeKernel"};
};

}  // namespace manymod::opencl
