// SPDX-License-Identifier: Apache-2.0
#include "modmul/dpf52/variants.opencl.hpp"

#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/dpf52/shapes.opencl.hpp"
#include "modmul/scalar64/variants.hpp"

namespace manymod::dpf52 {

std::span<const gpu::Technique> opencl_techniques() {
#define SHAPE(threads, per_thread) make_opencl_shape("dpf52_" #threads "x" #per_thread, threads, per_thread),
  static constexpr gpu::Shape kShapes[] = {MM_DPF52_OPENCL_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {
      {.folder = "dpf52",
       .name = "dpf52",
       .summary = "52-bit digits in doubles, products by FMA rounded to nearest",
       .priority = 60,
       .shapes = kShapes,
       .backend = &opencl::backend(),
       .requirements = opencl::requirements("dpf52", opencl::DeviceKind::gpu, true),
       .reference = scalar64::make_fastest_engine}};
  return kForms;
}

}  // namespace manymod::dpf52
