// SPDX-License-Identifier: Apache-2.0
// Runs programs other than those of an engine's operations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/programs.hpp"
#include "gpu/program/shape.hpp"
#include "repr/canonical.hpp"

namespace manymod::gpu {

/// For odd moduli of a fixed number of limbs. Thread-safe.
class ProgramRunner {
 public:
  /// `technique` has no constants, and some of its shapes hold moduli of `limbs` limbs.
  ProgramRunner(const Technique& technique, Device& device, std::size_t limbs);

  /// Programs must be built for R = 2^(64 radix_limbs()) >= 2^(64 limbs).
  [[nodiscard]] std::size_t radix_limbs() const { return shapes_.front()->words / 2; }

  /// Enqueues the program for items 0 .. result.count - 1 in the workspace's stream, and does not wait for it
  /// (queue_chunk says what follows). On input: operands of any width, with values below R; those that all
  /// items share are on the host, the others and the results on the device. On output: results `limbs` limbs
  /// wide, which must not overlap operands. With TimingClass::secret intermediate copies on the device are
  /// zeroed. @throws DeviceError
  void queue(const Program& program, TimingClass timing, const BatchView& modulus,
             std::span<const BatchView> operands, const BatchResult& result, Workspace& workspace) const;

 private:
  Device& device_;
  std::size_t limbs_;
  std::vector<const Shape*> shapes_;  ///< of one width, by their number of threads; at least one

  [[nodiscard]] const Shape& shape_for(std::size_t items) const;
};

}  // namespace manymod::gpu
