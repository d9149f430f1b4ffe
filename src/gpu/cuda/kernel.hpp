// SPDX-License-Identifier: Apache-2.0
// A CUDA function in the context of one device.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gpu/cuda/driver_api.hpp"
#include "gpu/kernel.hpp"

namespace manymod::cuda {

class Device;

/// Copies are equivalent; valid as long as the process.
class Kernel final : public gpu::Kernel {
 public:
  Kernel(Device& device, FunctionHandle function, std::string name);

  [[nodiscard]] unsigned blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const override;
  [[nodiscard]] unsigned registers() const { return registers_; }      ///< of each thread
  [[nodiscard]] unsigned local_bytes() const { return local_bytes_; }  ///< of each thread: spills and arrays
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void launch_with(const gpu::Stream& stream, const gpu::LaunchShape& shape, const void* argument,
                   std::size_t bytes, std::span<const std::size_t> pointers) const override;
  [[nodiscard]] unsigned attribute(int attribute) const;

  Device* device_;
  FunctionHandle function_;
  std::string name_;
  unsigned registers_ = 0;
  unsigned local_bytes_ = 0;
};

}  // namespace manymod::cuda
