// SPDX-License-Identifier: Apache-2.0
// The engine that all vector techniques share.
#pragma once

#include <memory>
#include <string>

#include "core/cpu_features.hpp"
#include "engine/variant.hpp"
#include "lanes/kernels.hpp"

namespace manymod::lanes {

/// An engine that computes with `kernels`, which must live as long as the process.
std::unique_ptr<Engine> make_engine(const Kernels& kernels);

/// A registry row for an engine on `kernels` that requires `features`: all but the priority, the summary and
/// make_engine is filled in.
Variant make_variant(std::string technique, const std::string& shape, const Kernels& kernels,
                     CpuFeatures features);

}  // namespace manymod::lanes
