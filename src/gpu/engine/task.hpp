// SPDX-License-Identifier: Apache-2.0
// Which program computes the items of a call.
#pragma once

#include <cstddef>
#include <vector>

#include "core/items.hpp"
#include "engine/engine.hpp"
#include "gpu/engine/chunk_run.hpp"
#include "gpu/program/programs.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// The program for the items of a call, and what the items have in common. Must outlive the runs of the
/// chunks.
struct Task {
  Program program;
  std::vector<Operand> operands;
  std::size_t terms = 1;
  DeviceComb comb;
};

/// The task for job.op on the shape. `tables`: the number of items in flight, each of which has a table.
/// Exponents are read as many bits as their width has in constant time, and as the longest of `items` has in
/// variable time.
Task task_for(const Job& job, Items items, const Shape& shape, std::size_t tables);

}  // namespace manymod::gpu
