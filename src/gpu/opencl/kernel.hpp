// SPDX-License-Identifier: Apache-2.0
// A kernel of this library on one OpenCL device.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "gpu/kernel.hpp"
#include "gpu/opencl/driver_api.hpp"

namespace manymod::opencl {

class Device;

/// All kernels have the same parameters: the job, in constant memory; kSlots buffers, of which the job's
/// pointers select one each; local memory.
class Kernel final : public gpu::Kernel {
 public:
  /// Buffers that one launch may access.
  static constexpr unsigned kSlots = 4;

  Kernel(Device& device, KernelHandle handle, std::string name);

  [[nodiscard]] unsigned blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const override;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  class Arguments;

  void launch_with(const gpu::Stream& stream, const gpu::LaunchShape& shape, const void* argument,
                   std::size_t bytes, std::span<const std::size_t> pointers) const override;

  Device* device_;
  KernelHandle handle_;
  std::string name_;
  unsigned most_work_items_;           ///< of a work-group
  bool requires_size_;                 ///< whether the source names the size of its work-groups
  std::unique_ptr<std::mutex> mutex_;  ///< of the handle's arguments
};

}  // namespace manymod::opencl
