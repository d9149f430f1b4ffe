// SPDX-License-Identifier: Apache-2.0
// One chunk of a batch on a device: operands there, kernels, results back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/programs.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// A program's factors have to be below 2^(32 kWords), those of some below n: the others are reduced on the
/// device first.
enum class Entry : std::uint8_t {
  as_it_is,  ///< never reduced: an exponent
  factor,    ///< reduced where it is wider than the modulus or has a sign
  residue,   ///< always reduced
};

/// Widest operand, all terms of an item together: kernels count its words, and an exponent's bits, in 32
/// bits.
inline constexpr std::size_t kMaxOperandLimbs = (std::size_t{1} << 26) - 1;

/// One of the call's operands, which becomes `terms` operands of the program.
struct Operand {
  const BatchView* view = nullptr;  ///< items * terms numbers, or `terms` that all items share
  Entry entry = Entry::as_it_is;
};

/// A comb on the device: the table that comb_table_program left in a launch of so many threads.
struct DeviceComb {
  const std::uint32_t* table = nullptr;
  std::uint32_t threads = 0;
};

/// What the items of a chunk have in common.
struct ChunkPlan {
  cuda::Device& device;
  const Shape& shape;
  const Job& job;
  const Program& program;
  std::size_t limbs;              ///< of each modulus
  std::vector<Operand> operands;  ///< the program's operand (o terms + t) is term t of operand o
  std::size_t terms = 1;
  DeviceComb comb;
  /// Of the technique's; else null.
  const DeviceConstants* constants = nullptr;
  bool may_refuse = false;  ///< the constants are the shape's: each item's modulus is looked at by the kernel
};

/// Items that all of the device's multiprocessors work on at a time with that shape.
std::size_t items_at_a_time(cuda::Device& device, const Shape& shape);

/// Bytes that an item's operands take on their way to the device, at least 1. What is in the device's memory
/// already counts little.
std::size_t upload_bytes_per_item(const ChunkPlan& plan);

/// Compute `items` and store their results and statuses, except those that the kernel refuses.
/// @return those. Their operands are as they were, also where results take their place
/// @throws cuda::DriverError
std::vector<std::size_t> run_chunk(const ChunkPlan& plan, Items items, Workspace& workspace);

/// Run the plan's program by the smallest launch, all of whose groups do the same, for the first item, and
/// keep its table.
/// @return nothing if the kernel refuses the item
/// @throws cuda::DriverError
std::optional<cuda::DeviceBuffer> make_table(const ChunkPlan& plan, Workspace& workspace);

/// Of that launch.
constexpr std::uint32_t table_threads(const Shape& shape) { return shape.step; }

}  // namespace manymod::gpu
