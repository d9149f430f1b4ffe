// SPDX-License-Identifier: Apache-2.0
#include "daemon/proxy.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace manymod::signd::test {
namespace {

void pass_on(int from, int to) {
  std::array<char, 65'536> bytes;
  const ssize_t size = recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) {
    static_cast<void>(send(to, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL));
  } else if (size == 0) {
    shutdown(to, SHUT_WR);
  }
}

}  // namespace

bool ends(int socket) {
  std::array<char, 256> bytes;
  const ssize_t size = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN);
}

Proxy::Proxy(Endpoint target)
    : target_(std::move(target)), listener_(listen_tcp({"127.0.0.1", "0"}, 16)), thread_([this] { run(); }) {}

Proxy::~Proxy() {
  stopping_ = true;
  thread_.join();
}

std::string Proxy::address() const {
  return "tcp://127.0.0.1:" + std::to_string(local_port(listener_.get()));
}

void Proxy::run() {
  while (!stopping_) {
    pollfd waited{listener_.get(), POLLIN, 0};
    static_cast<void>(poll(&waited, 1, 1));
    Descriptor from(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (from) {
      Descriptor to = connect_tcp(target_, Clock::now() + std::chrono::seconds(5));
      pairs_.push_back({std::move(from), std::move(to)});
      ++connections_;
    }
    for (std::size_t i = static_cast<std::size_t>(frozen_); i < pairs_.size(); ++i) {
      pass_on(pairs_[i].from.get(), pairs_[i].to.get());
      pass_on(pairs_[i].to.get(), pairs_[i].from.get());
    }
  }
}

}  // namespace manymod::signd::test
