// SPDX-License-Identifier: Apache-2.0
// The beginning of a report on one GPU: card, driver, CUDA version, date and commit.
#pragma once

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/driver.hpp"
#include "json.hpp"
#include "report_file.hpp"

namespace manymod::bench {

inline Json report_of(cuda::Device& device, bool quick) {
  const gpu::DeviceProperties& properties = device.properties();
  Json document;
  document["card"] = properties.model;
  document["compute_capability"] = device.compute_capability();
  document["multiprocessors"] = properties.multiprocessors;
  document["driver"] = driver_version();
  document["cuda"] = cuda::version_text(cuda::Driver::current().version());
  document["date"] = now();
  document["commit"] = commit();
  document["quick"] = quick;
  return document;
}

}  // namespace manymod::bench
