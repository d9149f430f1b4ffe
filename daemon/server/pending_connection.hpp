// SPDX-License-Identifier: Apache-2.0
// A pending connection: one between its accept and its first request. It may ask questions, for the list of
// keys or for metrics; a client that has no requests ends it after those.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/descriptor.hpp"
#include "protocol/frame.hpp"
#include "server/accounts.hpp"
#include "server/peer.hpp"
#include "transport/tls.hpp"

namespace manymod::signd {

/// Never waits; for one thread.
class PendingConnection {
 public:
  /// What a pending connection asks of the daemon.
  struct Host {
    virtual ~Host() = default;
    /// @return frames, complete
    virtual Bytes keys_for(const Peer& peer) = 0;
    virtual Bytes metrics_for(const Peer& peer) = 0;
    virtual Bytes welcome() = 0;
    /// A peer of TLS has shown its certificate. @return its place, instead of that of its address, or null
    virtual Place recognise(const Peer& peer) = 0;
    /// Make a connection with requests, and send its welcome. The pending one is then done.
    virtual void give_rings(Descriptor socket, const Peer& peer, Place place) = 0;
    virtual void give_stream(std::unique_ptr<TlsStream> stream, std::shared_ptr<const TlsContext> context,
                             const Peer& peer, Place place) = 0;
  };
  enum class Next { read, write, close };

  /// By the Unix socket.
  PendingConnection(Descriptor socket, Peer peer, Place place, Clock::time_point until)
      : local_(std::make_unique<SocketStream>(std::move(socket))),
        peer_(std::move(peer)),
        place_(std::move(place)),
        until_(until) {}
  /// By TLS, whose handshake is still to come.
  PendingConnection(Descriptor socket, std::shared_ptr<const TlsContext> context, Peer peer, Place place,
                    Clock::time_point until)
      : context_(std::move(context)),
        remote_(std::make_unique<TlsStream>(*context_, std::move(socket))),
        peer_(std::move(peer)),
        place_(std::move(place)),
        until_(until) {}

  /// Do what can be done. @return what to wait for; `close`: it is done. Its socket may then be gone.
  /// @throws ProtocolError, std::system_error
  Next advance(Host& host);
  [[nodiscard]] const Peer& peer() const { return peer_; }
  /// When it has had its time.
  [[nodiscard]] Clock::time_point until() const { return until_; }
  /// Why a handshake failed; "" if it did not.
  [[nodiscard]] std::string failed_handshake() const;

 private:
  [[nodiscard]] Stream& stream() const { return remote_ ? static_cast<Stream&>(*remote_) : *local_; }
  [[nodiscard]] Next linger();
  [[nodiscard]] Step receive();
  [[nodiscard]] Step flush();
  void handle(const Frame& frame, Host& host);
  void greet(const Frame& frame, Host& host);
  void begin_requests(const Hello& hello, Host& host);
  void refuse(std::string_view why);

  std::shared_ptr<const TlsContext> context_;  ///< which remote_ needs
  std::unique_ptr<SocketStream> local_;        ///< or
  std::unique_ptr<TlsStream> remote_;
  Peer peer_;
  Place place_;
  static constexpr unsigned kMostQuestions = 256;
  unsigned questions_ = 0;
  Clock::time_point until_;
  FrameReader reader_{kMaxClientBody};
  Bytes out_;
  std::size_t sent_ = 0;
  bool greeted_ = false, has_requests_ = false, closing_ = false, lingering_ = false;
};

/// A text, as frames of at most kMaxDaemonBody bytes.
Bytes text_frames(FrameType type, std::string_view text);

}  // namespace manymod::signd
