// SPDX-License-Identifier: Apache-2.0
// One chunk of a batch on a device: upload of its operands, kernels, download of the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/engine/turns.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/programs.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

/// Whether an operand is reduced on the device first. Programs take factors below 2^(32 kWords), and some
/// take factors below n.
enum class Entry : std::uint8_t {
  as_it_is,  ///< never reduced: an exponent
  factor,    ///< reduced if it is wider than the modulus or has a sign
  residue,   ///< always reduced
};

/// Largest number of limbs of an operand, all terms of an item together: kernels count its words, and an
/// exponent's bits, in 32 bits.
inline constexpr std::size_t kMaxOperandLimbs = (std::size_t{1} << 26) - 1;

/// One of the call's operands; each of its `terms` terms is an operand of the program.
struct Operand {
  const BatchView* view = nullptr;  ///< items * terms numbers, or `terms` that all items share
  Entry entry = Entry::as_it_is;
};

/// A comb on the device: the table that comb_table_program computed in a launch of `threads` threads.
struct DeviceComb {
  const std::uint32_t* table = nullptr;
  std::uint32_t threads = 0;
};

/// The properties that the items of a chunk share.
struct ChunkPlan {
  Device& device;
  const Shape& shape;
  const Job& job;
  const Program& program;
  std::size_t limbs;              ///< of each modulus
  std::vector<Operand> operands;  ///< the program's operand (o terms + t) is term t of operand o
  std::size_t terms = 1;
  DeviceComb comb;
  const DeviceConstants* constants = nullptr;  ///< null where the technique has none
  bool may_refuse = false;  ///< the constants are the shape's: the kernel checks each item's modulus
  Turns turns = {};         ///< of the blocks, if they take turns
};

/// One wave: the number of items that are resident on all multiprocessors of the device with that shape.
std::size_t items_of_wave(Device& device, const Shape& shape);

/// What the device holds of that shape's blocks of each size, the largest last. On input: the shape's blocks
/// fit the device.
std::vector<Wave> waves_of(Device& device, const Shape& shape);

/// Bytes of an item's operands in the upload, at least 1. An operand in the device's memory counts as a
/// quarter of its size: it is only read and reduced there.
std::size_t upload_bytes_per_item(const ChunkPlan& plan);

/// Computes `items` and stores their results and statuses, except of the items that the kernel refuses.
/// @return the refused items; their operands are unchanged, also where results replace operands
/// @throws DeviceError
std::vector<std::size_t> run_chunk(const ChunkPlan& plan, Items items, Workspace& workspace);

/// Enqueues all that run_chunk does on the device and returns: the results are there when the workspace's
/// stream has come to its end. Until then the workspace's upload must stay as it is; Workspace::wipe_upload
/// zeroes it. On input: results are in the device's memory, and the kernel refuses nothing.
/// @throws DeviceError
void queue_chunk(const ChunkPlan& plan, Items items, Workspace& workspace);

/// Runs the plan's program on the first item in the smallest launch, in which all groups compute the same.
/// @return the program's table; nothing if the kernel refuses the item
/// @throws DeviceError
std::optional<DeviceBuffer> make_table(const ChunkPlan& plan, Workspace& workspace);

/// Threads of the launch of make_table.
constexpr std::uint32_t table_threads(const Shape& shape) { return shape.step; }

}  // namespace manymod::gpu
