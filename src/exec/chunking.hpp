// SPDX-License-Identifier: Apache-2.0
// Cutting a workload into chunks for the thread pool: expensive items first, smaller and smaller chunks
// towards the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace manymod {

/// Independent items that one function computes, and their estimated costs.
struct WorkPart {
  std::size_t items = 0;
  std::size_t granularity = 1;  ///< items that should stay in one chunk, >= 1: the lanes of a vector, a wave
  double item_ns = 0;           ///< of the most expensive item
  double total_ns = 0;          ///< of the part
  bool joins_rest = false;      ///< less than a granule at the end joins the chunk before it
  /// Where items cost differently: item i costs item_ns (fixed_weight + weights[i]) / (fixed_weight +
  /// weights[0]). The first item is the most expensive one. Empty: all items cost the same.
  std::span<const std::uint32_t> weights = {};
  double fixed_weight = 0;

  /// Estimated cost of items [begin, end).
  [[nodiscard]] double cost_ns(std::size_t begin, std::size_t end) const;
};

/// `count` items that cost `item_ns` each.
constexpr WorkPart uniform_part(std::size_t count, double item_ns) {
  return {count, 1, item_ns, item_ns * static_cast<double>(count)};
}

double total_ns(std::span<const WorkPart> parts);

/// Items [begin, end) of one part.
struct Chunk {
  std::size_t part = 0;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// No chunk of several granules costs more than this, so that progress and requests to stop are timely. An
/// item that alone costs as much forms one chunk.
inline constexpr double kLongestChunkNs = 50e6;

/// Chunks in the order in which they should be begun. Each has 1 / (4 threads) of the remaining cost, so that
/// threads finish together even if the estimates are wrong.
std::vector<Chunk> cut_chunks(std::span<const WorkPart> parts, unsigned threads);

}  // namespace manymod
