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

/// Null for curves without kernels. Weierstrass curves without their own have those for any curve of the
/// least width of any_curve.cuda.hpp that fits, if their order is odd and that of the generator has more than
/// one window of bits.
const device::CurveKernels* find_curve_kernels(const Curve& curve);

/// The engine on CUDA. On input: the variant offers the curve; at least one device. The devices share the
/// items of a call. `host` computes what they do not: single points, and items that all of them fail to.
/// wide_window: see DeviceCurve.
std::unique_ptr<const PointEngine> make_engine(const Curve& curve, std::span<gpu::Device* const> devices,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window = device::kWideWindow);

}  // namespace manymod::ecc::cuda
