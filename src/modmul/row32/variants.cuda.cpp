// SPDX-License-Identifier: Apache-2.0
#include "modmul/row32/variants.cuda.hpp"

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "modmul/row32/shapes.cuda.hpp"

namespace manymod::row32 {

std::span<const gpu::Technique> cuda_techniques() {
#define SHAPE(threads, per_thread, block, blocks) \
  gpu::make_shape<Multiplier, threads, per_thread>("row32_" #threads "x" #per_thread, block, blocks),
  static constexpr gpu::Shape kShapes[] = {MM_ROW32_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {{.folder = "row32",
                                           .name = "row32",
                                           .summary = "rows of 32-bit products with carry chains",
                                           .priority = 80,
                                           .shapes = kShapes,
                                           .backend = &cuda::backend(),
                                           .requirements = cuda::cuda_requirements({})}};
  return kForms;
}

}  // namespace manymod::row32
