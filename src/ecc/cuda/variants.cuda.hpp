// SPDX-License-Identifier: Apache-2.0
// Points and signatures on curves on CUDA: the variant cuda.row32.
#pragma once

#include <memory>
#include <span>

#include "ecc/device/device_curve.hpp"
#include "ecc/device/jobs.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/variants.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::cuda {

inline constexpr const char* kName = "cuda.row32";

Variant variant();

/// Primes of that many bits and more have kernels: on shorter ones processors are as fast.
inline constexpr std::size_t kMinFieldBits = 64;

/// The kernels for a curve; null if there are none. A Weierstrass curve without kernels of its own uses
/// those for any curve (any_curve.cuda.hpp) of the smallest width that fits, if its order is odd and the
/// order of its generator is longer than one window.
const device::CurveKernels* find_curve_kernels(const Curve& curve);

/// An engine on CUDA devices, which share the items of a call. On input: the variant offers the curve; at
/// least one device. `host` computes what the kernels do not: single points, and items that all devices fail
/// to compute. wide_window: see DeviceCurve.
std::unique_ptr<const PointEngine> make_engine(const Curve& curve, std::span<gpu::Device* const> devices,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window = device::kWideWindow);

}  // namespace manymod::ecc::cuda
