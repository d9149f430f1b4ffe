// SPDX-License-Identifier: Apache-2.0
#include "server/visitor.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace manymod::signd {

Bytes text_frames(FrameType type, std::string_view text) {
  Bytes frames;
  do {
    const std::string_view part = text.substr(0, kMaxDaemonBody);
    text.remove_prefix(part.size());
    const Bytes frame =
        encode_frame(type, {reinterpret_cast<const std::uint8_t*>(part.data()), part.size()}, text.empty());
    frames.insert(frames.end(), frame.begin(), frame.end());
  } while (!text.empty());
  return frames;
}

// What it asks for next is read once it has taken what it asked for before: it cannot make the daemon keep
// more than one answer.
Visitor::Next Visitor::advance(Host& host) {
  for (;;) {
    if (!flush()) return Next::write;
    if (closing_ || has_rings_) return Next::close;
    if (const auto frame = reader_.next()) {
      handle(*frame, host);
    } else if (!receive()) {
      return closing_ ? Next::close : Next::read;
    }
  }
}

bool Visitor::receive() {
  std::array<std::uint8_t, 512> bytes;
  const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) reader_.append(ByteSpan(bytes).first(static_cast<std::size_t>(size)));
  closing_ = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
  return size > 0;
}

bool Visitor::flush() {
  while (sent_ < out_.size()) {
    const ssize_t size =
        send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) {
      sent_ += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      closing_ = true;
      return true;
    }
  }
  out_.clear();
  sent_ = 0;
  return true;
}

void Visitor::handle(const Frame& frame, Host& host) {
  if (!greeted_) {
    greet(frame, host);
  } else if (frame.type == FrameType::list && frame.body.empty()) {
    out_ = host.keys_for(peer_);
  } else if (frame.type == FrameType::measure && frame.body.empty()) {
    out_ = host.metrics_for(peer_);
  } else {
    throw ProtocolError("a frame that no client sends");
  }
}

void Visitor::greet(const Frame& frame, Host& host) {
  if (frame.type != FrameType::hello) throw ProtocolError("a frame before its hello");
  const Hello hello = decode_hello(frame.body);
  greeted_ = true;
  if (hello.first_version > kVersion || hello.last_version < kVersion) {
    out_ = text_frames(FrameType::refusal, "this daemon speaks version " + std::to_string(kVersion));
    closing_ = true;
  } else if (hello.rings) {
    if (!reader_.empty()) throw ProtocolError("bytes after a hello for rings");
    has_rings_ = true;
    host.give_rings(std::move(socket_), peer_);
  } else {
    out_ = host.welcome();
  }
}

}  // namespace manymod::signd
