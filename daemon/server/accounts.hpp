// SPDX-License-Identifier: Apache-2.0
// The places that connections have, and what all connections of one client share.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/descriptor.hpp"
#include "server/peer.hpp"

namespace manymod::signd {

/// How often a client may ask: `rate` requests a second, and `burst` at once. 0: as often as it likes.
/// Thread-safe.
class TokenBucket {
 public:
  /// @return false if there is no token
  bool take(Clock::time_point now, double rate, double burst);
  /// From when on it is no different from a new one.
  [[nodiscard]] Clock::time_point full_at() const;

 private:
  mutable std::mutex mutex_;
  double tokens_ = 0;
  Clock::time_point filled_{}, full_at_{};
};

/// A client, by Peer::principal, with however many connections.
struct Account {
  explicit Account(const Peer& peer) : principal(peer.principal), is_stranger(peer.is_stranger()) {}
  const std::string principal;
  const bool is_stranger;
  TokenBucket bucket;
  std::size_t connections = 0;  ///< belongs to Accounts
};

class Accounts;
struct LeavePlace {
  Accounts* accounts = nullptr;
  void operator()(Account* account) const noexcept;
};
/// The place of one connection, with its client's account. It is given back when it is destroyed, on any
/// thread.
using Place = std::unique_ptr<Account, LeavePlace>;

/// Thread-safe. Connections of strangers take no place of those that are known, or whoever can connect could
/// lock out all others.
class Accounts {
 public:
  /// @param most, most_of_one connections of all clients, and of one. Of strangers there are a quarter as
  /// many in all, and a sixteenth of that by one address, but no fewer than kFewest
  Accounts(std::size_t most, std::size_t most_of_one);
  static constexpr std::size_t kFewest = 16;
  /// Accounts that have no connection, but a bucket that is not full: beyond that many, which certificates of
  /// an issuer without a bound could make, they are forgotten.
  static constexpr std::size_t kMostIdle = 10'000;

  enum class Room { there, full, full_for_it };
  [[nodiscard]] Room room_for(const Peer& peer) const;
  /// @return null if there is no room. @throws std::bad_alloc
  [[nodiscard]] Place admit(const Peer& peer);

 private:
  friend struct LeavePlace;
  using Lock = std::scoped_lock<std::mutex>;
  struct Share {
    std::size_t most, most_of_one, taken = 0;
  };
  [[nodiscard]] Room room_for(const Lock&, const Peer& peer) const;
  void forget_old(const Lock&);
  void leave(Account& account) noexcept;

  mutable std::mutex mutex_;
  Share known_, strangers_;
  std::unordered_map<std::string, Account> accounts_;
  std::size_t look_at_ = kFewest;  ///< so many accounts are looked through for those to forget
};

}  // namespace manymod::signd
