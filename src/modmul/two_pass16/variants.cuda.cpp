// SPDX-License-Identifier: Apache-2.0
#include "modmul/two_pass16/variants.cuda.hpp"

#include "modmul/two_pass16/multiplier.cuda.hpp"
#include "modmul/two_pass16/shapes.cuda.hpp"

namespace manymod::two_pass16 {

std::span<const gpu::Technique> cuda_forms() {
#define SHAPE(threads, per_thread, block, blocks) \
  gpu::make_shape<Multiplier, threads, per_thread>("two_pass16_" #threads "x" #per_thread, block, blocks),
  static constexpr gpu::Shape kShapes[] = {MM_TWO_PASS16_SHAPES(SHAPE)};
#undef SHAPE
  static const gpu::Technique kForms[] = {
      {"two_pass16", "two_pass16", "16-bit products, unaligned ones first", 20, kShapes}};
  return kForms;
}

}  // namespace manymod::two_pass16
