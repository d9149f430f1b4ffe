// SPDX-License-Identifier: Apache-2.0
// Runs device code for whole blocks on the host: LockstepBlock<kThreads> replaces cuda::BlockGroup<kThreads>
// (arch/cuda/block_group.cuda.hpp). All threads of a block take turns as the lanes of a warp do
// (lockstep.hpp), so that divergence anywhere in the block is an error. Shuffles, too, wait for the whole
// block here, on the device only for a warp: a barrier that is missing between warps is not found.
#pragma once

#include <cstdint>

#include "support/lockstep.hpp"

namespace manymod::test {

template <unsigned kThreads>
class LockstepBlock {
  static_assert(kThreads <= Lockstep::kMaxLanes);

 public:
  static constexpr unsigned kSize = kThreads;

  LockstepBlock(Lockstep& lockstep, unsigned lane) : lockstep_(&lockstep), lane_(lane) {}

  [[nodiscard]] unsigned lane() const { return lane_; }

  template <class T>
  T shuffle_xor(T value, unsigned mask, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) const {
    lockstep_->synchronize_with(lane_, "shuffle_xor", value, file, line);
    return lockstep_->read<T>(lane_, lane_ ^ mask);
  }

  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    lockstep_->synchronize_with(lane_, "sync", false, file, line);
  }

 private:
  Lockstep* lockstep_;
  unsigned lane_;
};

/// Calls body(block) for each thread of a block.
template <unsigned kThreads, class Body>
void run_lockstep_block(Body body) {
  Lockstep::run(kThreads, [&body](Lockstep& lockstep, unsigned lane) {
    body(LockstepBlock<kThreads>(lockstep, lane));
  });
}

}  // namespace manymod::test
