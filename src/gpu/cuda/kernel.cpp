// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/kernel.hpp"

#include <algorithm>
#include <utility>

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"

namespace manymod::cuda {

Kernel::Kernel(Device& device, FunctionHandle function, std::string name)
    : device_(&device), function_(function), name_(std::move(name)) {
  registers_ = attribute(kFunctionRegisters);
  local_bytes_ = attribute(kFunctionLocalBytes);
  // Dynamic shared memory above 48 KiB is allowed on request only. This raises the limit and reserves
  // nothing.
  const std::size_t limit = device.properties().shared_per_block;
  const std::size_t own = attribute(kFunctionStaticShared);
  device.call(device.api().function_set_attribute, function_, kFunctionMaxDynamicShared,
              static_cast<int>(limit - std::min(limit, own)));
}

unsigned Kernel::attribute(int attribute) const {
  int value = 0;
  device_->call(device_->api().function_get_attribute, &value, attribute, function_);
  return static_cast<unsigned>(std::max(value, 0));
}

unsigned Kernel::blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const {
  int blocks = 0;
  device_->call(device_->api().occupancy_max_blocks, &blocks, function_, static_cast<int>(block),
                shared_bytes);
  return static_cast<unsigned>(std::max(blocks, 0));
}

void Kernel::launch_with(const gpu::Stream& stream, const gpu::LaunchShape& shape, const void* argument,
                         std::size_t /*bytes*/, std::span<const std::size_t> /*pointers*/) const {
  if (shape.shared_bytes > device_->properties().shared_per_block) {
    throw DriverError(Fault::other, static_cast<int>(device_->index()),
                      name_ + " needs " + std::to_string(shape.shared_bytes) + " bytes of shared memory");
  }
  void* parameters[] = {const_cast<void*>(argument)};
  device_->call(device_->api().launch_kernel, function_, shape.grid, 1u, 1u, shape.block, 1u, 1u,
                static_cast<unsigned>(shape.shared_bytes), handle_of(stream), parameters, nullptr);
}

}  // namespace manymod::cuda
