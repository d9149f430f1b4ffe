// SPDX-License-Identifier: Apache-2.0
#include "modmul/cios32/variants.opencl.hpp"

#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/scalar64/variants.hpp"

namespace manymod::cios32 {
namespace {

constexpr unsigned kBlock = 64;

constexpr gpu::Shape shape(const char* kernel, unsigned words) {
  return {.kernel = kernel,
          .per_thread = words,
          .block = kBlock,
          .words = words,
          .radix_bits = 32 * words,
          .lane_words = words,
          .step = kBlock,
          .source = "modmul/cios32/kernels"};
}

}  // namespace

std::span<const gpu::Technique> opencl_techniques() {
  static constexpr gpu::Shape kShapes[] = {
      shape("cios32_1x4", 4),     shape("cios32_1x8", 8),     shape("cios32_1x12", 12),
      shape("cios32_1x16", 16),   shape("cios32_1x24", 24),   shape("cios32_1x32", 32),
      shape("cios32_1x48", 48),   shape("cios32_1x64", 64),   shape("cios32_1x96", 96),
      shape("cios32_1x128", 128), shape("cios32_1x192", 192), shape("cios32_1x256", 256)};
  static const gpu::Technique kForms[] = {
      {.folder = "cios32",
       .name = "cios32",
       .summary = "rows of 32-bit products with 64-bit sums",
       .priority = 70,
       .shapes = kShapes,
       .backend = &opencl::backend(),
       .requirements = opencl::requirements("cios32", opencl::DeviceKind::cpu),
       .reference = scalar64::make_fastest_engine}};
  return kForms;
}

}  // namespace manymod::cios32
