// SPDX-License-Identifier: Apache-2.0
#include "client/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "transport/tcp.hpp"

namespace manymod::signd {
namespace {

[[noreturn]] void fail(const char* what, int error = errno) {
  throw std::system_error(error, std::generic_category(), std::string("manymod-signd: ") + what);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail("the socket's path", ENAMETOOLONG);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A Unix socket on which the daemon sends one file descriptor at most: that of the rings' memory.
class DescriptorStream final : public SocketStream {
 public:
  DescriptorStream(Descriptor socket, Descriptor& received)
      : SocketStream(std::move(socket)), received_(received) {}

  Transfer receive(std::span<std::uint8_t> to) override {
    iovec part{to.data(), to.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(socket(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const cmsghdr* const rights = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(rights), sizeof number);
      received_ = Descriptor(number);
    }
    return transfer_of(size, Step::want_read);
  }

 private:
  Descriptor& received_;  // of the FrameLink; nothing is received after it
};

Descriptor connect_unix(const std::string& path, Clock::time_point deadline) {
  const sockaddr_un address = address_of(path);
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail("socket");
  // EAGAIN: the daemon's backlog is full, and there is nothing to poll for.
  while (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) fail("connecting to the daemon");
    if (left_ms(deadline) == 0) fail("connecting to the daemon", ETIMEDOUT);
    static_cast<void>(poll(nullptr, 0, 1));
  }
  return made;
}

[[noreturn]] void fail_ended(const Stream& stream) {
  const std::string reason = stream.failure();
  if (!reason.empty()) throw std::runtime_error("manymod-signd: TLS: " + reason);
  fail("the daemon closed the connection", ECONNRESET);
}

}  // namespace

FrameLink::FrameLink(const Settings& settings, Purpose purpose, Clock::time_point deadline)
    : deadline_(deadline) {
  connect_to(settings);
  Hello hello;
  hello.stream = purpose == Purpose::requests && is_remote();
  hello.rings = purpose == Purpose::requests && !is_remote();
  send_all(encode_frame(FrameType::hello, encode(hello)));
  const Frame frame = next_frame();
  if (frame.type != FrameType::welcome) throw ProtocolError("manymod-signd: no welcome");
  welcome_ = decode_welcome(frame.body);
  if (hello.rings && (!memory_ || welcome_.request_bytes == 0 || welcome_.answer_bytes == 0)) {
    throw ProtocolError("manymod-signd: a welcome without rings");
  }
}

void FrameLink::connect_to(const Settings& settings) {
  const std::optional<Endpoint> endpoint = tcp_endpoint(settings.address);
  if (!endpoint) {
    stream_ = std::make_unique<DescriptorStream>(connect_unix(settings.address, deadline_), memory_);
    return;
  }
  Descriptor connected = connect_tcp(*endpoint, deadline_);
  context_ = std::make_unique<TlsContext>(TlsContext::Side::client,
                                          TlsFiles{settings.ca, settings.certificate, settings.key, ""});
  stream_ = std::make_unique<TlsStream>(*context_, std::move(connected), endpoint->host);
}

void FrameLink::wait_for(Step step) const {
  pollfd waited{stream_->socket(), static_cast<short>(step == Step::want_write ? POLLOUT : POLLIN), 0};
  const int left = left_ms(deadline_);
  const int found = poll(&waited, 1, left);
  if (found < 0 && errno != EINTR) fail("poll");
  if (found == 0 && left_ms(deadline_) == 0) fail("the daemon's answer", ETIMEDOUT);
}

void FrameLink::send_all(ByteSpan bytes) {
  while (!bytes.empty()) {
    const Transfer sent = stream_->send(bytes);
    if (sent.step == Step::ended) fail_ended(*stream_);
    if (sent.step == Step::done) {
      bytes = bytes.subspan(sent.bytes);
    } else {
      wait_for(sent.step);
    }
  }
}

Frame FrameLink::next_frame() {
  std::array<std::uint8_t, 4096> bytes;
  for (;;) {
    if (auto frame = reader_.next()) {
      if (frame->type != FrameType::refusal) return std::move(*frame);
      throw std::runtime_error("manymod-signd refuses: " +
                               std::string(frame->body.begin(), frame->body.end()));
    }
    const Transfer got = stream_->receive(bytes);
    if (got.step == Step::ended) fail_ended(*stream_);
    if (got.step == Step::done) {
      reader_.append(ByteSpan(bytes).first(got.bytes));
    } else {
      wait_for(got.step);
    }
  }
}

void FrameLink::send(FrameType type) { send_all(encode_frame(type, {})); }

std::vector<Bytes> FrameLink::receive(FrameType expected) {
  std::vector<Bytes> bodies;
  for (bool last = false; !last;) {
    Frame frame = next_frame();
    if (frame.type != expected) throw ProtocolError("manymod-signd: an unexpected frame");
    last = frame.last;
    bodies.push_back(std::move(frame.body));
  }
  return bodies;
}

std::unique_ptr<Link> open_link(const Settings& settings, Clock::time_point deadline) {
  FrameLink opened(settings, FrameLink::Purpose::requests, deadline);
  if (opened.is_remote()) return std::make_unique<StreamLink>(std::move(opened));
  return std::make_unique<RingLink>(std::move(opened));
}

// ---- rings -----------------------------------------------------------------------------------------------

RingLink::RingLink(FrameLink&& opened)
    : Link(opened.welcome()),
      stream_(std::move(opened.stream())),
      memory_(opened.memory().get(), welcome().request_bytes, welcome().answer_bytes),
      requests_(memory_.words(), memory_.requests()),
      answers_(memory_.words(), memory_.answers()) {
  memory_.keep_from_children();
}

bool RingLink::send(const RequestHeaderBytes& header, ByteSpan input) {
  return requests_.append(header, input);
}

Link::Published RingLink::publish() { return requests_.publish() ? Published::asleep : Published::done; }

// A failure needs no handling: where the socket is full, the bytes in it wake the daemon, and where it is
// closed, wake_up() finds that out.
void RingLink::wake_daemon() {
  const std::uint8_t byte = 0;
  static_cast<void>(::send(socket(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

bool RingLink::fall_asleep() {
  signd::fall_asleep(memory_.words().client_sleeps);
  if (answers_.empty()) return true;
  signd::wake_up(memory_.words().client_sleeps);
  return false;
}

bool RingLink::wake_up() {
  signd::wake_up(memory_.words().client_sleeps);
  std::array<std::uint8_t, 64> bytes;
  const ssize_t size = recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

// ---- streams ---------------------------------------------------------------------------------------------

StreamLink::StreamLink(FrameLink&& opened)
    : Link(opened.welcome()),
      context_(std::move(opened.context())),
      stream_(std::move(opened.stream())),
      reader_(std::max(kMaxDaemonBody, max_answer_body(welcome().max_output))) {}

// Only appends the request to the buffer that receive() sends. receive() runs on the client's own thread,
// where nothing but libssl uses the thread's error queue; and requests of several threads leave in one
// write.
bool StreamLink::send(const RequestHeaderBytes& header, ByteSpan input) {
  if (out_.size() - sent_ > kMostWaiting) return false;
  append_request(out_, header, input);
  return true;
}

void StreamLink::flush() {
  while (!ended_ && sent_ < out_.size()) {
    const Transfer sent = stream_->send(ByteSpan(out_).subspan(sent_));
    ended_ = sent.step == Step::ended;
    if (sent.step != Step::done) break;
    sent_ += sent.bytes;
  }
  if (sent_ < out_.size() && 2 * sent_ < out_.size()) return;
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
  sent_ = 0;
}

bool StreamLink::receive(AnswerHeader& header, Bytes& output) {
  std::array<std::uint8_t, 4096> bytes;
  flush();
  drained_ = false;
  for (;;) {
    if (auto frame = reader_.next()) {
      if (frame->type != FrameType::answer) throw ProtocolError("a frame that is no answer");
      header = decode_answer(frame->body, output);
      return true;
    }
    const Transfer got = ended_ ? Transfer{} : stream_->receive(bytes);
    ended_ = got.step == Step::ended;
    if (got.step != Step::done) {
      drained_ = true;
      return false;
    }
    reader_.append(ByteSpan(bytes).first(got.bytes));
    OPENSSL_cleanse(bytes.data(), got.bytes);
    last_received_ = Clock::now();
  }
}

short StreamLink::events() const {
  return static_cast<short>(sent_ < out_.size() ? POLLIN | POLLOUT : POLLIN);
}

}  // namespace manymod::signd
