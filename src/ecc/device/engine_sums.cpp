// SPDX-License-Identifier: Apache-2.0
// Sums of points: of two each, and of multiples of many.
#include <algorithm>
#include <array>

#include "ecc/device/bucket_queue.hpp"
#include "ecc/device/gpu_engine.hpp"
#include "ecc/device/infinity.hpp"
#include "ecc/device/row_queue.hpp"

namespace manymod::ecc::device {
namespace {

/// With fewer sums or terms, the host is faster than the copies.
constexpr std::size_t kFewestSums = 256;
/// Terms of a chunk of sums for each multiprocessor: more of them share the sums of buckets.
constexpr std::size_t kSumItems = 4 * kChunkItems;

}  // namespace

void GpuEngine::add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const {
  // Where kernels of whole schemes are, sums on Edwards curves, which have no infinity, may be secret.
  const bool here = items.size() >= kFewestSums && r.infinity != nullptr && computes(PointOperation::add);
  const std::size_t done = here ? run(PointOperation::add, items, false, {}, add_work(r, p, q)) : items.begin;
  replace_infinite(r, p, q, limbs(), {items.begin, done});
  if (done < items.end) host_->add(r, p, q, {done, items.end});
}

GpuEngine::Start GpuEngine::add_work(const PointResults& r, const PointRows& p, const PointRows& q) const {
  return [this, r, p, q](Chunk& chunk, const Turn& turn) {
    SumJob job;
    job.count = chunk.count();
    const std::array both{p, q};
    for (std::size_t i = 0; i < both.size(); ++i) {
      job.x[i] = chunk.upload(both[i].x, limbs());
      job.y[i] = chunk.upload(both[i].y, limbs());
    }
    const DeviceCurve& on_device = turn();
    const Queue queue(on_device, chunk, limbs());
    const PointJob sums = queue.point_job();
    job.result = sums.result;
    on_device.sum_terms(chunk.stream(), job);
    queue.affine(sums, results_in(chunk, r));
  };
}

GpuEngine::SumShape GpuEngine::sum_shape(std::size_t bits, ItemRange items) const {
  std::size_t terms = 0;
  for (const auto& worker : workers_) terms = std::max(terms, worker->chunk_items(kSumItems));
  terms = std::min(items.size(), terms);
  return {terms, BucketShape::of(bits, terms)};
}

void GpuEngine::add_up(const RowCall& call, ItemRange items, const StopToken& stop) const {
  const SumShape shape = sum_shape(8 * curve().scalar_bytes(), items);
  ChunkSums sums(curve(), shape.buckets);
  ChunkedWork work{RowQueue::bytes(curve(), call), Secrecy::none, {}, kSumItems};
  BucketQueue::add_bytes(work.bytes, curve(), kernels_, shape.buckets, shape.terms);
  work.start = [this, &call, &sums, &shape](Chunk& chunk, const Turn& turn) {
    const RowQueue::Operands operands = RowQueue::upload(call, chunk);
    PowerSums& to = sums.of({chunk.first(), chunk.first() + chunk.count()});
    RowQueue(turn(), curve(), chunk, operands).add_up(call, shape.buckets, to);
  };
  const std::size_t end = run(PointOperation::sum, items, work, stop);
  std::fill(call.done + end, call.done + items.end, std::uint8_t{0});
  sums.add_up(call.sum, *host_, {items.begin, end});
}

/// Kernels of whole schemes take sums as calls on rows, with points that they check: see add_up.
void GpuEngine::sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                    const StopToken& stop) const {
  std::size_t done = items.begin;
  if (kernels_.points_only && computes(PointOperation::sum) && items.size() >= kFewestSums) {
    // Scalars are below n.
    const SumShape shape = sum_shape(curve().order_bits, items);
    ChunkSums sums(curve(), shape.buckets);
    const std::vector<std::uint8_t> good = finite_terms(points, items);
    done = run(PointOperation::sum, items, sum_work(sums, shape, k, points, good), stop);
    if (done == items.end) sums.add_up(r, *host_, items);
  }
  // After a failure, which is rare, the host adds all terms.
  if (done < items.end) host_->sum(r, k, points, items, stop);
}

std::vector<std::uint8_t> GpuEngine::finite_terms(const PointRows& points, ItemRange items) {
  std::vector<std::uint8_t> good(items.end, 1);
  for (std::size_t i = items.begin; i < items.end && points.infinity != nullptr; ++i) {
    good[i] = points.infinity[i] == 0 ? 1 : 0;
  }
  return good;
}

ChunkedWork GpuEngine::sum_work(ChunkSums& sums, const SumShape& shape, const NumberRows& k,
                                const PointRows& points, const std::vector<std::uint8_t>& good) const {
  ChunkedWork work = chunked(
      false, [this, &sums, buckets = shape.buckets, k, points, &good](Chunk& chunk, const Turn& turn) {
        BucketTerms terms;
        terms.scalar = chunk.upload(k, curve().scalar_limbs());
        terms.scalar_words = static_cast<std::uint32_t>(2 * curve().scalar_limbs());
        terms.x = chunk.upload(points.x, limbs());
        terms.y = chunk.upload(points.y, limbs());
        terms.good = chunk.upload(good.data());
        PowerSums& to = sums.of({chunk.first(), chunk.first() + chunk.count()});
        const Queue queue(turn(), chunk, limbs());
        BucketQueue(queue, chunk, buckets).add_up(terms, to);
      });
  work.chunk_items = kSumItems;
  BucketQueue::add_bytes(work.bytes, curve(), kernels_, shape.buckets, shape.terms);
  return work;
}

}  // namespace manymod::ecc::device
