// SPDX-License-Identifier: Apache-2.0
// What is left to do after an engine failed half way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "engine/engine.hpp"

namespace manymod {

/// Those of `items` that have no result yet. The others must not be computed again: where the result is in
/// the place of an operand, theirs is gone.
inline std::vector<std::size_t> unfinished(const Job& job, Items items) {
  std::vector<std::size_t> rest;
  std::copy_if(items.begin(), items.end(), std::back_inserter(rest),
               [&](std::size_t item) { return job.status[item] == ItemStatus::not_computed; });
  return rest;
}

}  // namespace manymod
