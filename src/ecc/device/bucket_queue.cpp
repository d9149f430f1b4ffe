// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/bucket_queue.hpp"

#include <algorithm>

namespace manymod::ecc::device {
namespace {

/// kMostPoints: most points in columns that one thread adds up in a stage: few, so that many threads have
/// work. kMostLast: most points of a group that the last stage adds up.
constexpr unsigned kMostPoints = 16, kMostLast = 4;
/// One for places, and one for the pieces of each stage: fewer than a dozen for any number of terms.
constexpr std::size_t kCounters = 16;

constexpr std::size_t cut_count(std::size_t elements, std::size_t groups, unsigned most) {
  return elements / most + groups;
}

}  // namespace

BucketQueue::Room::Room(const BucketShape& shape, std::size_t terms) {
  const std::size_t bits = shape.powers() * shape.slots();
  references = std::max(terms * shape.windows, bits);
  groups = std::max(shape.buckets(), shape.powers());
  // Later stages have at most groups (1 + 1/16 + 1/256 + ..) pieces, and a 16th of the elements each.
  static_assert(kMostPoints == 16);
  pieces = std::max(cut_count(terms * shape.windows, shape.buckets(), kMostTerms),
                    cut_count(bits, shape.powers(), kMostPoints)) +
           groups / 15 + 1;
}

void BucketQueue::add_bytes(ItemBytes& bytes, const Curve& curve, const CurveKernels& kernels,
                            const BucketShape& shape, std::size_t terms) {
  const Room room(shape, terms);
  const std::size_t results = shape.powers() * (2 * curve.limbs() * sizeof(Limb) + 1);
  const std::size_t indices =
      kCounters + 2 * shape.buckets() + room.references + 2 * room.pieces + 4 * room.groups;
  const std::size_t elements = 2 * 3 * room.pieces + 4 * shape.powers();
  bytes.chunk_device += (indices + elements * kernels.words) * sizeof(std::uint32_t) + results;
  bytes.chunk_pinned += results;
}

BucketQueue::BucketQueue(const Queue& queue, Chunk& chunk, const BucketShape& shape)
    : queue_(queue), chunk_(chunk), shape_(shape) {
  const Room room(shape, queue.count());
  counters_ = chunk.words(kCounters + shape.buckets());
  references_ = chunk.words(room.references);
  elements_ = {chunk.words(room.pieces), chunk.words(room.pieces)};
  for (unsigned side = 0; side < 2; ++side) {
    sides_[side] = {chunk.words(room.groups), chunk.words(room.groups)};
    points_[side] = chunk.words(3 * queue.curve().kernels().words * room.pieces);
  }
}

template <class Job>
void BucketQueue::launch(const char* part, const Job& job) const {
  const DeviceCurve& curve = queue_.curve();
  curve.device()
      .kernel(curve.kernels().bucket_kernel(part))
      .launch(queue_.stream(), {(job.count + kPointBlock - 1) / kPointBlock, kPointBlock, 0}, job);
}

/// Cuts the groups into pieces. @return the job of their sums, which are the elements of the next stage.
/// next: see PiecesJob; groups get their places.
SumJob BucketQueue::cut(unsigned most, std::uint32_t* next) {
  PiecesJob job;
  job.count = stage_.count;
  job.most = most;
  job.groups = stage_.groups;
  if (next != nullptr) job.places = counter();
  job.next = next;
  job.made = counter();
  job.pieces = sides_[side_];
  job.elements = elements_;
  launch("pieces", job);
  SumJob sums;
  sums.count = static_cast<std::uint32_t>(cut_count(stage_.elements, stage_.count, most));
  sums.made = job.made;
  sums.elements = elements_;
  sums.points = stage_.points;
  sums.point_count = stage_.point_count;
  sums.result = points_[stage_.points == points_[0] ? 1 : 0];
  stage_.groups = job.pieces;
  stage_.largest = (stage_.largest + most - 1) / most;
  stage_.elements = sums.count;
  stage_.points = sums.result;
  stage_.point_count = sums.count;
  side_ ^= 1;
  return sums;
}

void BucketQueue::fill_buckets(const BucketTerms& terms) {
  const std::size_t buckets = shape_.buckets();
  queue_.stream().set_bytes(counters_, 0, (kCounters + buckets) * sizeof(std::uint32_t));
  DigitsJob digits;
  digits.count = queue_.count();
  digits.scalar = terms.scalar;
  digits.words = terms.scalar_words;
  digits.width = shape_.width;
  digits.windows = shape_.windows;
  digits.good = terms.good;
  digits.size = counters_ + kCounters;
  launch("digits", digits);
  digits.next = chunk_.words(buckets);
  // Places of groups are written by cut().
  stage_.groups = {sides_[1].first, digits.size};
  stage_.count = static_cast<std::uint32_t>(buckets);
  stage_.largest = queue_.count();
  stage_.elements = std::size_t{queue_.count()} * shape_.windows;
  SumJob sums = cut(kMostTerms, digits.next);
  digits.references = references_;
  launch("digits", digits);
  sums.references = references_;
  sums.x[0] = terms.x;
  sums.y[0] = terms.y;
  sums.negates = terms.are_opposites ? 1 : 0;
  queue_.curve().sum_terms(queue_.stream(), sums);
  while (stage_.largest > 1) queue_.curve().sum_points(queue_.stream(), cut(kMostPoints));
}

void BucketQueue::distribute_bits() {
  BitsJob job;
  job.width = shape_.width;
  job.slots = static_cast<std::uint32_t>(shape_.slots());
  job.count = static_cast<std::uint32_t>(shape_.powers()) * job.slots;
  job.buckets = stage_.groups;
  job.references = references_;
  job.groups = sides_[side_];
  launch("bits", job);
  stage_.groups = job.groups;
  stage_.count = static_cast<std::uint32_t>(shape_.powers());
  stage_.largest = job.slots;
  stage_.elements = job.count;
  side_ ^= 1;
}

void BucketQueue::finish(PowerSums& to) {
  const std::size_t words = queue_.curve().kernels().words, row_bytes = to.x.size() * sizeof(Limb);
  SumJob sums;
  sums.count = stage_.count;
  sums.elements = stage_.groups;
  sums.points = stage_.points;
  sums.point_count = stage_.point_count;
  sums.result = chunk_.words(3 * words * sums.count);
  queue_.curve().sum_points(queue_.stream(), sums);
  AffineJob affine;
  affine.count = sums.count;
  affine.point = sums.result;
  affine.scratch = chunk_.words(words * sums.count);
  const auto stride = static_cast<std::uint32_t>(to.x.size() * 2 / sums.count);
  affine.x = {static_cast<std::uint32_t*>(chunk_.whole_result(to.x.data(), row_bytes)), stride};
  affine.y = {static_cast<std::uint32_t*>(chunk_.whole_result(to.y.data(), row_bytes)), stride};
  affine.infinity = static_cast<std::uint8_t*>(chunk_.whole_result(to.infinity.data(), to.infinity.size()));
  queue_.stream().set_bytes(affine.infinity, 0, to.infinity.size());
  queue_.curve().affine(queue_.stream(), affine);
}

void BucketQueue::add_up(const BucketTerms& terms, PowerSums& to) {
  fill_buckets(terms);
  distribute_bits();
  // The first of these stages has references, which distribute_bits wrote.
  SumJob sums = cut(kMostPoints);
  sums.references = references_;
  queue_.curve().sum_points(queue_.stream(), sums);
  while (stage_.largest > kMostLast) queue_.curve().sum_points(queue_.stream(), cut(kMostPoints));
  finish(to);
}

}  // namespace manymod::ecc::device
