// SPDX-License-Identifier: Apache-2.0
#include "modmul/cox_rower/variants.cuda.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include "arch/cuda/block_group.cuda.hpp"
#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/engine/constants.hpp"
#include "modmul/cox_rower/constants.hpp"
#include "modmul/cox_rower/multiplier.cuda.hpp"
#include "modmul/cox_rower/shapes.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "repr/words.hpp"

namespace manymod::cox_rower {
namespace {

// Low: the technique is for small batches, so only a tuning row or its name chooses it.
constexpr int kPriority = 4;
// Measured on an H100 by the times of windows of 4, 5 and 6 bits at 1024 to 4096 bits: 0.008 to 0.012.
constexpr double kScanCost = 0.01;

template <unsigned kThreads, unsigned kBits>
constexpr gpu::Shape block_shape(const char* kernel, unsigned blocks) {
  using M = Multiplier<cuda::BlockGroup<kThreads>, kBits>;
  gpu::Shape shape{kernel,    kThreads,      kBits,         kThreads,       blocks,
                   M::kWords, M::kRadixBits, M::kLaneWords, M::kSharedWords};
  shape.step = kThreads;
  shape.scan_cost = kScanCost;
  return shape;
}

#define SHAPE(threads, bits, blocks) block_shape<threads, bits>("cox_rower_" #bits, blocks),
constexpr gpu::Shape kShapes[] = {MM_COX_ROWER_SHAPES(SHAPE)};
#undef SHAPE

std::vector<std::byte> constants_of_shape(const gpu::Shape& shape) {
  const std::vector<std::uint32_t> words = constants_of({bases_of(shape.per_thread), shape.threads});
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

constexpr gpu::ConstantsSource kConstants{
    &constants_of_shape, nullptr,
    [](const gpu::Shape& shape) { return words::squared_product(primes_of(bases_of(shape.per_thread)).b); }};

}  // namespace

std::span<const gpu::Technique> cuda_techniques() {
  static const gpu::Technique kForms[] = {
      {.folder = "cox_rower",
       .name = "cox_rower",
       .summary = "residue number systems, for the shortest time of few items",
       .priority = kPriority,
       .shapes = kShapes,
       .backend = &cuda::backend(),
       .requirements = cuda::cuda_requirements({}),
       .constants = &kConstants,
       .general = &row32::cuda_techniques().front()}};
  return kForms;
}

}  // namespace manymod::cox_rower
