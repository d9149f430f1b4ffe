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

/// Limits how often a client may send requests: `rate` a second on average, and `burst` at once. Rate 0: no
/// limit. Thread-safe.
class TokenBucket {
 public:
  /// @return false if there is no token
  bool take(Clock::time_point now, double rate, double burst);
  /// The time from which on the bucket is full, and so no different from a new one.
  [[nodiscard]] Clock::time_point full_at() const;

 private:
  mutable std::mutex mutex_;
  double tokens_ = 0;
  Clock::time_point filled_{}, full_at_{};
};

/// A client, by Peer::principal, with however many connections.
struct Account {
  explicit Account(const Peer& peer)
      : principal(peer.principal), is_unauthenticated(peer.is_unauthenticated()) {}
  const std::string principal;
  const bool is_unauthenticated;
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

/// Thread-safe. Unauthenticated clients, whose certificate is not known yet, have places of their own:
/// otherwise anyone who can connect could take all places and lock the others out.
class Accounts {
 public:
  /// @param most, most_of_one connections of all known clients together, and of one. Unauthenticated
  /// clients have a quarter of `most` together, and a sixteenth of that from one address, but in both cases
  /// at least kFewest
  Accounts(std::size_t most, std::size_t most_of_one);
  static constexpr std::size_t kFewest = 16;
  /// The most accounts that are kept without a connection because their bucket is not full. If there are
  /// more, for instance because an issuer makes any number of certificates, all of these are forgotten.
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
  Share known_, unauthenticated_;
  std::unordered_map<std::string, Account> accounts_;
  std::size_t look_at_ = kFewest;  ///< number of accounts at which forget_old() searches them
};

}  // namespace manymod::signd
