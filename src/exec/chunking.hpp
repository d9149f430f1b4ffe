// SPDX-License-Identifier: Apache-2.0
// Cutting buckets into chunks for the thread pool: costly items first, ever smaller chunks towards the end.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exec/bucketing.hpp"
#include "exec/engine_set.hpp"

namespace manymod {

/// Items [begin, end) of one bucket.
struct Chunk {
  std::size_t bucket = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What a bucket costs, from the engine's estimates.
struct BucketCost {
  double item_ns = 0;   ///< of an item with an exponent as long as the bucket's longest
  double total_ns = 0;  ///< of the bucket, by the items' own exponent lengths where they are known; the last
                        ///< vector counts in full
  std::size_t granularity = 1;  ///< items that should stay together
};

/// `buckets`: of one engine each; `jobs`: as each engine of the set sees it.
std::vector<BucketCost> bucket_costs(const EngineSet& engines, std::span<const Job> jobs,
                                     std::span<const Bucket> buckets);

/// Chunks in the order they should be begun. Each is 1/(4 threads) of the cost that is still left, so that
/// threads finish together whatever the estimates' errors; none costs over 50 ms (progress, stopping) if it
/// has several granules.
std::vector<Chunk> cut_chunks(std::span<const Bucket> buckets, std::span<const BucketCost> costs,
                              unsigned threads);

}  // namespace manymod
