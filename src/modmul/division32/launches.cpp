// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/launches.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "modmul/division32/shapes.cuda.hpp"

namespace manymod::division32 {
namespace {

#define SHAPES_OF(kernel, threads, per_thread)                             \
  {threads, per_thread, "division32_" kernel "_" #threads "x" #per_thread, \
   "division32_" kernel "_own_" #threads "x" #per_thread},
#define SHAPE(threads, per_thread, blocks, own_blocks) SHAPES_OF("product", threads, per_thread)
constexpr Shape kProducts[] = {MM_DIVISION32_PRODUCTS(SHAPE)};
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks) SHAPES_OF("sum", threads, per_thread)
constexpr Shape kSums[] = {MM_DIVISION32_SUMS(SHAPE)};
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks) SHAPES_OF("term_product", threads, per_thread)
constexpr Shape kTermProducts[] = {MM_DIVISION32_TERM_PRODUCTS(SHAPE)};
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks) SHAPES_OF("term_sum", threads, per_thread)
constexpr Shape kTermSums[] = {MM_DIVISION32_SUMS(SHAPE)};
#undef SHAPE
#undef SHAPES_OF

constexpr bool ascending(std::span<const Shape> shapes) {
  return std::ranges::is_sorted(shapes, {}, &Shape::words) && shapes.back().words() == kMaxWords;
}
static_assert(ascending(kProducts) && ascending(kSums));
static_assert(ascending(kTermProducts) && ascending(kTermSums));

std::span<const Shape> shapes_of(RowOperation operation) {
  switch (operation) {
    case RowOperation::multiply:
      return kProducts;
    case RowOperation::sum:
      return kTermSums;
    case RowOperation::dot:
    case RowOperation::product:
      return kTermProducts;
    default:
      return kSums;
  }
}

}  // namespace

const Shape& shape_for(RowOperation operation, std::size_t words) {
  return *std::ranges::find_if(shapes_of(operation),
                               [words](const Shape& shape) { return shape.words() >= words; });
}

void launch(const gpu::Stream& stream, const Shape& shape, const Job& job) {
  gpu::LaunchShape launch;
  launch.block = kBlock;
  launch.grid = (job.count * shape.threads + kBlock - 1) / kBlock;
  launch.shared_bytes =
      std::size_t{memory_words(shape.words())} * (kBlock / shape.threads) * sizeof(std::uint32_t);
  const char* const name = job.modulus_bits == 0 ? shape.shared_modulus : shape.own_modulus;
  stream.device().kernel(name).launch(stream, launch, job);
}

}  // namespace manymod::division32
