// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/requirements.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "core/environment.hpp"

namespace manymod::opencl {
namespace {

struct Disqualified {
  std::mutex mutex;  // held for a look-up only; the child of a fork in that moment has no devices to select
  std::map<std::pair<unsigned, std::string>, std::string> reasons;
};

Disqualified& disqualified() {
  static Disqualified all;
  return all;
}

class OpenclRequirements final : public Requirements {
 public:
  OpenclRequirements(std::string_view technique, DeviceKind efficient_on)
      : technique_(technique), efficient_on_(efficient_on) {}

  [[nodiscard]] std::string describe() const override { return "OpenCL 1.2"; }

  [[nodiscard]] std::string obstacle(std::string_view device_name,
                                     const DeviceTraits& traits) const override {
    Disqualified& all = disqualified();
    const std::lock_guard lock(all.mutex);
    const auto found = all.reasons.find({static_cast<const OpenclTraits&>(traits).index(), technique_});
    if (found == all.reasons.end()) return {};
    return "is not used on device '" + std::string(device_name) + "': " + found->second;
  }

  [[nodiscard]] bool suits(const DeviceTraits& traits) const override {
    return static_cast<const OpenclTraits&>(traits).is_cpu() == (efficient_on_ == DeviceKind::cpu);
  }

  [[nodiscard]] std::string secret_obstacle() const override {
    const char* const allowed = environment_variable("MANYMOD_OPENCL_SECRET");
    if (allowed != nullptr && std::string_view(allowed) == "1") return {};
    return "offers no constant time unless MANYMOD_OPENCL_SECRET=1 says that the driver is trusted to "
           "compile "
           "kernels to it";
  }

 private:
  std::string technique_;
  DeviceKind efficient_on_;
};

}  // namespace

std::shared_ptr<const Requirements> requirements(std::string_view technique, DeviceKind efficient_on) {
  return std::make_shared<const OpenclRequirements>(technique, efficient_on);
}

void disqualify(unsigned device_index, std::string_view technique, const std::string& reason) {
  Disqualified& all = disqualified();
  const std::lock_guard lock(all.mutex);
  all.reasons.insert_or_assign({device_index, std::string(technique)}, reason);
}

void forget_disqualified() {
  Disqualified& all = disqualified();
  const std::lock_guard lock(all.mutex);
  all.reasons.clear();
}

}  // namespace manymod::opencl
