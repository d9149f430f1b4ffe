// SPDX-License-Identifier: Apache-2.0
// Connections to the daemon: their opening, the exchange of frames, and the ways of requests.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "common/descriptor.hpp"
#include "protocol/frame.hpp"
#include "protocol/ring.hpp"
#include "transport/tls.hpp"

namespace manymod::signd {

/// A connection for frames, by a Unix socket or by TLS. Its functions throw std::system_error, ProtocolError,
/// and std::runtime_error with the daemon's reason if it refuses, or for files that are wrong.
class FrameLink {
 public:
  enum class Purpose : std::uint8_t { questions, requests };
  /// Connect, and exchange hello and welcome.
  FrameLink(const Settings& settings, Purpose purpose, Clock::time_point deadline);
  void send(FrameType type);
  /// The bodies of an answer's frames, in their order.
  [[nodiscard]] std::vector<Bytes> receive(FrameType expected);

  [[nodiscard]] const Welcome& welcome() const { return welcome_; }
  /// Whether requests go by TLS, else in rings.
  [[nodiscard]] bool is_remote() const { return context_ != nullptr; }
  // What a Link takes over.
  [[nodiscard]] std::unique_ptr<TlsContext>& context() { return context_; }
  [[nodiscard]] std::unique_ptr<Stream>& stream() { return stream_; }
  /// The file of the rings' memory, which came with the welcome.
  [[nodiscard]] Descriptor& memory() { return memory_; }

 private:
  void connect_to(const Settings& settings);
  void send_all(ByteSpan bytes);
  [[nodiscard]] Frame next_frame();
  void wait_for(Step step) const;

  Clock::time_point deadline_;
  Descriptor memory_;
  std::unique_ptr<TlsContext> context_;
  std::unique_ptr<Stream> stream_;
  FrameReader reader_{kMaxDaemonBody};
  Welcome welcome_;
};

/// A connection for requests; for one thread at a time. Nothing here waits.
class Link {
 public:
  explicit Link(const Welcome& welcome) : welcome_(welcome) {}
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] const Welcome& welcome() const { return welcome_; }
  [[nodiscard]] virtual int socket() const = 0;
  /// Write a request. @return false if there is no room
  virtual bool send(const RequestHeaderBytes& header, ByteSpan input) = 0;
  enum class Published : std::uint8_t {
    done,    ///< the daemon sees what was written
    asleep,  ///< it will, once wake_daemon() was called
    later    ///< it will by the next receive()
  };
  /// Let the daemon see what was written.
  [[nodiscard]] virtual Published publish() = 0;
  /// For any thread, besides the one that has the link.
  virtual void wake_daemon() {}
  /// The next answer. @return false if there is none. @throws ProtocolError
  virtual bool receive(AnswerHeader& header, Bytes& output) = 0;
  /// Whether to wait for events() of the socket: no answer is there, and one that comes shows there.
  [[nodiscard]] virtual bool fall_asleep() = 0;
  [[nodiscard]] virtual short events() const { return POLLIN; }
  /// After the waiting. @return false if the connection has ended
  virtual bool wake_up() = 0;
  /// When something last came, where the daemon may be unreachable without this side's knowing.
  [[nodiscard]] virtual std::optional<Clock::time_point> last_heard() const { return std::nullopt; }

 private:
  const Welcome welcome_;
};

/// Connect to the daemon for requests: in rings by a Unix socket, as frames by TLS. @throws as FrameLink
std::unique_ptr<Link> open_link(const Settings& settings, Clock::time_point deadline);

/// Requests in rings.
class RingLink final : public Link {
 public:
  /// On input: a link for requests by a Unix socket.
  explicit RingLink(FrameLink&& opened);

  [[nodiscard]] int socket() const override { return stream_->socket(); }
  bool send(const RequestHeaderBytes& header, ByteSpan input) override;
  [[nodiscard]] Published publish() override;
  void wake_daemon() override;
  bool receive(AnswerHeader& header, Bytes& output) override { return answers_.next(header, output); }
  [[nodiscard]] bool fall_asleep() override;
  bool wake_up() override;

 private:
  const std::unique_ptr<Stream> stream_;
  RingMemory memory_;
  RequestWriter requests_;
  AnswerReader answers_;
};

/// Requests as frames of a stream.
class StreamLink final : public Link {
 public:
  /// On input: a link for requests by TLS.
  explicit StreamLink(FrameLink&& opened);

  [[nodiscard]] int socket() const override { return stream_->socket(); }
  bool send(const RequestHeaderBytes& header, ByteSpan input) override;
  [[nodiscard]] Published publish() override { return Published::later; }
  bool receive(AnswerHeader& header, Bytes& output) override;
  /// Answers that were received, or that the TLS library has decrypted, do not make the socket readable.
  [[nodiscard]] bool fall_asleep() override { return drained_; }
  [[nodiscard]] short events() const override;
  bool wake_up() override { return !ended_; }
  [[nodiscard]] std::optional<Clock::time_point> last_heard() const override { return last_received_; }

 private:
  void flush();

  /// Requests that wait for the socket: more than these bytes of them find no room.
  static constexpr std::size_t kMostWaiting = 1U << 22;

  const std::unique_ptr<TlsContext> context_;
  const std::unique_ptr<Stream> stream_;
  FrameReader reader_;
  Bytes out_;
  std::size_t sent_ = 0;
  bool ended_ = false;
  bool drained_ = true;  ///< the last receive() found nothing
  Clock::time_point last_received_ = Clock::now();
};

}  // namespace manymod::signd
