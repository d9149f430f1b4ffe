// SPDX-License-Identifier: Apache-2.0
#include "exec/chunking.hpp"

#include <algorithm>
#include <numeric>

namespace manymod {
namespace {

// Far above the cost of taking a chunk from the pool, about 0.1 us under contention.
constexpr double kShortestChunkNs = 20e3;
// Chunks per thread that the remaining cost is cut into.
constexpr double kShareOfRest = 4;
// The most chunks per thread: no chunk is smaller than the whole cost / (kFinestShare threads).
constexpr double kFinestShare = 64;

class Cutter {
 public:
  Cutter(double total_ns, unsigned threads)
      : rest_ns_(total_ns),
        shares_(kShareOfRest * static_cast<double>(threads)),
        shortest_ns_(std::max(kShortestChunkNs, total_ns / (kFinestShare * static_cast<double>(threads)))) {}

  void cut(std::size_t index, const WorkPart& part, std::vector<Chunk>& chunks) {
    for (std::size_t begin = 0; begin < part.items;) {
      const double target = std::min(kLongestChunkNs, std::max(shortest_ns_, rest_ns_ / shares_));
      std::size_t end = begin;
      double chunk_ns = 0;
      do {
        const std::size_t next = std::min(part.items, end + step(part, target));
        chunk_ns += part.cost_ns(end, next);
        end = next;
      } while (end < part.items && chunk_ns < target);
      if (part.joins_rest && part.items - end < part.granularity) {
        chunk_ns += part.cost_ns(end, part.items);
        end = part.items;
      }
      chunks.push_back({index, begin, end});
      rest_ns_ = std::max(0.0, rest_ns_ - chunk_ns);
      begin = end;
    }
  }

 private:
  // Items to add at a time: as many as the target allows if all items cost the same, else one granule.
  static std::size_t step(const WorkPart& part, double target) {
    if (!part.weights.empty() || part.item_ns <= 0) return part.granularity;
    const double granule_ns = part.item_ns * static_cast<double>(part.granularity);
    const auto granules = static_cast<std::size_t>(std::clamp(target / granule_ns + 0.5, 1.0, 1e9));
    return granules * part.granularity;
  }

  double rest_ns_;
  double shares_;
  double shortest_ns_;
};

}  // namespace

double WorkPart::cost_ns(std::size_t begin, std::size_t end) const {
  if (weights.empty()) return item_ns * static_cast<double>(end - begin);
  const double heaviest = fixed_weight + static_cast<double>(weights.front());
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += fixed_weight + static_cast<double>(weights[i]);
  return item_ns * sum / heaviest;
}

double total_ns(std::span<const WorkPart> parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const WorkPart& part) { return sum + part.total_ns; });
}

std::vector<Chunk> cut_chunks(std::span<const WorkPart> parts, unsigned threads) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].item_ns > parts[b].item_ns; });
  Cutter cutter(total_ns(parts), threads);
  std::vector<Chunk> chunks;
  for (const std::size_t index : order) cutter.cut(index, parts[index], chunks);
  return chunks;
}

}  // namespace manymod
