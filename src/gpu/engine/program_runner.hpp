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

  /// Runs the program for items 0 .. result.count - 1 and waits for it. On input: operands of any width, with
  /// values below R, on the host. On output: results `limbs` limbs wide, which must not overlap operands.
  /// With TimingClass::secret all intermediate copies are zeroed.
  /// @throws DeviceError
  void run(const Program& program, TimingClass timing, const BatchView& modulus,
           std::span<const BatchView> operands, const BatchResult& result) const;

  /// As run(), but enqueues the program in the workspace's stream and does not wait for it (queue_chunk says
  /// what follows). Operands that all items share are on the host, the others and the results on the device.
  /// @throws DeviceError
  void queue(const Program& program, TimingClass timing, const BatchView& modulus,
             std::span<const BatchView> operands, const BatchResult& result, Workspace& workspace) const;

 private:
  Device& device_;
  std::size_t limbs_;
  std::vector<const Shape*> shapes_;  ///< of one width, by their number of threads; at least one
  mutable Workspaces workspaces_;

  [[nodiscard]] const Shape& shape_for(std::size_t items) const;
  // `use`: of the plan of run() or queue().
  template <class Use>
  void with_plan(const Program& program, TimingClass timing, const BatchView& modulus,
                 std::span<const BatchView> operands, const BatchResult& result, const Use& use) const;
};

}  // namespace manymod::gpu
