// SPDX-License-Identifier: Apache-2.0
// A connection from its accept to its rings, or one that asks by frames alone.
#pragma once

#include <functional>

#include "protocol/descriptor.hpp"
#include "protocol/frame.hpp"
#include "server/access.hpp"

namespace manymod::signd {

/// Never waits; for one thread.
class Visitor {
 public:
  /// What a visitor asks of the daemon.
  struct Host {
    virtual ~Host() = default;
    /// @return frames, complete
    virtual Bytes keys_for(const Peer& peer) = 0;
    virtual Bytes metrics_for(const Peer& peer) = 0;
    virtual Bytes welcome() = 0;
    /// Make a connection with rings, and send its welcome. The visitor is then done.
    virtual void give_rings(Descriptor socket, const Peer& peer) = 0;
  };
  enum class Next { read, write, close };

  Visitor(Descriptor socket, Peer peer, Clock::time_point until)
      : socket_(std::move(socket)), peer_(std::move(peer)), until_(until) {}

  /// Do what can be done. @return what to wait for; `close`: it is done. Its socket may then be gone.
  /// @throws ProtocolError, std::system_error
  Next advance(Host& host);
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const Peer& peer() const { return peer_; }
  /// When it has had its time.
  [[nodiscard]] Clock::time_point until() const { return until_; }
  [[nodiscard]] bool has_rings() const { return has_rings_; }

 private:
  [[nodiscard]] bool receive();
  [[nodiscard]] bool flush();
  void handle(const Frame& frame, Host& host);
  void greet(const Frame& frame, Host& host);

  Descriptor socket_;
  Peer peer_;
  Clock::time_point until_;
  FrameReader reader_{kMaxClientBody};
  Bytes out_;
  std::size_t sent_ = 0;
  bool greeted_ = false, has_rings_ = false, closing_ = false;
};

/// A text, as frames of at most kMaxDaemonBody bytes.
Bytes text_frames(FrameType type, std::string_view text);

}  // namespace manymod::signd
