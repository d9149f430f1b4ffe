// SPDX-License-Identifier: Apache-2.0
// What a ring has on GPUs besides its engines for powers.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/published_once.hpp"
#include "gpu/engine/program_runner.hpp"
#include "gpu/engine/workspace.hpp"

namespace manymod::rsa {

/// Made when it is first needed. Safe to use from several threads once all lengths are added.
class RingDevices {
 public:
  RingDevices();

  /// For moduli of so many limbs.
  void add(std::size_t limbs);

  /// Products modulo numbers of a length that was added.
  /// @throws cuda::DriverError
  [[nodiscard]] const gpu::ProgramRunner& products(unsigned device, std::size_t limbs) const;
  /// For arrays between products.
  /// @throws cuda::DriverError
  [[nodiscard]] gpu::Workspaces& workspaces(unsigned device) const;

 private:
  struct Arrays {
    explicit Arrays(cuda::Device& device) : workspaces(device) {}
    mutable gpu::Workspaces workspaces;
  };

  // Of each CUDA device.
  std::map<std::size_t, std::vector<PublishedOnce<gpu::ProgramRunner>>> products_;
  std::vector<PublishedOnce<Arrays>> arrays_;
};

}  // namespace manymod::rsa
