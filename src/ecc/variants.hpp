// SPDX-License-Identifier: Apache-2.0
// The variants of point arithmetic: each backend adds its own, and plans choose among them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "ecc/point_engine.hpp"
#include "engine/variant.hpp"

namespace manymod::ecc {

struct Variant {
  const char* name;     ///< such as "scalar64", "lanes.ifma52", "cuda.row32"
  Backend backend;      ///< on the calling thread, or on GPUs
  bool (*runs_here)();  ///< whether this machine has what it needs
  bool (*offers)(const Curve& curve);
  /// For a curve that it offers, on a machine that has what it needs; the curve must outlive the engine.
  /// `gpus`: for variants on GPUs, the indices of those that it computes on, at least one. Such as cannot be
  /// opened are left out. @throws gpu::DeviceError if none is left
  std::unique_ptr<const PointEngine> (*make)(const Curve& curve, std::span<const unsigned> gpus);
};

/// All variants of this build, fastest first. The last one, scalar64, runs everywhere and offers every curve.
std::span<const Variant> variants();
/// Null if there is none of this name.
const Variant* find_variant(const char* name);

}  // namespace manymod::ecc
