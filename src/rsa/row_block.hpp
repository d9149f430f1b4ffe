// SPDX-License-Identifier: Apache-2.0
// Rows with memory for their numbers and powers, which one block of items after the other uses.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "gpu/buffer.hpp"
#include "gpu/idle_memory.hpp"
#include "repr/limbs.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// The memory is kept from block to block and from call to call: page faults of new memory cost more than
/// writing it. Between two uses it is all zero.
class RowBlock {
 public:
  /// `device`: the memory is page-locked, so that the GPUs of its backend copy it at full speed; null:
  /// ordinary memory.
  explicit RowBlock(gpu::Device* device) : device_(device) {}

  [[nodiscard]] Rows& rows() { return rows_; }
  /// Gives the rows, once all of them are known, numbers and powers of 0.
  void make_room();
  /// Zeroes the rows.
  void wipe();

 private:
  gpu::Device* device_;  ///< null: ordinary memory, also once page-locked memory was refused
  limbs::Buffer ordinary_;
  gpu::PinnedBuffer locked_;
  Rows rows_;

  /// At least that many limbs, all zero.
  Limb* memory(std::size_t limbs);
  /// Whether there are that many bytes of page-locked memory.
  bool lock(std::size_t bytes);
};

using RowBlocks = gpu::IdleObjects<RowBlock>;

/// Holds a block of `from`, or a new one, as long as it lives. The rows are zeroed when it ends, unless they
/// are clean.
class RowLease {
 public:
  /// `device`: of a new block.
  RowLease(RowBlocks& from, gpu::Device* device);
  RowLease(const RowLease&) = delete;
  RowLease& operator=(const RowLease&) = delete;
  ~RowLease();

  RowBlock* operator->() const { return block_.get(); }
  /// All rows are zero, from here on or again.
  void set_clean(bool clean) { clean_ = clean; }

 private:
  RowBlocks& from_;
  std::unique_ptr<RowBlock> block_;
  bool clean_ = true;
};

}  // namespace manymod::rsa
