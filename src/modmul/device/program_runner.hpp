// SPDX-License-Identifier: Apache-2.0
// Programs other than those of an engine's operations, on arrays in a device's memory.
#pragma once

#include <cstddef>
#include <span>

#include "cuda/device.hpp"
#include "modmul/device/programs.hpp"
#include "modmul/device/shape.hpp"
#include "modmul/device/workspace.hpp"
#include "repr/canonical.hpp"

namespace manymod::device {

/// For odd moduli of one number of limbs, by row32. Safe to use from several threads.
class ProgramRunner {
 public:
  ProgramRunner(cuda::Device& device, std::size_t limbs);

  /// Programs are to be made for R = 2^(64 radix_limbs()), which is not below 2^(64 limbs).
  [[nodiscard]] std::size_t radix_limbs() const { return shape_.words / 2; }

  /// Run the program for items 0 .. result.count - 1 and wait for it. Operands of any width, their values
  /// below R; those that all items share may be on the host. Results: on the device, `limbs` wide, in none of
  /// the operands' places. Timing: secret; nothing is left behind.
  /// @throws cuda::DriverError
  void run(const Program& program, const BatchView& modulus, std::span<const BatchView> operands,
           const BatchResult& result) const;

 private:
  cuda::Device& device_;
  std::size_t limbs_;
  const Shape& shape_;
  mutable Workspaces workspaces_;
};

}  // namespace manymod::device
