// SPDX-License-Identifier: Apache-2.0
#include "exec/chunking.hpp"

#include <algorithm>
#include <numeric>

namespace manymod {
namespace {

constexpr double kShortestChunkNs =
    20e3;  // far above the cost of taking a chunk, about 0.1 us under contention
constexpr double kLongestChunkNs = 50e6;
constexpr double kShareOfRest = 4;   // chunks per thread that the rest is cut into
constexpr double kFinestShare = 64;  // and never finer than this many chunks per thread of the whole

// Part of an exponentiation's cost that does not depend on the exponent, in exponent bits: conversions,
// table.
constexpr double kFixedBits = 24;

// Cost of an item whose exponent has `bits` bits, in items of the longest.
double relative_cost(std::uint32_t bits, std::uint32_t longest) {
  return (kFixedBits + static_cast<double>(bits)) / (kFixedBits + static_cast<double>(longest));
}

// What the engine computes for each item it was given: more than 1 where the last vector is not full.
double padding(std::size_t items, std::size_t lanes) {
  const std::size_t vectors = (items + lanes - 1) / lanes;
  return static_cast<double>(vectors * lanes) / static_cast<double>(items);
}

double items_in_longest(const Bucket& bucket) {
  if (bucket.exponent_bits.empty()) return static_cast<double>(bucket.items.size());
  const std::uint32_t longest = bucket.exponent_bits.front();
  return std::accumulate(
      bucket.exponent_bits.begin(), bucket.exponent_bits.end(), 0.0,
      [longest](double sum, std::uint32_t bits) { return sum + relative_cost(bits, longest); });
}

class Cutter {
 public:
  Cutter(double total_ns, unsigned threads)
      : rest_ns_(total_ns),
        shares_(kShareOfRest * static_cast<double>(threads)),
        shortest_ns_(std::max(kShortestChunkNs, total_ns / (kFinestShare * static_cast<double>(threads)))) {}

  void cut(std::size_t index, const Bucket& bucket, const BucketCost& cost, std::vector<Chunk>& chunks) {
    const std::size_t count = bucket.items.size();
    for (std::size_t begin = 0; begin < count;) {
      const double target = std::min(kLongestChunkNs, std::max(shortest_ns_, rest_ns_ / shares_));
      std::size_t end = begin;
      double chunk_ns = 0;
      do {
        const std::size_t next = std::min(count, end + granules(bucket, cost, target));
        chunk_ns += cost_of(bucket, cost, end, next);
        end = next;
      } while (end < count && chunk_ns < target);
      chunks.push_back({index, begin, end});
      rest_ns_ = std::max(0.0, rest_ns_ - chunk_ns);
      begin = end;
    }
  }

 private:
  // Items to add at a time: all that the target asks for where items cost the same, else one granule.
  static std::size_t granules(const Bucket& bucket, const BucketCost& cost, double target) {
    if (!bucket.exponent_bits.empty() || cost.item_ns <= 0) return cost.granularity;
    const double granule_ns = cost.item_ns * static_cast<double>(cost.granularity);
    const auto wanted = static_cast<std::size_t>(std::clamp(target / granule_ns + 0.5, 1.0, 1e9));
    return wanted * cost.granularity;
  }

  static double cost_of(const Bucket& bucket, const BucketCost& cost, std::size_t begin, std::size_t end) {
    if (bucket.exponent_bits.empty()) return cost.item_ns * static_cast<double>(end - begin);
    double sum = 0;
    const std::uint32_t longest = bucket.exponent_bits.front();
    for (std::size_t i = begin; i < end; ++i) sum += relative_cost(bucket.exponent_bits[i], longest);
    return sum * cost.item_ns;
  }

  double rest_ns_;
  double shares_;
  double shortest_ns_;
};

}  // namespace

std::vector<BucketCost> bucket_costs(const EngineSet& engines, std::span<const Job> jobs,
                                     std::span<const Bucket> buckets) {
  std::vector<BucketCost> costs;
  costs.reserve(buckets.size());
  for (const Bucket& bucket : buckets) {
    BucketCost cost;
    const EngineChoice& choice = engines[bucket.engine];
    Job sized = jobs[bucket.engine];
    sized.y.width = bucket.exponent_limbs;
    cost.item_ns = choice.engine->item_cost_ns(sized, bucket.limbs);
    cost.total_ns = cost.item_ns * items_in_longest(bucket) * padding(bucket.items.size(), choice.lanes);
    cost.granularity =
        std::max<std::size_t>(1, choice.engine->chunk_granularity(jobs[bucket.engine], bucket.limbs));
    costs.push_back(cost);
  }
  return costs;
}

std::vector<Chunk> cut_chunks(std::span<const Bucket> buckets, std::span<const BucketCost> costs,
                              unsigned threads) {
  std::vector<std::size_t> order(buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a].item_ns > costs[b].item_ns; });
  double total_ns = 0;
  for (const BucketCost& cost : costs) total_ns += cost.total_ns;
  Cutter cutter(total_ns, threads);
  std::vector<Chunk> chunks;
  for (const std::size_t index : order) cutter.cut(index, buckets[index], costs[index], chunks);
  return chunks;
}

}  // namespace manymod
