// SPDX-License-Identifier: Apache-2.0
// Requirements of variants that run on the CPU: features of its instruction set.
#pragma once

#include <memory>

#include "core/cpu_features.hpp"
#include "engine/requirements.hpp"

namespace manymod {

class CpuTraits final : public DeviceTraits {
 public:
  /// `hidden`: features that the CPU has but that MANYMOD_HIDE_CPU hides, and which `features` lacks.
  explicit CpuTraits(CpuFeatures features, CpuFeatures hidden = 0) : features_(features), hidden_(hidden) {}

  [[nodiscard]] CpuFeatures features() const { return features_; }
  [[nodiscard]] CpuFeatures hidden() const { return hidden_; }

 private:
  CpuFeatures features_, hidden_;
};

/// The variant runs on CPUs that have all of `features`.
std::shared_ptr<const Requirements> cpu_requirements(CpuFeatures features);

}  // namespace manymod
