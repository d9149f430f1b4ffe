// SPDX-License-Identifier: Apache-2.0
#include "modmul/reduced_radix/variants.opencl.hpp"

#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/reduced_radix/shapes.opencl.hpp"
#include "modmul/scalar64/variants.hpp"

namespace manymod::reduced_radix {

std::span<const gpu::Technique> opencl_techniques() {
#define SHAPE(threads, per_thread) make_shape("reduced_radix_" #threads "x" #per_thread, threads, per_thread),
  static constexpr gpu::Shape kShapes[] = {MM_REDUCED_RADIX_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {
      {.folder = "reduced_radix",
       .name = "reduced_radix",
       .summary = "digits of 27 to 29 bits with columns of 64 bits",
       .priority = 75,
       .shapes = kShapes,
       .backend = &opencl::backend(),
       .requirements = opencl::requirements("reduced_radix", opencl::DeviceKind::gpu),
       .reference = scalar64::make_fastest_engine}};
  return kForms;
}

}  // namespace manymod::reduced_radix
