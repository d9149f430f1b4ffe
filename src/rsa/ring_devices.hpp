// SPDX-License-Identifier: Apache-2.0
// The objects on GPUs that a ring owns besides its engines for powers.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/variant.hpp"
#include "gpu/engine/program_runner.hpp"
#include "gpu/engine/workspace.hpp"
#include "rsa/power.hpp"
#include "rsa/row_block.hpp"

namespace manymod::rsa {

/// Programs and workspaces of each GPU, created on first use. Thread-safe.
class RingDevices {
 public:
  /// Whether products can be computed modulo numbers of `limbs` limbs: of up to 8192 bits.
  [[nodiscard]] static bool holds(std::size_t limbs);

  /// For products modulo numbers of `limbs` limbs. On input: holds(limbs). @throws gpu::DeviceError
  [[nodiscard]] const gpu::ProgramRunner& products(const PowerGpu& gpu, std::size_t limbs) const;
  /// For the arrays that products read and write.
  /// @throws gpu::DeviceError
  [[nodiscard]] gpu::Workspaces& workspaces(const PowerGpu& gpu) const;
  /// Rows in memory that the GPU copies at full speed. @throws gpu::DeviceError
  [[nodiscard]] RowLease lend_rows(const PowerGpu& gpu) const;

 private:
  // Not locked in a forked child, where opening the device throws before.
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<Backend, unsigned, std::size_t>, std::unique_ptr<const gpu::ProgramRunner>>
      products_;
  mutable std::map<std::pair<Backend, unsigned>, std::unique_ptr<gpu::Workspaces>> workspaces_;
  mutable std::map<std::pair<Backend, unsigned>, std::shared_ptr<RowBlocks>> row_blocks_;

  [[nodiscard]] RowBlocks& row_blocks(const PowerGpu& gpu, gpu::Device& device) const;
};

}  // namespace manymod::rsa
