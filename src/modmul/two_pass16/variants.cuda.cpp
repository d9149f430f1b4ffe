// SPDX-License-Identifier: Apache-2.0
#include "modmul/two_pass16/variants.cuda.hpp"

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "modmul/two_pass16/multiplier.cuda.hpp"
#include "modmul/two_pass16/shapes.cuda.hpp"

namespace manymod::two_pass16 {

std::span<const gpu::Technique> cuda_techniques() {
#define SHAPE(threads, per_thread, block, blocks) \
  gpu::make_shape<Multiplier, threads, per_thread>("two_pass16_" #threads "x" #per_thread, block, blocks),
  static constexpr gpu::Shape kShapes[] = {MM_TWO_PASS16_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {
      {.folder = "two_pass16",
       .name = "two_pass16",
       .summary = "16-bit products, unaligned ones first",
       .priority = 20,
       .shapes = kShapes,
       .backend = &cuda::backend(),
       .requirements = cuda::cuda_requirements({.technique = "two_pass16"}),
       .comparison_only = true}};
  return kForms;
}

}  // namespace manymod::two_pass16
