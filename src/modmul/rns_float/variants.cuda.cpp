// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns_float/variants.cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/engine/constants.hpp"
#include "modmul/rns_float/host_tables.hpp"
#include "modmul/rns_float/multiplier.cuda.hpp"
#include "modmul/rns_float/shapes.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::rns_float {
namespace {

// Low: the technique is for comparison, so only a tuning row or its name chooses it.
constexpr int kPriority = 5;

/// The tables and M_B^2 of the multiplier of a shape.
struct HostConstants {
  std::vector<std::byte> (*table)();
  std::vector<std::uint32_t> (*squared_radix)();
};

/// The functions that build them.
template <template <class, unsigned> class Multiplier, unsigned kThreads, unsigned kPerThread>
constexpr HostConstants host_constants() {
  using M = Multiplier<cuda::ThreadGroup<kThreads>, kPerThread>;
  return {&table_bytes<M, kThreads, kPerThread>, &squared_radix<typename M::BasesOfShape>};
}

/// A kernel's name with its constants.
struct Row {
  const char* kernel;
  HostConstants constants;
};

#define SHAPE(form, threads, per_thread, block, blocks)                                                   \
  gpu::make_shape<form::Multiplier, threads, per_thread>("rns_float_" #form "_" #threads "x" #per_thread, \
                                                         block, blocks),
#define FORM(form, SHAPES, summary) constexpr gpu::Shape form##_shapes[] = {SHAPES(SHAPE, form)};
MM_RNS_FLOAT_FORMS(FORM)
#undef FORM
#undef SHAPE

#define SHAPE(form, threads, per_thread, block, blocks) \
  {"rns_float_" #form "_" #threads "x" #per_thread, host_constants<form::Multiplier, threads, per_thread>()},
#define FORM(form, SHAPES, summary) SHAPES(SHAPE, form)
constexpr Row kRows[] = {MM_RNS_FLOAT_FORMS(FORM)};
#undef FORM
#undef SHAPE

const HostConstants& constants_of(const gpu::Shape& shape) {
  const Row* row = kRows;
  while (std::strcmp(row->kernel, shape.kernel) != 0) ++row;
  return row->constants;
}

constexpr gpu::ConstantsSource kConstants{
    [](const gpu::Shape& shape) { return constants_of(shape).table(); }, nullptr,
    [](const gpu::Shape& shape) { return constants_of(shape).squared_radix(); }};

}  // namespace

std::span<const gpu::Technique> cuda_techniques() {
#define FORM(form, SHAPES, what)                                        \
  {.folder = "rns_float",                                               \
   .name = "rns_float." #form,                                          \
   .summary = "residue number systems on binary32, " what,              \
   .priority = kPriority,                                               \
   .shapes = form##_shapes,                                             \
   .backend = &cuda::backend(),                                         \
   .requirements = cuda::cuda_requirements({.technique = "rns_float"}), \
   .constants = &kConstants,                                            \
   .general = &row32::cuda_techniques().front(),                        \
   .comparison_only = true},
  static const gpu::Technique kForms[] = {MM_RNS_FLOAT_FORMS(FORM)};
#undef FORM
  return kForms;
}

}  // namespace manymod::rns_float
