// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "modmul/device/constants.hpp"
#include "modmul/device/technique.hpp"
#include "modmul/device/window_choice.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/shapes.cuda.hpp"

namespace manymod::device {
namespace {

// Only a tuning row or its name chooses it: it is for large batches.
constexpr int kPriority = 5;
// Its kernels need up to 222 KiB of shared memory for a block; 12.0 has 99.
constexpr unsigned kMaxComputeCapability = 119;
// What a block may have on all devices from 8.0 on, by the CUDA C++ Programming Guide.
constexpr unsigned kCompactSharedBytes = 99 * 1024;
// mma.sync of bytes.
constexpr unsigned kCompactComputeCapability = 80;
// A quad of threads works on two instances.
constexpr unsigned kThreads = 2;
constexpr unsigned kWarp = 32, kWarpgroup = 128;
static_assert(1u << kWidestSelected <= rns::kChoices);

constexpr unsigned bits_of(const Shape& shape) { return 32 * shape.words; }

template <rns::Form kForm>
constexpr Shape rns_shape(const char* kernel, unsigned block) {
  using Memory = rns::SharedMemory<kForm>;
  Shape shape;
  shape.kernel = kernel;
  shape.threads = kThreads;
  shape.per_thread = 2 * kForm.fours();
  shape.block = block;
  shape.blocks = 1;
  shape.words = kForm.words;
  // A slot has a record for each of a thread's two instances.
  shape.lane_words = 2 * kForm.element_record().words();
  shape.shared_words = Memory::kRecordBytes / sizeof(std::uint32_t);
  // All of a block read the matrices that stream.
  shape.step = Memory::kStreamed ? block : kForm.compact ? kWarp : kWarpgroup;
  shape.block_shared_bytes = Memory::kRecordsAt;
  shape.own_slots = kForm.own_slots();
  shape.selections = kForm.selections();
  return shape;
}

#define SHAPE(bits, block, at_once, in_turn, stages, records) \
  rns_shape<rns::shape_form(bits, at_once, in_turn, stages, records)>("rns_" #bits, block),
constexpr Shape kShapes[] = {MM_RNS_SHAPES(SHAPE)};
#undef SHAPE
#define SHAPE(bits, block, at_once, in_turn, stages, records)                                 \
  rns_shape<rns::with_one_modulus(rns::shape_form(bits, at_once, in_turn, stages, records))>( \
      "rns_" #bits "_shared", block),
constexpr Shape kSharedShapes[] = {MM_RNS_SHAPES(SHAPE)};
#undef SHAPE

#define COMPACT(bits, block, at_once) \
  rns_shape<rns::compact_form(bits, at_once)>("rns_" #bits "_compact", block),
constexpr Shape kCompactShapes[] = {MM_RNS_COMPACT_SHAPES(COMPACT)};
#undef COMPACT
#define COMPACT(bits, block, at_once) \
  rns_shape<rns::with_one_modulus(rns::compact_form(bits, at_once))>("rns_" #bits "_compact_shared", block),
constexpr Shape kCompactSharedShapes[] = {MM_RNS_COMPACT_SHAPES(COMPACT)};
#undef COMPACT

constexpr bool are_compact(std::span<const Shape> shapes) {
  return std::ranges::all_of(shapes, [](const Shape& shape) {
    return shape.shared_words == 0 && shape.block_shared_bytes <= kCompactSharedBytes;
  });
}
static_assert(are_compact(kCompactShapes) && are_compact(kCompactSharedShapes));

constexpr rns::Form form_of(unsigned wanted) {
#define SHAPE(bits, block, at_once, in_turn, stages, records) \
  if ((bits) == wanted) return rns::shape_form(bits, at_once, in_turn, stages, records);
  MM_RNS_SHAPES(SHAPE)
#undef SHAPE
  return {};
}

std::vector<std::byte> in_pieces(unsigned bits, std::vector<std::byte> block) {
  const rns::Form form = form_of(bits);
  if (form.ring_stages > 0 && !block.empty()) rns::order_by_pieces(bits, form.pieces(), block);
  return block;
}

// The widths of compact shapes are some whose matrices do not stream: their constants are the same.
constexpr ConstantsSource constants_for(std::span<const Shape> shared_shapes) {
  return {
      .of_shape =
          [](const Shape& shape) { return in_pieces(bits_of(shape), rns::base_constants(bits_of(shape))); },
      .of_modulus =
          [](const Shape& shape, std::span<const Limb> modulus) {
            return in_pieces(bits_of(shape), rns::modulus_constants(bits_of(shape), modulus));
          },
      .radix_squared = [](const Shape& shape) { return rns::squared_radix(bits_of(shape)); },
      .shared_shapes = shared_shapes};
}
constexpr ConstantsSource kConstants = constants_for(kSharedShapes);
constexpr ConstantsSource kCompactConstants = constants_for(kCompactSharedShapes);

}  // namespace

std::span<const Technique> rns() {
  static const Technique kForms[] = {
      {.folder = "rns",
       .name = "rns",
       .summary = "residue number systems, base extensions on tensor cores",
       .priority = kPriority,
       .shapes = kShapes,
       .min_compute_capability = 90,
       .max_compute_capability = kMaxComputeCapability,
       .constants = &kConstants},
      {.folder = "rns",
       .name = "rns.compact",
       .summary = "residue number systems on tensor cores, in 99 KiB of shared memory",
       .priority = kPriority - 1,
       .shapes = kCompactShapes,
       .min_compute_capability = kCompactComputeCapability,
       .constants = &kCompactConstants}};
  return kForms;
}

}  // namespace manymod::device
