// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/backend.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "gpu/opencl/device.hpp"
#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/requirements.hpp"

namespace manymod::opencl {
namespace {

gpu::DeviceDescription describe(unsigned index, const DeviceFacts& facts) {
  return {.model = facts.name,
          .features = facts.is_cpu ? "cpu" : "gpu",
          .multiprocessors = facts.compute_units,
          .memory_bytes = facts.memory_bytes,
          .obstacle = facts.obstacle,
          .by_name_only = facts.is_cpu,
          .traits = std::make_shared<const OpenclTraits>(index, facts.is_cpu, facts.doubles)};
}

// "3.0" of "OpenCL 3.0 CUDA"
std::string version_number(const std::string& version) {
  const std::size_t first = version.find(' ');
  return first == std::string::npos ? version
                                    : version.substr(first + 1, version.find(' ', first + 1) - first - 1);
}

class OpenclBackend final : public gpu::Backend {
 public:
  [[nodiscard]] manymod::Backend id() const override { return manymod::Backend::opencl; }
  [[nodiscard]] const char* name() const override { return kBackendName; }
  [[nodiscard]] const char* title() const override { return "OpenCL"; }
  [[nodiscard]] bool built() const override { return true; }
  [[nodiscard]] unsigned generation() const override { return Driver::uses(); }
  [[nodiscard]] gpu::Device& device(unsigned index) const override { return Driver::current().device(index); }

  void disqualify(unsigned device_index, const char* technique, const std::string& reason) const override {
    opencl::disqualify(device_index, technique, reason);
  }

  [[nodiscard]] gpu::DeviceList list_devices() const override {
    gpu::DeviceList list;
    try {
      unsigned index = 0;
      for (const DeviceFacts& facts : Driver::current().devices()) {
        const std::string version = version_number(facts.version);
        if (version > list.driver) list.driver = version;
        list.devices.push_back(describe(index++, facts));
      }
      if (list.devices.empty()) list.obstacle = "no OpenCL driver offers a device";
    } catch (const DriverError& error) {
      list.obstacle = error.what();
    }
    return list;
  }

  // Kernel drivers of GPUs have such files, also in containers with access to the GPU. Loading OpenCL drivers
  // costs time and the ability to fork, so a machine without a GPU is spared it.
  [[nodiscard]] bool listing_initialises() const override { return true; }
  [[nodiscard]] bool may_have_gpu() const override {
    namespace fs = std::filesystem;
    constexpr const char* kFiles[] = {"/dev/dri", "/dev/kfd", "/dev/dxg", "/dev/mali0", "/dev/nvidiactl"};
    std::error_code ignored;
    for (const char* file : kFiles) {
      if (fs::exists(file, ignored)) return true;
    }
    return false;
  }
};

}  // namespace

const gpu::Backend& backend() {
  static const OpenclBackend backend;
  return backend;
}

}  // namespace manymod::opencl
