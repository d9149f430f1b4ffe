// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/technique.hpp"
#include "modmul/two_pass16/multiplier.cuda.hpp"
#include "modmul/two_pass16/shapes.cuda.hpp"

namespace manymod::device {

std::span<const Technique> two_pass16() {
#define SHAPE(threads, per_thread, block, blocks)                                                        \
  make_shape<two_pass16::Multiplier, threads, per_thread>("two_pass16_" #threads "x" #per_thread, block, \
                                                          blocks),
  static constexpr Shape kShapes[] = {MM_TWO_PASS16_SHAPES(SHAPE)};
#undef SHAPE
  static const Technique kForms[] = {
      {"two_pass16", "two_pass16", "16-bit products, unaligned ones first", 20, kShapes}};
  return kForms;
}

}  // namespace manymod::device
