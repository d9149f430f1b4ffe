// SPDX-License-Identifier: Apache-2.0
#include "modmul/fios/variants.cuda.hpp"

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/shapes.cuda.hpp"

namespace manymod::fios {
namespace {

constexpr int kPriority = 10;

#define SHAPE(form, threads, per_thread, block, blocks)                                                     \
  gpu::make_shape<form::Multiplier, threads, per_thread>("fios_" #form "_" #threads "x" #per_thread, block, \
                                                         blocks),
#define FORM(form, SHAPES, summary) constexpr gpu::Shape form##_shapes[] = {SHAPES(SHAPE, form)};
MM_FIOS_FORMS(FORM)
#undef FORM
#undef SHAPE

}  // namespace

std::span<const gpu::Technique> cuda_techniques() {
#define FORM(form, SHAPES, what)                                   \
  {.folder = "fios",                                               \
   .name = "fios." #form,                                          \
   .summary = "finely integrated operand scanning, " what,         \
   .priority = kPriority,                                          \
   .shapes = form##_shapes,                                        \
   .backend = &cuda::backend(),                                    \
   .requirements = cuda::cuda_requirements({.technique = "fios"}), \
   .comparison_only = true},
  static const gpu::Technique kForms[] = {MM_FIOS_FORMS(FORM)};
#undef FORM
  return kForms;
}

}  // namespace manymod::fios
