// SPDX-License-Identifier: Apache-2.0
// Programs in segments that are launched one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/program/programs.hpp"

namespace manymod::gpu {

/// A program whose launches compute a segment each. Between them the items' values of x are in a slot of
/// their own, and the table, like the operands, stays as it is. What a launch of a segment before the last
/// one stores as a result is undefined.
struct SegmentedProgram {
  Program program;
  std::vector<std::uint32_t> begin;  ///< segment i is steps begin[i] .. begin[i + 1] - 1
};

/// The squarings and multiplications of a program.
std::size_t products_of(const Program& program);

/// Cuts between steps, so that segments have about the same number of products. On input: segments >= 1.
SegmentedProgram cut_program(const Program& program, std::uint32_t segments);

}  // namespace manymod::gpu
