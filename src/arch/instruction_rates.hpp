// SPDX-License-Identifier: Apache-2.0
// How many instructions of one kind the calling thread completes per second: the upper limit that a kernel
// built on that instruction is compared with. The loops use registers only, so that nothing but the execution
// ports limits them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/cpu_features.hpp"

namespace manymod {

/// A loop whose rounds execute `per_round` instructions of one kind.
struct InstructionLoop {
  std::string_view name;  ///< mnemonic and register width: "vpmadd52_zmm"
  CpuFeatures needs;      ///< CPU features without which the loop faults
  unsigned per_round;     ///< instructions counted in a round
  void (*run)(std::uint64_t rounds);
};

/// Every loop of this build; empty on processors other than x86-64. "add_chain" is a chain of dependent
/// additions, one per cycle, so that its rate is the core's frequency.
std::span<const InstructionLoop> instruction_loops();

/// Instructions per second of processor time, measured over about `seconds` > 0 after a warm-up of a quarter
/// of that. The caller has checked `needs`.
double instruction_rate(const InstructionLoop& loop, double seconds);

}  // namespace manymod
