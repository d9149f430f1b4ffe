// SPDX-License-Identifier: Apache-2.0
#include "rsa/blinding.hpp"

#include <unistd.h>

#include <utility>

namespace manymod::rsa {

BlindingPair BlindingStock::take(const PrivateArithmetic& arithmetic) {
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && pid_ == static_cast<long>(getpid()) && !pairs_.empty()) {
      BlindingPair pair = std::move(pairs_.back());
      pairs_.pop_back();
      return pair;
    }
  }
  return arithmetic.fresh_pair(kUses);
}

void BlindingStock::give_back(BlindingPair pair) noexcept {
  if (pair.uses_left == 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto process = static_cast<long>(getpid());
  if (pid_ != process) pairs_.clear();
  pid_ = process;
  if (pairs_.size() < kKept) pairs_.push_back(std::move(pair));
}

const BlindingPair& Blinder::next(Limb* scratch) {
  if (pair_.uses_left == 0) {
    pair_ = arithmetic_.fresh_pair(BlindingStock::kUses);
  } else if (pair_.uses_left < BlindingStock::kUses) {
    arithmetic_.square(pair_, scratch);
  }
  --pair_.uses_left;
  return pair_;
}

}  // namespace manymod::rsa
