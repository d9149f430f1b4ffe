// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/requirements.hpp"

#include <algorithm>
#include <string>

namespace manymod::cuda {
namespace {

constexpr unsigned kNoLimit = std::numeric_limits<unsigned>::max();

std::string capability_text(unsigned capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

class CudaRequirements final : public Requirements {
 public:
  explicit CudaRequirements(const CudaNeeds& needs) : needs_(needs) {}

  [[nodiscard]] std::string describe() const override {
    std::string text = "compute capability " + capability_text(needs_.min_compute_capability);
    if (needs_.max_compute_capability < kNoLimit) {
      text += " to " + capability_text(needs_.max_compute_capability);
    }
    return text;
  }

  [[nodiscard]] std::string obstacle(std::string_view device_name,
                                     const DeviceTraits& traits) const override {
    const auto& gpu = static_cast<const CudaTraits&>(traits);
    const unsigned has = gpu.compute_capability(), code = gpu.code_capability();
    const std::string device = "device '" + std::string(device_name) + "'";
    if (has < needs_.min_compute_capability || has > needs_.max_compute_capability) {
      return "needs " + describe() + ", " + device + " has " + capability_text(has);
    }
    if (std::ranges::find(gpu.left_out(), needs_.technique) != gpu.left_out().end()) {
      return "needs the kernels of " + std::string(needs_.technique) +
             ", which this build leaves out (MANYMOD_COMPARISON_KERNELS)";
    }
    // If the build has no code at all for the GPU, the calls themselves report it.
    if (code == 0 || code >= needs_.min_compute_capability) return {};
    return "needs kernels compiled for " + describe() + ", this build has those of " + capability_text(code) +
           " for " + device + " (MANYMOD_CUDA_ARCHITECTURES)";
  }

  [[nodiscard]] bool suits(const DeviceTraits& traits) const override {
    return !needs_.wants_fast_doubles || static_cast<const CudaTraits&>(traits).full_rate_doubles();
  }
  [[nodiscard]] bool wants_fast_doubles() const override { return needs_.wants_fast_doubles; }

 private:
  CudaNeeds needs_;
};

}  // namespace

std::shared_ptr<const Requirements> cuda_requirements(const CudaNeeds& needs) {
  return std::make_shared<const CudaRequirements>(needs);
}

}  // namespace manymod::cuda
