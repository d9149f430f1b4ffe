// SPDX-License-Identifier: Apache-2.0
// Giving the items of each bucket to the engines that compute them fastest.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/bucketing.hpp"
#include "exec/engine_set.hpp"

namespace manymod {

/// Buckets of one engine each (Bucket::engine), none of them empty. The buckets they were cut from must
/// outlive them.
struct SplitBatch {
  std::vector<Bucket> buckets;

  std::vector<std::unique_ptr<std::size_t[]>> item_storage;
  std::vector<std::unique_ptr<std::uint32_t[]>> exponent_storage;
};

/// Items that an engine does not accept go to the first that does, of those for so many items if it can be.
/// Of the others, while there are any, the choice for their number takes as many as fill its vectors, or all
/// where they are less than one vector. Where they are too few to give each of `threads` threads a vector of
/// its own, all may go to another engine whose estimated time on that many threads is clearly shorter.
/// `fixed_base_engine`: the engine of all items that it accepts, whatever their number.
SplitBatch split_by_engine(const EngineSet& engines, const Job& job, std::span<const Bucket> buckets,
                           unsigned threads, std::optional<std::size_t> fixed_base_engine = {});

}  // namespace manymod
