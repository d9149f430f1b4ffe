// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu_requirements.hpp"

#include <string>

namespace manymod {
namespace {

std::string names_with_commas(CpuFeatures features) {
  std::string names = cpu_feature_names(features);
  for (std::size_t at = names.find(' '); at != std::string::npos; at = names.find(' ', at + 2)) {
    names.replace(at, 1, ", ");
  }
  return names;
}

class CpuRequirements final : public Requirements {
 public:
  explicit CpuRequirements(CpuFeatures features) : features_(features) {}

  [[nodiscard]] std::string describe() const override { return cpu_feature_names(features_); }

  [[nodiscard]] std::string obstacle(std::string_view /*device_name*/,
                                     const DeviceTraits& traits) const override {
    const auto& cpu = static_cast<const CpuTraits&>(traits);
    const CpuFeatures missing = features_ & ~cpu.features();
    if (missing == 0) return {};
    std::string why = "needs " + names_with_commas(missing) + ", which this CPU lacks";
    const CpuFeatures hidden = missing & cpu.hidden();
    if (hidden != 0) why += " (hidden by MANYMOD_HIDE_CPU: " + names_with_commas(hidden) + ")";
    return why;
  }

 private:
  CpuFeatures features_;
};

}  // namespace

std::shared_ptr<const Requirements> cpu_requirements(CpuFeatures features) {
  return std::make_shared<const CpuRequirements>(features);
}

}  // namespace manymod
