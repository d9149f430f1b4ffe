// SPDX-License-Identifier: Apache-2.0
#include "server/counters.hpp"

namespace manymod::signd {

void UseLog::add(const std::string& key, const std::string& principal, Operation operation,
                 std::uint64_t accepted, std::uint64_t denied) {
  const std::scoped_lock lock(mutex_);
  auto row = counts_.find({key, principal, operation});
  if (row == counts_.end()) {
    const std::string& named = counts_.size() < kMost ? principal : "peer=others";
    row = counts_.try_emplace({key, named, operation}).first;
  }
  Counts& counts = row->second;
  counts.accepted += accepted;
  counts.denied += denied;
}

std::vector<Use> UseLog::totals() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Use> uses;
  for (const auto& [of, counts] : counts_) {
    uses.push_back({std::get<0>(of), std::get<1>(of), std::get<2>(of), counts.accepted, counts.denied});
  }
  return uses;
}

std::vector<Use> UseLog::news() {
  const std::scoped_lock lock(mutex_);
  std::vector<Use> uses;
  for (auto& [of, counts] : counts_) {
    const std::uint64_t accepted = counts.accepted - counts.reported_accepted;
    const std::uint64_t denied = counts.denied - counts.reported_denied;
    if (accepted == 0 && denied == 0) continue;
    uses.push_back({std::get<0>(of), std::get<1>(of), std::get<2>(of), accepted, denied});
    counts.reported_accepted = counts.accepted;
    counts.reported_denied = counts.denied;
  }
  return uses;
}

}  // namespace manymod::signd
