// SPDX-License-Identifier: Apache-2.0
// Programs other than those of an engine's operations.
#pragma once

#include <cstddef>
#include <span>

#include "engine/engine.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/programs.hpp"
#include "gpu/program/shape.hpp"
#include "repr/canonical.hpp"

namespace manymod::gpu {

/// For odd moduli of one number of limbs. Safe to use from several threads.
class ProgramRunner {
 public:
  /// `technique`: without constants, its shapes hold moduli of `limbs` limbs.
  ProgramRunner(const Technique& technique, cuda::Device& device, std::size_t limbs);

  /// Programs are to be made for R = 2^(64 radix_limbs()), which is not below 2^(64 limbs).
  [[nodiscard]] std::size_t radix_limbs() const { return shape_.words / 2; }

  /// Run the program for items 0 .. result.count - 1 and wait for it. Operands of any width, their values
  /// below R. Results `limbs` wide, in none of the operands' places. All of them are on the device or all on
  /// the host, where those that all items share always are. In class secret nothing is left behind.
  /// @throws cuda::DriverError
  void run(const Program& program, TimingClass timing, const BatchView& modulus,
           std::span<const BatchView> operands, const BatchResult& result) const;

 private:
  cuda::Device& device_;
  std::size_t limbs_;
  const Shape& shape_;
  mutable Workspaces workspaces_;
};

}  // namespace manymod::gpu
