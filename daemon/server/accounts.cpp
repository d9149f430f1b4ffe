// SPDX-License-Identifier: Apache-2.0
#include "server/accounts.hpp"

#include <algorithm>

namespace manymod::signd {

bool TokenBucket::take(Clock::time_point now, double rate, double burst) {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kLongest = std::chrono::years(1);  // the addition to a Clock's time does not overflow
  if (rate <= 0) return true;
  const std::scoped_lock lock(mutex_);
  const double most = std::max(burst, 1.0);
  const bool fresh = filled_ == Clock::time_point{};
  now = std::max(now, filled_);  // a thread with a later `now` may have locked the mutex first
  tokens_ = fresh ? most : std::min(most, tokens_ + rate * Seconds(now - filled_).count());
  filled_ = now;
  const bool taken = tokens_ >= 1;
  if (taken) tokens_ -= 1;
  full_at_ = now + std::chrono::ceil<Clock::duration>(std::min(kLongest, Seconds((most - tokens_) / rate)));
  return taken;
}

Clock::time_point TokenBucket::full_at() const {
  const std::scoped_lock lock(mutex_);
  return full_at_;
}

void LeavePlace::operator()(Account* account) const noexcept { accounts->leave(*account); }

Accounts::Accounts(std::size_t most, std::size_t most_of_one) : known_{most, most_of_one} {
  unauthenticated_.most = std::max(kFewest, most / 4);
  unauthenticated_.most_of_one = std::max(kFewest, unauthenticated_.most / 16);
}

Accounts::Room Accounts::room_for(const Peer& peer) const {
  const Lock lock(mutex_);
  return room_for(lock, peer);
}

Accounts::Room Accounts::room_for(const Lock&, const Peer& peer) const {
  const Share& share = peer.is_unauthenticated() ? unauthenticated_ : known_;
  const auto own = accounts_.find(peer.principal);
  if (own != accounts_.end() && own->second.connections >= share.most_of_one) return Room::full_for_it;
  return share.taken < share.most ? Room::there : Room::full;
}

Place Accounts::admit(const Peer& peer) {
  const Lock lock(mutex_);
  if (room_for(lock, peer) != Room::there) return {nullptr, {this}};
  forget_old(lock);
  Account& account = accounts_.try_emplace(peer.principal, peer).first->second;
  ++account.connections;
  ++(account.is_unauthenticated ? unauthenticated_ : known_).taken;
  return {&account, {this}};
}

// An account without connections is kept until its token bucket is full: otherwise a client would get a new
// bucket by reconnecting. The search for accounts to forget runs when their number has doubled since the
// last search, so that its amortised cost for each new account is constant.
void Accounts::forget_old(const Lock&) {
  if (accounts_.size() < look_at_) return;
  const auto now = Clock::now();
  const auto is_idle = [](const auto& entry) { return entry.second.connections == 0; };
  std::erase_if(accounts_,
                [&](const auto& entry) { return is_idle(entry) && entry.second.bucket.full_at() <= now; });
  if (accounts_.size() > known_.taken + unauthenticated_.taken + kMostIdle) std::erase_if(accounts_, is_idle);
  look_at_ = std::max(kFewest, 2 * accounts_.size());
}

void Accounts::leave(Account& account) noexcept {
  const Lock lock(mutex_);
  --(account.is_unauthenticated ? unauthenticated_ : known_).taken;
  if (--account.connections != 0 || account.bucket.full_at() > Clock::now()) return;
  accounts_.erase(accounts_.find(account.principal));
}

}  // namespace manymod::signd
