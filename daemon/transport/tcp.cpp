// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace manymod::signd {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const Endpoint& endpoint, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &wanted, &found);
  if (error != 0) throw std::runtime_error(endpoint.host + ": " + gai_strerror(error));
  return Addresses(found);
}

[[noreturn]] void fail(const Endpoint& endpoint, int error) {
  throw std::system_error(error, std::generic_category(), endpoint.host + ":" + endpoint.port);
}

Descriptor socket_for(const addrinfo& address) {
  return Descriptor(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// 0, or why there is no connection.
int connect_within(int socket, const addrinfo& address, Clock::time_point deadline) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  pollfd waited{socket, POLLOUT, 0};
  int found = 0;
  do {
    found = poll(&waited, 1, left_ms(deadline));
  } while (found < 0 && errno == EINTR);
  if (found <= 0) return found == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Endpoint parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, std::min(colon, text.size()));
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool good = !host.empty() && !port.empty() && port.size() <= 5 &&
                    port.find_first_not_of("0123456789") == std::string_view::npos &&
                    (bracketed || host.find_first_of(":[]/") == std::string_view::npos);
  if (!good) throw std::runtime_error(std::string(text) + " is not host:port");
  return {std::string(host), std::string(port)};
}

std::optional<Endpoint> tcp_endpoint(std::string_view address) {
  constexpr std::string_view kScheme = "tcp://";
  if (!address.starts_with(kScheme)) return std::nullopt;
  return parse_endpoint(address.substr(kScheme.size()));
}

Descriptor connect_tcp(const Endpoint& endpoint, Clock::time_point deadline) {
  const Addresses addresses = resolve(endpoint, 0);
  int left = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) ++left;
  int error = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next, --left) {
    Descriptor socket = socket_for(*address);
    // One that does not answer leaves their share of the time to those after it.
    const auto now = Clock::now();
    error = socket ? connect_within(socket.get(), *address, now + (deadline - now) / left) : errno;
    if (error != 0) continue;
    set_tcp_options(socket.get());
    return socket;
  }
  fail(endpoint, error);
}

Descriptor listen_tcp(const Endpoint& endpoint, int backlog) {
  const Addresses addresses = resolve(endpoint, AI_PASSIVE);
  Descriptor listener = socket_for(*addresses);
  const int on = 1;
  if (!listener || setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      listen(listener.get(), backlog) != 0) {
    fail(endpoint, errno);
  }
  return listener;
}

// What the kernel does not know of these, it does not do.
void set_tcp_options(int socket) noexcept {
  constexpr int kOn = 1, kIdleSeconds = 15, kIntervalSeconds = 5, kProbes = 3;
  constexpr unsigned kUnacknowledgedMs = 20'000;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kIntervalSeconds, sizeof kIntervalSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs, sizeof kUnacknowledgedMs);
}

void limit_tcp_buffers(int socket, int bytes) noexcept {
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

std::string peer_address(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> text{};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(socket, any, &size) != 0 ||
      getnameinfo(any, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "?";
  }
  return text.data();
}

unsigned short local_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace manymod::signd
