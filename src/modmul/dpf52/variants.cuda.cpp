// SPDX-License-Identifier: Apache-2.0
#include "modmul/dpf52/variants.cuda.hpp"

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "modmul/dpf52/shapes.cuda.hpp"

namespace manymod::dpf52 {

std::span<const gpu::Technique> cuda_techniques() {
#define SHAPE(threads, per_thread, block, blocks) \
  gpu::make_shape<Multiplier, threads, per_thread>("dpf52_" #threads "x" #per_thread, block, blocks),
  static constexpr gpu::Shape kShapes[] = {MM_DPF52_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {
      {.folder = "dpf52",
       .name = "dpf52",
       .summary = "52-bit digits in doubles, products by FMA rounded toward zero",
       .priority = 90,
       .shapes = kShapes,
       .backend = &cuda::backend(),
       .requirements = cuda::cuda_requirements({.wants_fast_doubles = true})}};
  return kForms;
}

}  // namespace manymod::dpf52
