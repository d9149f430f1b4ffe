// SPDX-License-Identifier: Apache-2.0
#include "server/stream_connection.hpp"

#include <openssl/crypto.h>

#include <array>
#include <utility>

namespace manymod::signd {

StreamConnection::StreamConnection(std::unique_ptr<TlsStream> stream,
                                   std::shared_ptr<const TlsContext> context, Peer peer, Place place,
                                   const Limits& limits, const CurrentGeneration& generation,
                                   Counters& counters)
    : Connection(std::move(peer), std::move(place), limits, counters),
      context_(std::move(context)),
      stream_(std::move(stream)),
      generation_(generation),
      accepted_by_(context_),
      reader_(max_request_body(limits.max_input)),
      out_(encode_frame(FrameType::welcome, encode(welcome_of(limits)))),
      frame_moved_(Clock::now()),
      answers_moved_(frame_moved_) {}

// Takes no request as long as the client has not taken all answers. When its socket becomes writable again,
// epoll reports it, and the reader calls this again.
bool StreamConnection::take(RequestHeader& header, Bytes& input) {
  const std::scoped_lock lock(writing());
  publish_answers();
  const auto now = Clock::now();
  if (sent_ < out_.size()) {
    frame_moved_ = now;  // it is not this side's turn to read
    return false;
  }
  for (;;) {
    if (const auto frame = reader_.next()) {
      frame_moved_ = now;
      if (frame->type != FrameType::request) throw ProtocolError("a frame that is no request");
      header = decode_request(frame->body, input);
      return true;
    }
    if (has_ended() || !receive()) return false;
  }
}

bool StreamConnection::receive() {
  std::array<std::uint8_t, 16'384> bytes;
  const Transfer got = stream_->receive(bytes);
  if (got.step == Step::ended) end();
  if (got.step != Step::done) return false;
  if (reader_.empty()) frame_moved_ = Clock::now();
  reader_.append(ByteSpan(bytes).first(got.bytes));
  OPENSSL_cleanse(bytes.data(), got.bytes);
  return true;
}

void StreamConnection::append_answer(std::uint64_t id, Status status, ByteSpan output) {
  if (has_ended()) return;
  if (out_.empty()) answers_moved_ = Clock::now();
  signd::append_answer(out_, id, status, output);
}

bool StreamConnection::publish_answers() {
  while (sent_ < out_.size() && !has_ended()) {
    const Transfer sent = stream_->send(ByteSpan(out_).subspan(sent_));
    if (sent.step == Step::ended) end();
    if (sent.step != Step::done) break;
    OPENSSL_cleanse(out_.data() + sent_, sent.bytes);
    sent_ += sent.bytes;
    answers_moved_ = Clock::now();
  }
  if (sent_ < out_.size()) return false;
  out_.clear();
  sent_ = 0;
  return false;
}

const char* StreamConnection::overdue(Clock::time_point now) {
  const auto generation = generation_.get();
  const auto stall = generation->config().tcp.stall;
  const std::scoped_lock lock(writing());
  if (!out_.empty() && now - answers_moved_ > stall) return "it does not take its answers";
  if (out_.empty() && !reader_.empty() && now - frame_moved_ > stall) return "it does not end its request";
  return is_accepted(*generation) ? nullptr : "its certificate is not accepted any more";
}

bool StreamConnection::is_accepted(const Generation& generation) {
  X509* const certificate = stream_->certificate();
  if (certificate == nullptr || X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) return false;
  if (generation.tls() == accepted_by_) return true;
  if (generation.tls() == nullptr || !generation.tls()->accepts(stream_->connection())) return false;
  accepted_by_ = generation.tls();
  return true;
}

}  // namespace manymod::signd
