// SPDX-License-Identifier: Apache-2.0
// The variant cuda.row32: points and signatures on curves on GPUs, by one thread for each item.
#pragma once

#include <memory>
#include <span>

#include "ecc/cuda/jobs.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/variants.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::cuda {

inline constexpr const char* kName = "cuda.row32";

Variant variant();

/// On input: the variant offers the curve; at least one device. The devices share the items of a call. `host`
/// computes what they do not: single points, and items that all of them fail to. wide_window: see
/// DeviceCurve.
std::unique_ptr<const PointEngine> make_engine(const Curve& curve, std::span<gpu::Device* const> devices,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window = kWideWindow);

}  // namespace manymod::ecc::cuda
