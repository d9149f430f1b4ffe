// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/technique.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "modmul/dpf52/shapes.cuda.hpp"

namespace manymod::device {

std::span<const Technique> dpf52() {
#define SHAPE(threads, per_thread, block, blocks) \
  make_shape<dpf52::Multiplier, threads, per_thread>("dpf52_" #threads "x" #per_thread, block, blocks),
  static constexpr Shape kShapes[] = {MM_DPF52_SHAPES(SHAPE)};
#undef SHAPE
  static const Technique kForms[] = {
      {"dpf52", "dpf52", "52-bit digits in doubles, products by FMA rounded toward zero", 90, kShapes, true}};
  return kForms;
}

}  // namespace manymod::device
