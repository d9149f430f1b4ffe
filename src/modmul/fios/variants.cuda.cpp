// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/technique.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/shapes.cuda.hpp"

namespace manymod::device {
namespace {

constexpr int kPriority = 10;

#define SHAPE(form, threads, per_thread, block, blocks)                                                      \
  make_shape<fios::form::Multiplier, threads, per_thread>("fios_" #form "_" #threads "x" #per_thread, block, \
                                                          blocks),
#define FORM(form, SHAPES, summary) constexpr Shape form##_shapes[] = {SHAPES(SHAPE, form)};
MM_FIOS_FORMS(FORM)
#undef FORM
#undef SHAPE

}  // namespace

std::span<const Technique> fios() {
#define FORM(form, SHAPES, summary) \
  {"fios", "fios." #form, "finely integrated operand scanning, " summary, kPriority, form##_shapes},
  static const Technique kForms[] = {MM_FIOS_FORMS(FORM)};
#undef FORM
  return kForms;
}

}  // namespace manymod::device
