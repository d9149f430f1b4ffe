// SPDX-License-Identifier: Apache-2.0
// Builds the kernels of this library for a device, from source or from a cached binary.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/kernel.hpp"
#include "gpu/opencl/binary_cache.hpp"
#include "gpu/opencl/driver.hpp"

namespace manymod::opencl {

/// The driver's compiler rejected a source, or this build has no such kernel.
class BuildFailure final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ProgramBuilder {
 public:
  ProgramBuilder(const DriverApi& api, ContextHandle context, const DeviceFacts& device,
                 std::span<const KernelSource> sources)
      : api_(api),
        context_(context),
        device_(device),
        sources_(sources),
        cache_(BinaryCache::of_environment()) {}

  /// Lives as long as the process. Kernel "mm_<name>" without a source is in gpu/opencl/kernels/, in the file
  /// whose name <name> begins with.
  /// @throws BuildFailure, DriverError
  [[nodiscard]] KernelHandle kernel(const gpu::KernelId& id) const;

 private:
  struct Recipe;

  const DriverApi& api_;
  ContextHandle context_;
  const DeviceFacts& device_;
  std::span<const KernelSource> sources_;
  BinaryCache cache_;

  [[nodiscard]] Recipe recipe(const gpu::KernelId& id) const;
  [[nodiscard]] ProgramHandle build(const Recipe& recipe) const;
  [[nodiscard]] ProgramHandle from_source(const Recipe& recipe) const;
  /// Null if the driver does not take the binary.
  [[nodiscard]] ProgramHandle from_binary(const Recipe& recipe, std::span<const std::uint8_t> binary) const;
  /// Empty if the driver has none.
  [[nodiscard]] std::vector<std::uint8_t> binary_of(ProgramHandle program) const;
  [[nodiscard]] Sha256Digest key_of(const Recipe& recipe) const;
  [[nodiscard]] std::string log_of(ProgramHandle program) const;
};

}  // namespace manymod::opencl
