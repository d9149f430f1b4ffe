// SPDX-License-Identifier: Apache-2.0
// A client with requests, as the daemon sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "common/descriptor.hpp"
#include "protocol/record.hpp"
#include "server/accounts.hpp"
#include "server/counters.hpp"
#include "server/peer.hpp"

namespace manymod::signd {

/// What all connections of a daemon have alike.
struct Limits {
  std::uint32_t max_outstanding, max_input, max_output;
};

/// In bytes: DER of a signature on P-521 has 141, EdDSA's 114.
inline constexpr std::uint32_t kLongestEcResult = 160;

/// The welcome of a client without rings.
Welcome welcome_of(const Limits& limits);

/// The reader's functions are for one thread; answer() is for all. None of them waits. It has its place for
/// as long as there are answers under way: a client cannot end connections to have more requests under way.
class Connection {
 public:
  Connection(Peer peer, Place place, const Limits& limits, Counters& counters);
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] virtual int socket() const = 0;
  /// What epoll is to tell of the socket.
  [[nodiscard]] virtual std::uint32_t events() const = 0;

  /// The reader takes a request. @return false if there is none. @throws ProtocolError, also for a client
  /// with more requests outstanding than it may have
  bool next(RequestHeader& header, Bytes& input);
  /// Tell the client what was taken.
  virtual void publish() {}
  /// Whether its client, with all its connections, may ask now.
  [[nodiscard]] bool may_ask(Clock::time_point now, double rate, double burst) {
    return place_->bucket.take(now, rate, burst);
  }
  /// The reader goes to sleep: whether there is no request, and one that comes will show at the socket.
  [[nodiscard]] virtual bool fall_asleep() = 0;
  /// The socket has something to tell.
  virtual void wake_up() = 0;
  /// Whether the client has gone.
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// Why a client is to be disconnected that does nothing any more, or may not any more; null: it is not.
  [[nodiscard]] virtual const char* overdue(Clock::time_point) { return nullptr; }
  /// Whether overdue() is to be asked from time to time.
  [[nodiscard]] virtual bool is_watched() const { return false; }

  /// Write answers and let the client see them.
  /// @param answer_of gives the id, the status and the output of answer i
  template <class AnswerOf>
  void answer(std::size_t count, AnswerOf answer_of) {
    std::unique_lock lock(writing_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [id, status, output] = answer_of(i);
      append_answer(id, status, output);
      counters_.answers[static_cast<std::size_t>(status)].fetch_add(1, std::memory_order_relaxed);
    }
    outstanding_.fetch_sub(static_cast<std::int64_t>(count), std::memory_order_relaxed);
    const bool asleep = publish_answers();
    // The woken thread may preempt this one: others are not to wait for the lock meanwhile.
    lock.unlock();
    if (asleep) wake_client();
  }

 protected:
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] std::mutex& writing() { return writing_; }
  void end() { ended_ = true; }

 private:
  virtual bool take(RequestHeader& header, Bytes& input) = 0;
  // On input: writing() is locked.
  virtual void append_answer(std::uint64_t id, Status status, ByteSpan output) = 0;
  /// @return whether the client sees them only after wake_client()
  virtual bool publish_answers() = 0;
  /// For any thread.
  virtual void wake_client() {}

  const Peer peer_;
  const Place place_;
  const Limits limits_;
  Counters& counters_;
  std::mutex writing_;
  std::atomic<std::int64_t> outstanding_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace manymod::signd
