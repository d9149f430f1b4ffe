// SPDX-License-Identifier: Apache-2.0
// A client of this machine, with rings.
#pragma once

#include <sys/epoll.h>

#include "protocol/ring.hpp"
#include "server/connection.hpp"

namespace manymod::signd {

class RingConnection final : public Connection {
 public:
  /// @param memory a sealed file of RingMemory::file_bytes(); it is mapped
  /// @throws std::system_error
  RingConnection(Descriptor socket, Peer peer, Place place, const Limits& limits, const Welcome& sizes,
                 int memory, Counters& counters);

  [[nodiscard]] int socket() const override { return socket_.get(); }
  [[nodiscard]] std::uint32_t events() const override { return EPOLLIN; }
  void publish() override { requests_.publish(); }
  [[nodiscard]] bool fall_asleep() override;
  void wake_up() override;

 private:
  bool take(RequestHeader& header, Bytes& input) override { return requests_.next(header, input); }
  void append_answer(std::uint64_t id, Status status, ByteSpan output) override {
    answers_.append(id, status, output);
  }
  bool publish_answers() override { return answers_.publish(); }
  void wake_client() override;

  Descriptor socket_;
  RingMemory memory_;
  RequestReader requests_;
  AnswerWriter answers_;
};

/// Sizes of rings in which max_outstanding answers, and about as many requests, have room.
Welcome ring_sizes(const Limits& limits);
/// A file of memory that neither side can make shorter or longer. @throws std::system_error
Descriptor make_ring_file(const Welcome& sizes);

}  // namespace manymod::signd
