// SPDX-License-Identifier: Apache-2.0
#include "server/connection.hpp"

#include <utility>

namespace manymod::signd {

Welcome welcome_of(const Limits& limits) {
  Welcome welcome;
  welcome.max_outstanding = limits.max_outstanding;
  welcome.max_input = limits.max_input;
  welcome.max_output = limits.max_output;
  return welcome;
}

Connection::Connection(Peer peer, Place place, const Limits& limits, Counters& counters)
    : peer_(std::move(peer)), place_(std::move(place)), limits_(limits), counters_(counters) {
  ++counters_.open_connections;
}

Connection::~Connection() { --counters_.open_connections; }

bool Connection::next(RequestHeader& header, Bytes& input) {
  if (!take(header, input)) return false;
  if (outstanding_.fetch_add(1, std::memory_order_relaxed) >= limits_.max_outstanding) {
    throw ProtocolError("more requests than may be outstanding");
  }
  return true;
}

}  // namespace manymod::signd
