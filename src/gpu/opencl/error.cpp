// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/error.hpp"

#include <algorithm>
#include <iterator>

namespace manymod::opencl {
namespace {

struct NamedStatus {
  Status status;
  const char* name;
  Fault fault;
};

// CL_OUT_OF_RESOURCES is ambiguous: drivers return it for a launch that needs too many registers as well as
// for a kernel that accessed a wrong address. A caller that tries less work at a time learns which it was.
constexpr NamedStatus kStatuses[] = {
    {-1, "CL_DEVICE_NOT_FOUND", Fault::no_device},
    {-2, "CL_DEVICE_NOT_AVAILABLE", Fault::no_device},
    {-3, "CL_COMPILER_NOT_AVAILABLE", Fault::no_device_code},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", Fault::out_of_memory},
    {-5, "CL_OUT_OF_RESOURCES", Fault::out_of_memory},
    {-6, "CL_OUT_OF_HOST_MEMORY", Fault::out_of_memory},
    {-11, "CL_BUILD_PROGRAM_FAILURE", Fault::no_device_code},
    {-12, "CL_MAP_FAILURE", Fault::out_of_memory},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", Fault::lost},
    {-30, "CL_INVALID_VALUE", Fault::other},
    {-33, "CL_INVALID_DEVICE", Fault::no_device},
    {-34, "CL_INVALID_CONTEXT", Fault::lost},
    {kInvalidQueue, "CL_INVALID_COMMAND_QUEUE", Fault::lost},
    {-38, "CL_INVALID_MEM_OBJECT", Fault::other},
    {-42, "CL_INVALID_BINARY", Fault::no_device_code},
    {-43, "CL_INVALID_BUILD_OPTIONS", Fault::no_device_code},
    {-44, "CL_INVALID_PROGRAM", Fault::other},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE", Fault::no_device_code},
    {-46, "CL_INVALID_KERNEL_NAME", Fault::no_device_code},
    {-48, "CL_INVALID_KERNEL", Fault::other},
    {-49, "CL_INVALID_ARG_INDEX", Fault::other},
    {-51, "CL_INVALID_ARG_SIZE", Fault::other},
    {-52, "CL_INVALID_KERNEL_ARGS", Fault::other},
    {-54, "CL_INVALID_WORK_GROUP_SIZE", Fault::other},
    {-59, "CL_INVALID_OPERATION", Fault::other},
    {-61, "CL_INVALID_BUFFER_SIZE", Fault::out_of_memory},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", Fault::no_driver},
    {-9999, "NVIDIA's status of a wrong access by a kernel", Fault::lost},
};

const NamedStatus* find(Status status) {
  const auto* const found = std::ranges::find(kStatuses, status, &NamedStatus::status);
  return found == std::end(kStatuses) ? nullptr : found;
}

}  // namespace

Fault fault_of(Status status) {
  const NamedStatus* const found = find(status);
  return found == nullptr ? Fault::other : found->fault;
}

std::string status_name(Status status) {
  const NamedStatus* const found = find(status);
  return found == nullptr ? "OpenCL error " + std::to_string(status) : found->name;
}

}  // namespace manymod::opencl
