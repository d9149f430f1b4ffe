// SPDX-License-Identifier: Apache-2.0
// The objects on GPUs that a ring owns besides its engines for powers.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/published_once.hpp"
#include "gpu/engine/program_runner.hpp"
#include "gpu/engine/workspace.hpp"

namespace manymod::rsa {

/// Programs and workspaces of each GPU, created on first use. Thread-safe once all lengths are added.
class RingDevices {
 public:
  RingDevices();

  /// Whether products can be computed modulo numbers of `limbs` limbs: of up to 8192 bits.
  [[nodiscard]] static bool holds(std::size_t limbs);

  /// Prepare for moduli of `limbs` limbs.
  void add(std::size_t limbs);

  /// For products modulo numbers of `limbs` limbs, which add() was called with. In: holds(limbs).
  /// @throws gpu::DeviceError
  [[nodiscard]] const gpu::ProgramRunner& products(unsigned device, std::size_t limbs) const;
  /// For the arrays that products read and write.
  /// @throws gpu::DeviceError
  [[nodiscard]] gpu::Workspaces& workspaces(unsigned device) const;

 private:
  struct Arrays {
    explicit Arrays(gpu::Device& device) : workspaces(device) {}
    mutable gpu::Workspaces workspaces;
  };

  // By limbs, then by device.
  std::map<std::size_t, std::vector<PublishedOnce<gpu::ProgramRunner>>> products_;
  std::vector<PublishedOnce<Arrays>> arrays_;
};

}  // namespace manymod::rsa
