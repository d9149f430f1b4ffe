// SPDX-License-Identifier: Apache-2.0
// What a technique's CUDA kernels require of a GPU, and of what this build compiled for it.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "engine/requirements.hpp"

namespace manymod::cuda {

class CudaTraits final : public DeviceTraits {
 public:
  /// `code_capability`: of the code that the GPU runs, `left_out`: techniques without kernels in this build;
  /// see gpu/cuda/device_code.hpp.
  CudaTraits(unsigned compute_capability, unsigned code_capability, bool full_rate_doubles,
             std::span<const std::string_view> left_out = {})
      : compute_capability_(compute_capability),
        code_capability_(code_capability),
        full_rate_doubles_(full_rate_doubles),
        left_out_(left_out) {}

  [[nodiscard]] unsigned compute_capability() const { return compute_capability_; }  ///< 90 for 9.0
  [[nodiscard]] unsigned code_capability() const { return code_capability_; }
  [[nodiscard]] bool full_rate_doubles() const { return full_rate_doubles_; }  ///< see gpu/nvidia.hpp
  [[nodiscard]] std::span<const std::string_view> left_out() const { return left_out_; }
  [[nodiscard]] int rank() const override { return full_rate_doubles_ ? 1 : 0; }

 private:
  unsigned compute_capability_, code_capability_;
  bool full_rate_doubles_;
  std::span<const std::string_view> left_out_;
};

struct CudaNeeds {
  std::string_view technique = {};  ///< folder of the kernels, where a build may leave them out
  /// Required by the instructions used. This is independent of the capabilities for which the build has
  /// machine code or PTX (MANYMOD_CUDA_ARCHITECTURES).
  unsigned min_compute_capability = 70;
  unsigned max_compute_capability = std::numeric_limits<unsigned>::max();
  /// Whether the kernels are inefficient on a GPU whose FP64 instructions are much slower than the others.
  bool wants_fast_doubles = false;
};

std::shared_ptr<const Requirements> cuda_requirements(const CudaNeeds& needs);

}  // namespace manymod::cuda
