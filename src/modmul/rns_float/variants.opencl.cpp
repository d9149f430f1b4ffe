// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns_float/variants.opencl.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/engine/constants.hpp"
#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/cios32/variants.opencl.hpp"
#include "modmul/rns_float/base_pair.hpp"
#include "modmul/rns_float/half_word.cuda.hpp"
#include "modmul/rns_float/host_tables.opencl.hpp"
#include "modmul/scalar64/variants.hpp"
#include "repr/words.hpp"

namespace manymod::rns_float {
namespace {

constexpr int kOpenclPriority = 5;  // low: the technique is for comparison
constexpr unsigned kBlock = 64;

/// A kernel with its bases.
struct OpenclForm {
  gpu::Shape shape;
  std::vector<std::byte> (*table)();
  std::vector<std::uint32_t> (*squared_radix)();
};

template <class Bases, unsigned kTile>
constexpr OpenclForm form(const char* kernel) {
  static_assert(meets_base_conditions<Bases>() && meets_channel_conditions<PackedHalfWord, Bases>());
  static_assert(Bases::kChannels % kTile == 0 && Bases::kBits % 32 == 0);
  return {{.kernel = kernel,
           .per_thread = Bases::kChannels,
           .block = kBlock,
           .words = Bases::kBits / 32,
           .radix_bits = 0,
           .lane_words = Bases::kChannels,
           .step = kBlock,
           .source = "modmul/rns_float/kernels"},
          [] { return opencl_table(base_b<Bases>(), base_a<Bases>(), kTile); },
          [] { return words::squared_product(Bases::kB); }};
}

// The tiles are those of multiplier.clh.
constexpr OpenclForm kOpenclForms[] = {form<rns::Half512, 22>("rns_float_1x44"),
                                       form<rns::Half1024, 22>("rns_float_1x88"),
                                       form<rns::Half2048, 23>("rns_float_1x184")};

const OpenclForm& form_of(const gpu::Shape& shape) {
  const OpenclForm* form = kOpenclForms;
  while (form->shape.per_thread != shape.per_thread) ++form;
  return *form;
}

}  // namespace

std::span<const gpu::Technique> opencl_techniques() {
  static constexpr gpu::Shape kShapes[] = {kOpenclForms[0].shape, kOpenclForms[1].shape,
                                           kOpenclForms[2].shape};
  static constexpr gpu::ConstantsSource kConstants{
      [](const gpu::Shape& shape) { return form_of(shape).table(); }, nullptr,
      [](const gpu::Shape& shape) { return form_of(shape).squared_radix(); }};
  // Few moduli share a factor with a base. cios32 computes these on every kind of device.
  static const gpu::Technique kForms[] = {
      {.folder = "rns_float",
       .name = "rns_float.half",
       .summary = "residue number systems on binary32, moduli of half words, stored in pairs",
       .priority = kOpenclPriority,
       .shapes = kShapes,
       .backend = &opencl::backend(),
       .requirements = opencl::requirements("rns_float", opencl::DeviceKind::any),
       .constants = &kConstants,
       .general = &cios32::opencl_techniques().front(),
       .comparison_only = true,
       .reference = scalar64::make_fastest_engine}};
  return kForms;
}

}  // namespace manymod::rns_float
