// SPDX-License-Identifier: Apache-2.0
// A client's rings, as the daemon sees them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "protocol/descriptor.hpp"
#include "protocol/ring.hpp"
#include "server/access.hpp"
#include "server/counters.hpp"

namespace manymod::signd {

/// What all connections of a daemon have alike.
struct RingLimits {
  std::uint32_t max_outstanding, max_input, max_output;
};

/// How often a client may ask: `rate` requests a second, and `burst` at once. 0: as often as it likes.
class TokenBucket {
 public:
  /// @return false if there is no token
  bool take(Clock::time_point now, double rate, double burst);

 private:
  double tokens_ = 0;
  Clock::time_point filled_{};
};

/// The reader's functions are for one thread; answer() is for all.
class Connection {
 public:
  /// @param memory a sealed file of RingMemory::file_bytes(); it is mapped
  /// @throws std::system_error
  Connection(Descriptor socket, Peer peer, const RingLimits& limits, const Welcome& sizes, int memory,
             Counters& counters);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const Peer& peer() const { return peer_; }

  /// The reader takes a request. @return false if there is none. @throws ProtocolError, also for a client
  /// with more requests outstanding than it may have
  bool next(RequestHeader& header, Bytes& input);
  void publish() { requests_.publish(); }
  TokenBucket bucket;
  /// The reader goes to sleep: whether the ring is empty, and the client will send a byte with a request.
  [[nodiscard]] bool fall_asleep();
  void wake_up();

  /// Write answers and let the client see them.
  /// @param answer_of gives the id, the status and the output of answer i
  template <class AnswerOf>
  void answer(std::size_t count, AnswerOf answer_of) {
    const std::scoped_lock lock(writing_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [id, status, output] = answer_of(i);
      answers_.append(id, status, output);
      counters_.answers[static_cast<std::size_t>(status)].fetch_add(1, std::memory_order_relaxed);
    }
    outstanding_.fetch_sub(static_cast<std::int64_t>(count), std::memory_order_relaxed);
    publish_answers();
  }

 private:
  void publish_answers();

  Descriptor socket_;
  const Peer peer_;
  const RingLimits limits_;
  RingMemory memory_;
  RequestReader requests_;
  std::mutex writing_;
  AnswerWriter answers_;
  std::atomic<std::int64_t> outstanding_{0};
  Counters& counters_;
};

/// Sizes of rings in which max_outstanding answers, and about as many requests, have room.
Welcome ring_sizes(const RingLimits& limits);
/// A file of memory that neither side can make shorter or longer. @throws std::system_error
Descriptor make_ring_file(const Welcome& sizes);

}  // namespace manymod::signd
