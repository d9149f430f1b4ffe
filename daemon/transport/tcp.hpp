// SPDX-License-Identifier: Apache-2.0
// TCP: addresses, connections, listeners.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/descriptor.hpp"

namespace manymod::signd {

struct Endpoint {
  std::string host;  ///< a name or an address
  std::string port;
};

/// "host:port" or "[address of IPv6]:port". @throws std::runtime_error for anything else
Endpoint parse_endpoint(std::string_view text);
/// The endpoint of "tcp://host:port"; nothing for addresses that are not of TCP. @throws as parse_endpoint()
std::optional<Endpoint> tcp_endpoint(std::string_view address);

/// Connect to the first of the host's addresses that answers. Names are resolved by the system, which may
/// take its own time. @throws std::system_error, std::runtime_error for a host that there is not
Descriptor connect_tcp(const Endpoint& endpoint, Clock::time_point deadline);
/// A listener that does not block. @throws as connect_tcp()
Descriptor listen_tcp(const Endpoint& endpoint, int backlog);

/// Small messages at once; and a connection whose other side does not answer ends within half a minute, by
/// keepalive if it is idle, else by the age of what is not acknowledged.
void set_tcp_options(int socket) noexcept;
/// Bound what the kernel keeps of a connection, each way.
void limit_tcp_buffers(int socket, int bytes) noexcept;
/// The numeric address of the other side, without the port; "?" if there is none.
std::string peer_address(int socket);
/// The port that a listener has.
unsigned short local_port(int socket);

}  // namespace manymod::signd
