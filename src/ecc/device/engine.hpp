// SPDX-License-Identifier: Apache-2.0
// Points and signatures on curves on GPUs, by one thread for each item: the engine of all backends, whose
// kernels have the same arguments (jobs.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ecc/device/device_curve.hpp"
#include "ecc/device/jobs.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/variants.hpp"
#include "gpu/backend.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::device {

/// Kernels that drivers compile: each is compared with the host before its first use on a device
/// (known_answers.hpp). Where that fails, or a kernel cannot be compiled, those of the same name
/// (CurveKernels::common_name) are not used on the device any more.
struct TestedKernels {
  const gpu::Backend* backend;  ///< remembers which kernels are not used (Backend::disqualify)
  /// Why kernels of a name are not used; empty if they are.
  std::string (*obstacle)(unsigned device_index, const std::string& common_name);
};

/// The backend whose kernels an engine launches, and what is particular to it.
struct EngineKind {
  const char* variant;
  Backend backend;
  /// Whether secret scalars go to the GPU; otherwise the host computes with them.
  bool takes_secrets = true;
  /// Null: kernels are compiled with the library, and tested with it.
  const TestedKernels* tested = nullptr;
  /// PointEngine::least_chunk is granularity() / granule_parts. Measured on an H100 with CUDA: kernels of
  /// chunks as short as that run side by side.
  std::size_t granule_parts = 8;
};

/// Whether this build has kernels of the backend and this machine a usable device.
bool runs_here(Backend backend);

/// The devices of that backend that can be opened. @throws gpu::DeviceError the failure of the first one, if
/// no other is left
std::vector<gpu::Device*> open_devices(Backend backend, std::span<const unsigned> indices);
/// The fastest engine of the processor.
std::unique_ptr<const PointEngine> make_host(const Curve& curve);

/// An engine for the curve on `devices`, which share the items of a call. `host` computes what the kernels
/// do not: single points, and items that all devices fail to compute. wide_window: see DeviceCurve.
std::unique_ptr<const PointEngine> make_engine(const EngineKind& kind, const Curve& curve,
                                               std::span<gpu::Device* const> devices, CurveKernels kernels,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window = kWideWindow);

}  // namespace manymod::ecc::device
