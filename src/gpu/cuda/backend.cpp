// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/backend.hpp"

#include <memory>
#include <string>

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/probe.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/nvidia.hpp"

namespace manymod::cuda {
namespace {

gpu::DeviceDescription describe(const DeviceInfo& info, const DriverSources& sources) {
  const unsigned capability = info.compute_capability;
  return {.model = info.model,
          .features = "sm_" + std::to_string(capability),
          .multiprocessors = info.multiprocessors,
          .memory_bytes = info.memory_bytes,
          .obstacle = info.obstacle,
          .traits = std::make_shared<const CudaTraits>(capability,
                                                       code_capability(sources.architectures, capability),
                                                       gpu::full_rate_doubles(capability), sources.left_out)};
}

class CudaBackend final : public gpu::Backend {
 public:
  [[nodiscard]] manymod::Backend id() const override { return manymod::Backend::cuda; }
  [[nodiscard]] const char* name() const override { return kBackendName; }
  [[nodiscard]] const char* title() const override { return "CUDA"; }
  [[nodiscard]] bool built() const override { return !Driver::current().sources().images.empty(); }
  [[nodiscard]] unsigned generation() const override { return Driver::uses(); }
  [[nodiscard]] gpu::Device& device(unsigned index) const override { return cuda::device(index); }

  [[nodiscard]] gpu::DeviceList list_devices() const override {
    Driver& driver = Driver::current();
    const Probe found = probe(driver);
    gpu::DeviceList list;
    if (found.driver_version > 0) list.driver = version_text(found.driver_version);
    list.obstacle = found.obstacle;
    for (const DeviceInfo& info : found.devices) {
      list.devices.push_back(describe(info, driver.sources()));
    }
    return list;
  }
};

}  // namespace

const gpu::Backend& backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace manymod::cuda
