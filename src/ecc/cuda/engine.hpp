// SPDX-License-Identifier: Apache-2.0
// The variant cuda.row32: points of curves over special primes on a GPU, by one thread for each item.
#pragma once

#include <memory>

#include "ecc/cuda/jobs.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/variants.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::cuda {

inline constexpr const char* kName = "cuda.row32";

Variant variant();

/// On input: the variant offers the curve. `host` computes what the GPU does not: single points, and all of a
/// call's items from where the GPU fails on. wide_window: see DeviceCurve.
std::unique_ptr<const PointEngine> make_engine(const Curve& curve, gpu::Device& device,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window = kWideWindow);

}  // namespace manymod::ecc::cuda
