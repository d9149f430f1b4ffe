// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/requirements.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "core/environment.hpp"

namespace manymod::opencl {
namespace {

/// What has been found so far. Never freed.
struct Disqualified {
  std::map<std::pair<unsigned, std::string>, std::string> reasons;
  const Disqualified* previous;  // keeps it reachable, so that it does not count as leaked
};

// An atomic, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
std::atomic<const Disqualified*>& latest() {
  static std::atomic<const Disqualified*> all = nullptr;
  return all;
}

/// Replaces what has been found by a copy that `change` has changed.
template <class Change>
void update(const Change& change) {
  const Disqualified* before = latest().load();
  for (;;) {
    auto after = std::make_unique<Disqualified>();
    if (before != nullptr) after->reasons = before->reasons;
    after->previous = before;
    change(after->reasons);
    if (latest().compare_exchange_strong(before, after.get())) {
      static_cast<void>(after.release());
      return;
    }
  }
}

class OpenclRequirements final : public Requirements {
 public:
  OpenclRequirements(std::string_view technique, DeviceKind efficient_on, bool on_doubles)
      : technique_(technique), efficient_on_(efficient_on), on_doubles_(on_doubles) {}

  [[nodiscard]] std::string describe() const override {
    return on_doubles_ ? "OpenCL 1.2 with double precision" : "OpenCL 1.2";
  }

  [[nodiscard]] std::string obstacle(std::string_view device_name,
                                     const DeviceTraits& traits) const override {
    const auto& device = static_cast<const OpenclTraits&>(traits);
    if (on_doubles_ && device.doubles() == Doubles::none) {
      return "needs double precision with fma that is rounded to nearest, which device '" +
             std::string(device_name) + "' does not have";
    }
    const Disqualified* const all = latest().load();
    if (all == nullptr) return {};
    const auto found = all->reasons.find({device.index(), technique_});
    if (found == all->reasons.end()) return {};
    return "is not used on device '" + std::string(device_name) + "': " + found->second;
  }

  [[nodiscard]] bool suits(const DeviceTraits& traits) const override {
    const auto& device = static_cast<const OpenclTraits&>(traits);
    if (on_doubles_ && device.doubles() != Doubles::fast) return false;
    return efficient_on_ == DeviceKind::any || device.is_cpu() == (efficient_on_ == DeviceKind::cpu);
  }
  [[nodiscard]] bool wants_fast_doubles() const override { return on_doubles_; }

  [[nodiscard]] std::string secret_obstacle() const override {
    const char* const allowed = environment_variable("MANYMOD_OPENCL_SECRET");
    if (allowed != nullptr && std::string_view(allowed) == "1") return {};
    return "offers no constant time unless MANYMOD_OPENCL_SECRET=1 says that the driver is trusted to "
           "compile kernels to it";
  }

 private:
  std::string technique_;
  DeviceKind efficient_on_;
  bool on_doubles_;
};

}  // namespace

std::shared_ptr<const Requirements> requirements(std::string_view technique, DeviceKind efficient_on,
                                                 bool on_doubles) {
  return std::make_shared<const OpenclRequirements>(technique, efficient_on, on_doubles);
}

void disqualify(unsigned device_index, std::string_view technique, const std::string& reason) {
  update([&](auto& reasons) { reasons.insert_or_assign({device_index, std::string(technique)}, reason); });
}

void forget_disqualified() {
  update([](auto& reasons) { reasons.clear(); });
}

}  // namespace manymod::opencl
