// SPDX-License-Identifier: Apache-2.0
// Multipliers of technique cox_rower on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/cuda/memory.cuda.hpp"
#include "gpu/program/interpreter.cuda.hpp"
#include "modmul/cox_rower/constants.hpp"
#include "modmul/cox_rower/multiplier.cuda.hpp"
#include "support/device_multiplier.hpp"
#include "support/lockstep_block.hpp"

namespace manymod::test {

/// A shape of the kernels on the host.
template <unsigned threads, unsigned bits>
struct CoxRowerShape {
  static constexpr unsigned kThreads = threads;
  static constexpr cox_rower::Bases kBases = cox_rower::bases_of(bits);
  using Group = LockstepBlock<threads>;
  using Multiplier = cox_rower::Multiplier<Group, bits>;
  static constexpr unsigned kWords = Multiplier::kWords;

  /// The constants that the kernel reads.
  static const void* constants() {
    static const std::vector<std::uint32_t> kConstants = cox_rower::constants_of({kBases, threads});
    return kConstants.data();
  }
};

/// GoogleTest's name of a shape, such as 288threads_2048bits.
struct CoxRowerNames {
  template <class Shape>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::to_string(Shape::kThreads) + "threads_" + std::to_string(32 * Shape::kWords) + "bits";
  }
};

/// The memory of a block, with guards around it.
template <class Shape>
class GuardedBlock {
 public:
  static constexpr std::size_t kSize = std::size_t{Shape::Multiplier::kSharedWords} * Shape::kThreads;

  [[nodiscard]] LaneMemory memory() { return {words_ + kGuards, 1}; }
  [[nodiscard]] bool guards_intact() const {
    for (std::size_t i = 0; i < kGuards; ++i) {
      if (words_[i] != kGuardWord || words_[kGuards + kSize + i] != kGuardWord) return false;
    }
    return true;
  }
  GuardedBlock() {
    for (std::uint32_t& word : words_) word = kGuardWord;
  }

 private:
  static constexpr std::size_t kGuards = 4;
  alignas(16) std::uint32_t words_[kSize + 2 * kGuards];
};

/// Calls body(multiplier) in every thread. @return whether the threads wrote in the block's memory only
template <class Shape, class Body>
bool with_cox_rower(const Words& n, Body body) {
  GuardedBlock<Shape> block;
  run_lockstep_block<Shape::kThreads>([&](typename Shape::Group group) {
    body(typename Shape::Multiplier(group, block.memory(), source_of(n), Shape::constants()));
  });
  return block.guards_intact();
}

}  // namespace manymod::test
