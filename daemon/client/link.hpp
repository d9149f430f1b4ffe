// SPDX-License-Identifier: Apache-2.0
// Connections to the daemon: their opening, the exchange of frames, and the rings.
#pragma once

#include <string>

#include "protocol/descriptor.hpp"
#include "protocol/frame.hpp"
#include "protocol/ring.hpp"

namespace manymod::signd {

/// A connection for frames. Its functions throw std::system_error, ProtocolError, and std::runtime_error with
/// the daemon's reason if it refuses.
class FrameLink {
 public:
  /// Connect, and exchange hello and welcome.
  FrameLink(const std::string& path, bool rings, Clock::time_point deadline);
  void send(FrameType type);
  /// The bodies of an answer's frames, in their order.
  [[nodiscard]] std::vector<Bytes> receive(FrameType expected);

  [[nodiscard]] const Welcome& welcome() const { return welcome_; }
  [[nodiscard]] Descriptor& socket() { return socket_; }
  /// The file of the rings' memory, which came with the welcome.
  [[nodiscard]] Descriptor& memory() { return memory_; }

 private:
  void connect_to(const std::string& path);
  void send_all(ByteSpan bytes);
  [[nodiscard]] Frame next_frame();
  void wait_for(short events) const;

  Clock::time_point deadline_;
  Descriptor socket_, memory_;
  FrameReader reader_{kMaxDaemonBody};
  Welcome welcome_;
};

/// A connection with rings.
class RingLink {
 public:
  RingLink(const std::string& path, Clock::time_point deadline);

  [[nodiscard]] const Welcome& welcome() const { return welcome_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Write a request. @return false if there is no room
  bool send(const RequestHeaderBytes& header, ByteSpan input);
  /// Let the daemon see what was written.
  void publish();
  /// The next answer. @return false if there is none. @throws ProtocolError
  bool receive(AnswerHeader& header, Bytes& output) { return answers_.next(header, output); }
  /// Whether to wait on the socket: no answer is there, and the daemon will send a byte with the next.
  [[nodiscard]] bool fall_asleep();
  /// Take the bytes from the socket. @return false if the connection has ended
  bool wake_up();

 private:
  explicit RingLink(FrameLink&& opened);

  Descriptor socket_;
  Welcome welcome_;
  RingMemory memory_;
  RequestWriter requests_;
  AnswerReader answers_;
};

}  // namespace manymod::signd
