// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/variants.cuda.hpp"

#include <algorithm>

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/program/window_choice.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/shapes.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::rns {
namespace {

// Low: the technique is for large batches, so only a tuning row or its name chooses it.
constexpr int kPriority = 5;
// Its kernels need up to 222 KiB of shared memory per block; devices of compute capability 12.0 have 99.
constexpr unsigned kMaxComputeCapability = 119;
// The shared memory that a block may have on every device from compute capability 8.0 on, by the CUDA C++
// Programming Guide.
constexpr unsigned kCompactSharedBytes = 99 * 1024;
// mma.sync on bytes needs 8.0.
constexpr unsigned kCompactComputeCapability = 80;
// Four threads work on two instances.
constexpr unsigned kThreads = 2;
constexpr unsigned kWarp = 32, kWarpgroup = 128;
static_assert(1u << gpu::kWidestSelected <= kSelectionEntries);

constexpr unsigned bits_of(const gpu::Shape& shape) { return 32 * shape.words; }

// The shape of a kernel, as the engine launches it.
template <Form kForm>
constexpr gpu::Shape rns_shape(const char* kernel, unsigned block) {
  using Memory = SharedMemory<kForm>;
  gpu::Shape shape;
  shape.kernel = kernel;
  shape.threads = kThreads;
  shape.per_thread = 2 * kForm.quads();
  shape.block = block;
  shape.blocks = 1;
  shape.words = kForm.words;
  // A slot has a record for each of a thread's two instances.
  shape.lane_words = 2 * kForm.element_record().words();
  shape.shared_words = Memory::kRecordBytes / sizeof(std::uint32_t);
  // All warps of a block read the streaming matrices together.
  shape.step = Memory::kStreamed ? block : kForm.compact ? kWarp : kWarpgroup;
  shape.block_shared_bytes = Memory::kRecordsAt;
  shape.kernel_slots = kForm.kernel_slots();
  shape.selections = kForm.selections();
  shape.takes_pieces = true;
  return shape;
}

#define SHAPE(bits, block, tile_quads, one_in_flight, stages, moduli_shared) \
  rns_shape<shape_form(bits, tile_quads, one_in_flight, stages, moduli_shared)>("rns_" #bits, block),
constexpr gpu::Shape kShapes[] = {MM_RNS_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(bits, block, tile_quads, one_in_flight, stages, moduli_shared)                       \
  rns_shape<with_one_modulus(shape_form(bits, tile_quads, one_in_flight, stages, moduli_shared))>( \
      "rns_" #bits "_shared", block),
constexpr gpu::Shape kSharedShapes[] = {MM_RNS_SHAPES(SHAPE)};
#undef SHAPE

#define COMPACT(bits, block, tile_quads) \
  rns_shape<compact_form(bits, tile_quads)>("rns_" #bits "_compact", block),
constexpr gpu::Shape kCompactShapes[] = {MM_RNS_COMPACT_SHAPES(COMPACT)};
#undef COMPACT
#define COMPACT(bits, block, tile_quads) \
  rns_shape<with_one_modulus(compact_form(bits, tile_quads))>("rns_" #bits "_compact_shared", block),
constexpr gpu::Shape kCompactSharedShapes[] = {MM_RNS_COMPACT_SHAPES(COMPACT)};
#undef COMPACT

// Whether all kernels fit the shared memory of every device.
constexpr bool are_compact(std::span<const gpu::Shape> shapes) {
  return std::ranges::all_of(shapes, [](const gpu::Shape& shape) {
    return shape.shared_words == 0 && shape.block_shared_bytes <= kCompactSharedBytes;
  });
}
static_assert(are_compact(kCompactShapes) && are_compact(kCompactSharedShapes));

// The form of a width for instances with a modulus each; that of a shared modulus has the same tiles.
constexpr Form form_of(unsigned wanted) {
#define SHAPE(bits, block, tile_quads, one_in_flight, stages, moduli_shared) \
  if ((bits) == wanted) return shape_form(bits, tile_quads, one_in_flight, stages, moduli_shared);
  MM_RNS_SHAPES(SHAPE)
#undef SHAPE
  return {};
}

// The constants of a width in the order in which its kernels read them.
std::vector<std::byte> in_tiles(unsigned bits, std::vector<std::byte> block) {
  const Form form = form_of(bits);
  if (form.ring_stages > 0 && !block.empty()) order_by_tiles(bits, form.tiles(), block);
  return block;
}

// The compact kernels' widths are among those whose matrices do not stream, so both share one layout of the
// constants.
constexpr gpu::ConstantsSource constants_for(std::span<const gpu::Shape> shared_shapes) {
  return {
      .of_shape =
          [](const gpu::Shape& shape) { return in_tiles(bits_of(shape), base_constants(bits_of(shape))); },
      .of_modulus =
          [](const gpu::Shape& shape, std::span<const Limb> modulus) {
            return in_tiles(bits_of(shape), modulus_constants(bits_of(shape), modulus));
          },
      .radix_squared = [](const gpu::Shape& shape) { return squared_radix(bits_of(shape)); },
      .shared_shapes = shared_shapes};
}
constexpr gpu::ConstantsSource kConstants = constants_for(kSharedShapes);
constexpr gpu::ConstantsSource kCompactConstants = constants_for(kCompactSharedShapes);

}  // namespace

std::span<const gpu::Technique> cuda_techniques() {
  static const gpu::Technique kForms[] = {
      {.folder = "rns",
       .name = "rns",
       .summary = "residue number systems, base extensions on tensor cores",
       .priority = kPriority,
       .shapes = kShapes,
       .backend = &cuda::backend(),
       .requirements = cuda::cuda_requirements(
           {.min_compute_capability = 90, .max_compute_capability = kMaxComputeCapability}),
       .constants = &kConstants,
       .general = &row32::cuda_techniques().front()},
      {.folder = "rns",
       .name = "rns.compact",
       .summary = "residue number systems on tensor cores, in 99 KiB of shared memory",
       .priority = kPriority - 1,
       .shapes = kCompactShapes,
       .backend = &cuda::backend(),
       .requirements = cuda::cuda_requirements({.min_compute_capability = kCompactComputeCapability}),
       .constants = &kCompactConstants,
       .general = &row32::cuda_techniques().front()}};
  return kForms;
}

}  // namespace manymod::rns
