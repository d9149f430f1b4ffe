// SPDX-License-Identifier: Apache-2.0
#include "server/pending_connection.hpp"

#include <sys/socket.h>

#include <array>
#include <utility>

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

// The next question is read only after the answer to the last one has been sent, so that a client cannot make
// the daemon keep more than one answer.
PendingConnection::Next PendingConnection::advance(Host& host) {
  if (lingering_) return linger();
  for (;;) {
    const Step flushed = flush();
    if (flushed != Step::done) return flushed == Step::want_read ? Next::read : Next::write;
    if (has_requests_) return Next::close;
    if (closing_) return linger();
    if (const auto frame = reader_.next()) {
      // A client that asks without end, and takes each answer at once, would occupy the daemon's main
      // thread.
      if (++questions_ > kMostQuestions) throw ProtocolError("too many questions");
      handle(*frame, host);
      continue;
    }
    const Step received = receive();
    if (received == Step::ended) return linger();
    if (received != Step::done) return received == Step::want_write ? Next::write : Next::read;
  }
}

// If bytes arrive after a TCP socket was closed, the system answers with a reset, and the other side loses
// what was sent before and not yet read: the TLS alert, or the refusal with its reason. So this side only
// ends its own direction, and reads until the other side closes.
PendingConnection::Next PendingConnection::linger() {
  if (!remote_) return Next::close;
  if (!lingering_) shutdown(remote_->socket(), SHUT_WR);
  lingering_ = true;
  std::array<std::uint8_t, 4096> dropped;
  const Transfer got =
      transfer_of(recv(remote_->socket(), dropped.data(), dropped.size(), MSG_DONTWAIT), Step::want_read);
  return got.step == Step::ended ? Next::close : Next::read;
}

Step PendingConnection::receive() {
  std::array<std::uint8_t, 512> bytes;
  const Transfer got = stream().receive(bytes);
  if (got.step == Step::done) reader_.append(ByteSpan(bytes).first(got.bytes));
  return got.step;
}

// @return Step::done if nothing is left to send, or the other side is gone
Step PendingConnection::flush() {
  while (sent_ < out_.size()) {
    const Transfer sent = stream().send(ByteSpan(out_).subspan(sent_));
    sent_ += sent.bytes;
    if (sent.step == Step::ended) {
      closing_ = true;
      return Step::done;
    }
    if (sent.step != Step::done) return sent.step;
  }
  out_.clear();
  sent_ = 0;
  return Step::done;
}

std::string PendingConnection::failed_handshake() const {
  if (!remote_ || greeted_) return "";
  const std::string why = remote_->failure();
  return !why.empty() || remote_->is_established() ? why : "it ended within the handshake";
}

void PendingConnection::handle(const Frame& frame, Host& host) {
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

void PendingConnection::refuse(std::string_view why) {
  out_ = text_frames(FrameType::refusal, why);
  closing_ = true;
}

void PendingConnection::greet(const Frame& frame, Host& host) {
  if (frame.type != FrameType::hello) throw ProtocolError("a frame before its hello");
  const Hello hello = decode_hello(frame.body);
  if (remote_) {
    const Peer known = peer_of_certificate(peer_.address, remote_->certificate());
    Place place = host.recognise(known);
    if (!place) return refuse("there are too many connections");
    peer_ = known;
    place_ = std::move(place);
  }
  greeted_ = true;
  if (hello.first_version > kVersion || hello.last_version < kVersion) {
    refuse("this daemon speaks version " + std::to_string(kVersion));
  } else if (hello.rings || hello.stream) {
    begin_requests(hello, host);
  } else {
    out_ = host.welcome();
  }
}

void PendingConnection::begin_requests(const Hello& hello, Host& host) {
  if (!reader_.empty()) throw ProtocolError("bytes after a hello for requests");
  if (hello.stream != (remote_ != nullptr)) throw ProtocolError("rings by TLS, or a stream without it");
  has_requests_ = true;
  if (remote_) {
    host.give_stream(std::move(remote_), std::move(context_), peer_, std::move(place_));
  } else {
    host.give_rings(local_->release(), peer_, std::move(place_));
  }
}

}  // namespace manymod::signd
