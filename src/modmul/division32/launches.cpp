// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/launches.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "modmul/division32/shapes.cuda.hpp"

namespace manymod::division32 {
namespace {

#define SHAPE(threads, per_thread, blocks, own_blocks)                  \
  {threads, per_thread, "division32_product_" #threads "x" #per_thread, \
   "division32_product_own_" #threads "x" #per_thread},
constexpr Shape kProducts[] = {MM_DIVISION32_PRODUCTS(SHAPE)};
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks)              \
  {threads, per_thread, "division32_sum_" #threads "x" #per_thread, \
   "division32_sum_own_" #threads "x" #per_thread},
constexpr Shape kSums[] = {MM_DIVISION32_SUMS(SHAPE)};
#undef SHAPE

constexpr bool ascending(std::span<const Shape> shapes) {
  return std::ranges::is_sorted(shapes, {}, &Shape::words) && shapes.back().words() == kMaxWords;
}
static_assert(ascending(kProducts) && ascending(kSums));

}  // namespace

const Shape& shape_for(RowOperation operation, std::size_t words) {
  const std::span<const Shape> shapes =
      operation == RowOperation::multiply ? std::span<const Shape>(kProducts) : std::span<const Shape>(kSums);
  return *std::ranges::find_if(shapes, [words](const Shape& shape) { return shape.words() >= words; });
}

void launch(const gpu::Stream& stream, const Shape& shape, const Job& job) {
  gpu::LaunchShape launch;
  launch.block = kBlock;
  launch.grid = (job.count * shape.threads + kBlock - 1) / kBlock;
  launch.shared_bytes =
      std::size_t{memory_words(shape.words())} * (kBlock / shape.threads) * sizeof(std::uint32_t);
  const char* const name = job.kinds == nullptr ? shape.shared_modulus : shape.own_modulus;
  stream.device().kernel(name).launch(stream, launch, job);
}

}  // namespace manymod::division32
