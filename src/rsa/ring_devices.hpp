// SPDX-License-Identifier: Apache-2.0
// What a ring has on GPUs besides its engines for powers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "exec/gpu_load.hpp"
#include "gpu/engine/program_runner.hpp"
#include "gpu/engine/workspace.hpp"
#include "rsa/power.hpp"

namespace manymod::rsa {

/// Made when it is first needed. Safe to use from several threads once all lengths are added.
class RingDevices {
 public:
  RingDevices();

  /// For moduli of so many limbs.
  void add(std::size_t limbs);

  /// Products modulo numbers of a length that was added.
  /// @throws gpu::DeviceError
  [[nodiscard]] const gpu::ProgramRunner& products(unsigned device, std::size_t limbs) const;
  /// For arrays between products.
  /// @throws gpu::DeviceError
  [[nodiscard]] gpu::Workspaces& workspaces(unsigned device) const;

 private:
  struct Arrays {
    explicit Arrays(gpu::Device& device) : workspaces(device) {}
    mutable gpu::Workspaces workspaces;
  };

  // Of each CUDA device.
  std::map<std::size_t, std::vector<PublishedOnce<gpu::ProgramRunner>>> products_;
  std::vector<PublishedOnce<Arrays>> arrays_;
};

/// A GPU for `powers` more powers of `exponent_limbs` limbs, chosen by load, whose load has them for as long
/// as this lives.
class PowersPlace {
 public:
  PowersPlace(const PowerEngines& engines, std::size_t powers, std::size_t exponent_limbs);

  /// None where the CPU computes so many powers, or where no GPU is of use.
  [[nodiscard]] const GpuPower* gpu() const { return gpu_; }

 private:
  const GpuPower* gpu_ = nullptr;
  std::optional<GpuPlace> place_;
};

}  // namespace manymod::rsa
