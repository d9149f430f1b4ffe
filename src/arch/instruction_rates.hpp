// SPDX-License-Identifier: Apache-2.0
// How many of one instruction the calling thread completes in a second: the hard limit that a kernel built on
// it is compared with. The loops work on registers alone, so that only the execution ports limit them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/cpu_features.hpp"

namespace manymod {

struct InstructionLoop {
  std::string_view name;  ///< mnemonic and register width: "vpmadd52_zmm"
  CpuFeatures needs;      ///< the loop dies on a CPU without these
  unsigned per_round;     ///< instructions counted in a round
  void (*run)(std::uint64_t rounds);
};

/// Every loop of this build. "add_chain" is a chain of dependent additions: one a cycle, so its rate is the
/// core's frequency. Empty on other processors than x86-64.
std::span<const InstructionLoop> instruction_loops();

/// Instructions a second of processor time over a stretch of about `seconds` (0 < seconds), after a warm-up
/// of a quarter of it. The caller has checked `needs`.
double instruction_rate(const InstructionLoop& loop, double seconds);

}  // namespace manymod
