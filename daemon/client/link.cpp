// SPDX-License-Identifier: Apache-2.0
#include "client/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

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

// Bytes and, at most once, a descriptor.
ssize_t receive_with_descriptor(int socket, std::span<std::uint8_t> to, Descriptor& received) {
  iovec part{to.data(), to.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const rights = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof number);
    received = Descriptor(number);
  }
  return size;
}

}  // namespace

FrameLink::FrameLink(const std::string& path, bool rings, Clock::time_point deadline) : deadline_(deadline) {
  connect_to(path);
  Hello hello;
  hello.rings = rings;
  send_all(encode_frame(FrameType::hello, encode(hello)));
  const Frame frame = next_frame();
  if (frame.type != FrameType::welcome) throw ProtocolError("manymod-signd: no welcome");
  welcome_ = decode_welcome(frame.body);
  if (rings && (!memory_ || welcome_.request_bytes == 0 || welcome_.answer_bytes == 0)) {
    throw ProtocolError("manymod-signd: a welcome without rings");
  }
}

void FrameLink::connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) fail("socket");
  // EAGAIN: the daemon's backlog is full, and there is nothing to poll for.
  while (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) fail("connecting to the daemon");
    if (left_ms(deadline_) == 0) fail("connecting to the daemon", ETIMEDOUT);
    static_cast<void>(poll(nullptr, 0, 1));
  }
}

void FrameLink::wait_for(short events) const {
  pollfd waited{socket_.get(), events, 0};
  const int left = left_ms(deadline_);
  const int found = poll(&waited, 1, left);
  if (found < 0 && errno != EINTR) fail("poll");
  if (found == 0 && left_ms(deadline_) == 0) fail("the daemon's answer", ETIMEDOUT);
}

void FrameLink::send_all(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT);
    } else if (errno != EINTR) {
      fail("sending to the daemon");
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
    const ssize_t size = receive_with_descriptor(socket_.get(), bytes, memory_);
    if (size > 0) {
      reader_.append(ByteSpan(bytes).first(static_cast<std::size_t>(size)));
    } else if (size == 0) {
      fail("the daemon closed the connection", ECONNRESET);
    } else if (errno == EAGAIN) {
      wait_for(POLLIN);
    } else if (errno != EINTR) {
      fail("receiving from the daemon");
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

RingLink::RingLink(const std::string& path, Clock::time_point deadline)
    : RingLink(FrameLink(path, true, deadline)) {}

RingLink::RingLink(FrameLink&& opened)
    : socket_(std::move(opened.socket())),
      welcome_(opened.welcome()),
      memory_(opened.memory().get(), welcome_.request_bytes, welcome_.answer_bytes),
      requests_(memory_.words(), memory_.requests()),
      answers_(memory_.words(), memory_.answers()) {
  memory_.keep_from_children();
}

bool RingLink::send(const RequestHeaderBytes& header, ByteSpan input) {
  return requests_.append(header, input);
}

// A full socket has bytes that wake the daemon; on a closed one wake_up() finds the end.
void RingLink::publish() {
  const std::uint8_t byte = 0;
  if (requests_.publish()) {
    static_cast<void>(::send(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
  }
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
  const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace manymod::signd
