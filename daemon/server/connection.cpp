// SPDX-License-Identifier: Apache-2.0
#include "server/connection.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <system_error>

namespace manymod::signd {
namespace {

constexpr std::size_t kUsualInput = 64;  // a digest: requests with longer inputs have room for fewer

}  // namespace

Welcome ring_sizes(const RingLimits& limits) {
  Welcome sizes;
  sizes.max_outstanding = limits.max_outstanding;
  sizes.max_input = limits.max_input;
  sizes.max_output = limits.max_output;
  const std::size_t requests = std::max(limits.max_outstanding * request_record_bytes(kUsualInput),
                                        2 * request_record_bytes(limits.max_input));
  const std::size_t answers = limits.max_outstanding * answer_record_bytes(limits.max_output);
  sizes.request_bytes = static_cast<std::uint32_t>(std::bit_ceil(requests));
  sizes.answer_bytes = static_cast<std::uint32_t>(std::bit_ceil(answers));
  return sizes;
}

Descriptor make_ring_file(const Welcome& sizes) {
  Descriptor file(memfd_create("manymod-signd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto bytes = static_cast<off_t>(RingMemory::file_bytes(sizes.request_bytes, sizes.answer_bytes));
  if (!file || ftruncate(file.get(), bytes) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw std::system_error(errno, std::generic_category(), "memory of rings");
  }
  return file;
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

Connection::Connection(Descriptor socket, Peer peer, const RingLimits& limits, const Welcome& sizes,
                       int memory, Counters& counters)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      limits_(limits),
      memory_(memory, sizes.request_bytes, sizes.answer_bytes),
      requests_(memory_.words(), memory_.requests(), limits.max_input),
      answers_(memory_.words(), memory_.answers()),
      counters_(counters) {
  ++counters_.open_connections;
}

Connection::~Connection() { --counters_.open_connections; }

bool Connection::next(RequestHeader& header, Bytes& input) {
  if (!requests_.next(header, input)) return false;
  if (outstanding_.fetch_add(1, std::memory_order_relaxed) >= limits_.max_outstanding) {
    throw ProtocolError("more requests than may be outstanding");
  }
  return true;
}

bool Connection::fall_asleep() {
  signd::fall_asleep(memory_.words().daemon_sleeps);
  if (requests_.empty()) return true;
  wake_up();
  return false;
}

void Connection::wake_up() { signd::wake_up(memory_.words().daemon_sleeps); }

// A full socket has bytes that wake the client, and one that is closed has no client.
void Connection::publish_answers() {
  const std::uint8_t byte = 0;
  if (answers_.publish()) static_cast<void>(send(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace manymod::signd
