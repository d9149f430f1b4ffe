// SPDX-License-Identifier: Apache-2.0
#include "server/ring_connection.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

namespace manymod::signd {
namespace {

constexpr std::size_t kUsualInput = 64;  // a digest: requests with longer inputs have room for fewer

}  // namespace

Welcome ring_sizes(const Limits& limits) {
  Welcome sizes = welcome_of(limits);
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

RingConnection::RingConnection(Descriptor socket, Peer peer, Place place, const Limits& limits,
                               const Welcome& sizes, int memory, Counters& counters)
    : Connection(std::move(peer), std::move(place), limits, counters),
      socket_(std::move(socket)),
      memory_(memory, sizes.request_bytes, sizes.answer_bytes),
      requests_(memory_.words(), memory_.requests(), limits.max_input),
      answers_(memory_.words(), memory_.answers()) {}

bool RingConnection::fall_asleep() {
  signd::fall_asleep(memory_.words().daemon_sleeps);
  if (requests_.empty()) return true;
  signd::wake_up(memory_.words().daemon_sleeps);
  return false;
}

// After its welcome a client sends nothing but bytes that say that it has written to its ring.
void RingConnection::wake_up() {
  std::array<std::uint8_t, 256> bytes;
  const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) end();
  signd::wake_up(memory_.words().daemon_sleeps);
}

// A full socket has bytes that wake the client, and one that is closed has no client.
void RingConnection::wake_client() {
  const std::uint8_t byte = 0;
  static_cast<void>(send(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace manymod::signd
