// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/technique.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "modmul/row32/shapes.cuda.hpp"

namespace manymod::device {

std::span<const Technique> row32() {
#define SHAPE(threads, per_thread, block, blocks) \
  make_shape<row32::Multiplier, threads, per_thread>("row32_" #threads "x" #per_thread, block, blocks),
  static constexpr Shape kShapes[] = {MM_ROW32_SHAPES(SHAPE)};
#undef SHAPE
  static const Technique kForms[] = {
      {"row32", "row32", "rows of 32-bit products with carry chains", 80, kShapes}};
  return kForms;
}

}  // namespace manymod::device
