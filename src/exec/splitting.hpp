// SPDX-License-Identifier: Apache-2.0
// Splitting buckets among the engines of a set, by what each accepts and computes fastest.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/bucketing.hpp"
#include "exec/engine_set.hpp"

namespace manymod {

/// Buckets for one engine each (Bucket::engine), none of them empty. The buckets that they are parts of must
/// outlive them.
struct SplitBatch {
  std::vector<Bucket> buckets;

  std::vector<std::unique_ptr<std::size_t[]>> item_storage;
  std::vector<std::unique_ptr<std::uint32_t[]>> exponent_storage;
};

/// An item that some choice does not accept goes to the first choice that accepts it, preferably one for that
/// many items. The others are split repeatedly: the choice for the number of remaining items takes as many as
/// fill its vectors, or all of them if they are less than one vector. If there are fewer vectors than
/// threads, all items may go to another engine whose estimated time on that many threads is clearly shorter.
/// `fixed_base_engine`, if set, takes all items that it accepts, regardless of their number.
SplitBatch split_by_engine(const EngineSet& engines, const Job& job, std::span<const Bucket> buckets,
                           unsigned threads, std::optional<std::size_t> fixed_base_engine = {});

}  // namespace manymod
