// SPDX-License-Identifier: Apache-2.0
#include "server/connection.hpp"

#include <algorithm>
#include <utility>

namespace manymod::signd {

Welcome welcome_of(const Limits& limits) {
  Welcome welcome;
  welcome.max_outstanding = limits.max_outstanding;
  welcome.max_input = limits.max_input;
  welcome.max_output = limits.max_output;
  return welcome;
}

bool TokenBucket::take(Clock::time_point now, double rate, double burst) {
  if (rate <= 0) return true;
  const double most = std::max(burst, 1.0);
  const bool fresh = filled_ == Clock::time_point{};
  tokens_ =
      fresh ? most : std::min(most, tokens_ + rate * std::chrono::duration<double>(now - filled_).count());
  filled_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

Connection::Connection(Peer peer, const Limits& limits, Counters& counters)
    : peer_(std::move(peer)), limits_(limits), counters_(counters) {
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
