// SPDX-License-Identifier: Apache-2.0
// A client of another host, by TLS.
//
// The memory that a client can occupy is bounded: one incomplete frame, max_outstanding requests, and their
// answers. No request is taken from a client that does not take its answers. epoll is edge-triggered, so
// that the threads that write answers need not change what it watches.
#pragma once

#include <sys/epoll.h>

#include <memory>

#include "server/connection.hpp"
#include "server/generation.hpp"
#include "transport/tls.hpp"

namespace manymod::signd {

class StreamConnection final : public Connection {
 public:
  /// @param stream established, with the context's TLS; nothing was received after the hello
  /// @param generation whose TLS and limits hold, at any time
  StreamConnection(std::unique_ptr<TlsStream> stream, std::shared_ptr<const TlsContext> context, Peer peer,
                   Place place, const Limits& limits, const CurrentGeneration& generation,
                   Counters& counters);

  [[nodiscard]] int socket() const override { return stream_->socket(); }
  [[nodiscard]] std::uint32_t events() const override { return EPOLLIN | EPOLLOUT | EPOLLET; }
  [[nodiscard]] bool fall_asleep() override { return true; }
  void wake_up() override {}
  /// A pause within a frame, answers that are not taken, a certificate that is not accepted any more.
  [[nodiscard]] const char* overdue(Clock::time_point now) override;
  [[nodiscard]] bool is_watched() const override { return true; }

 private:
  bool take(RequestHeader& header, Bytes& input) override;
  void append_answer(std::uint64_t id, Status status, ByteSpan output) override;
  bool publish_answers() override;
  [[nodiscard]] bool receive();
  [[nodiscard]] bool is_accepted(const Generation& generation);

  const std::shared_ptr<const TlsContext> context_;  ///< which the stream needs
  const std::unique_ptr<TlsStream> stream_;
  const CurrentGeneration& generation_;
  std::shared_ptr<const TlsContext> accepted_by_;
  FrameReader reader_;
  // Under writing().
  Bytes out_;
  std::size_t sent_ = 0;
  /// When a frame, or the answers, last moved: a stall begins there.
  Clock::time_point frame_moved_, answers_moved_;
};

}  // namespace manymod::signd
