// SPDX-License-Identifier: Apache-2.0
#include "rsa/blinding.hpp"

#include <utility>

#include "core/library_thread.hpp"

namespace manymod::rsa {
namespace {

// Another thread holds the mutex while it moves a pair, or, since a fork, forever. The threads of one batch
// take their pairs all at the same time, and a fresh pair costs more than hundreds of attempts.
constexpr int kAttempts = 300;

std::unique_lock<std::mutex> locked_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int attempt = 1; attempt < kAttempts && !lock.owns_lock(); ++attempt) {
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace

std::optional<BlindingPair> BlindingStock::take() {
  const auto process = process_id();
  const std::unique_lock lock = locked_soon(mutex_);
  if (!lock.owns_lock() || pid_ != process || pairs_.empty()) return std::nullopt;
  BlindingPair pair = std::move(pairs_.back());
  pairs_.pop_back();
  return pair;
}

void BlindingStock::give_back(BlindingPair pair) noexcept {
  if (pair.uses_left == 0) return;
  const auto process = process_id();
  const std::unique_lock lock = locked_soon(mutex_);
  if (!lock.owns_lock()) return;
  if (pid_ != process) pairs_.clear();
  pid_ = process;
  if (pairs_.size() < kKept) pairs_.push_back(std::move(pair));
}

}  // namespace manymod::rsa
