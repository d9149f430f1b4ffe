// SPDX-License-Identifier: Apache-2.0
#include "rsa/blinding.hpp"

#include <utility>

#include "core/library_thread.hpp"

namespace manymod::rsa {

std::optional<BlindingPair> BlindingStock::take() {
  const auto process = process_id();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || pid_ != process || pairs_.empty()) return std::nullopt;
  BlindingPair pair = std::move(pairs_.back());
  pairs_.pop_back();
  return pair;
}

void BlindingStock::give_back(BlindingPair pair) noexcept {
  if (pair.uses_left == 0) return;
  const auto process = process_id();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (pid_ != process) pairs_.clear();
  pid_ = process;
  if (pairs_.size() < kKept) pairs_.push_back(std::move(pair));
}

}  // namespace manymod::rsa
