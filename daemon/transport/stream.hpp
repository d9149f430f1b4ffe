// SPDX-License-Identifier: Apache-2.0
// Bytes between a client and the daemon, by a Unix socket or by TLS.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>

#include "common/descriptor.hpp"
#include "common/little_endian.hpp"

namespace manymod::signd {

/// What a step of a stream that never waits came to.
enum class Step : std::uint8_t {
  done,        ///< at least one byte went
  want_read,   ///< again once the socket is readable
  want_write,  ///< again once it is writable
  ended        ///< by the other side, or by a failure
};
struct Transfer {
  Step step = Step::ended;
  std::size_t bytes = 0;
};

/// For one thread at a time. Nothing here waits, raises a signal or throws.
class Stream {
 public:
  Stream() = default;
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] virtual int socket() const = 0;
  /// On input: bytes is not empty; the same holds for send().
  virtual Transfer receive(std::span<std::uint8_t> bytes) = 0;
  virtual Transfer send(ByteSpan bytes) = 0;
  /// Why the stream ended, for a log; "" if the other side ended it in order.
  [[nodiscard]] virtual std::string failure() const { return ""; }
};

/// The outcome of send() or recv() with MSG_DONTWAIT, by its value and errno.
inline Transfer transfer_of(ssize_t size, Step wanted) {
  if (size > 0) return {Step::done, static_cast<std::size_t>(size)};
  const bool again = size < 0 && (errno == EAGAIN || errno == EINTR);
  return {again ? wanted : Step::ended, 0};
}

/// A Unix socket.
class SocketStream : public Stream {
 public:
  explicit SocketStream(Descriptor socket) : socket_(std::move(socket)) {}
  [[nodiscard]] int socket() const override { return socket_.get(); }
  Transfer receive(std::span<std::uint8_t> bytes) override {
    return transfer_of(recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT), Step::want_read);
  }
  Transfer send(ByteSpan bytes) override {
    const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    return transfer_of(::send(socket_.get(), bytes.data(), bytes.size(), flags), Step::want_write);
  }
  /// The socket itself; the stream is then done.
  [[nodiscard]] Descriptor release() { return std::move(socket_); }

 private:
  Descriptor socket_;
};

}  // namespace manymod::signd
