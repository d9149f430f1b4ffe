// SPDX-License-Identifier: Apache-2.0
// Rings of requests and answers in memory that a client and the daemon share (docs/signd-protocol.md).
//
// The memory has a page of words, then the requests' ring, then the answers'. Each ring has one writer and
// one reader, and a power of two of bytes. Positions count the bytes ever written and do not wrap. A record
// is a header and its bytes, up to a whole number of granules, and may go around the end of its ring.
//
// The daemon trusts nothing in this memory: it copies each record once and then reads its copy alone, and
// keeps its own positions. Of the client's words it reads only the position up to which requests were
// written, and whether the client sleeps. It does not check for room before it writes an answer: a client
// with more outstanding requests than it may have loses its own answers.
//
// A reader that finds its ring empty sets its word `sleeps`, checks the ring once more, and waits for a byte
// on the socket; a writer that finds the reader's word set clears it and sends the byte. An eventfd is not
// used for this, because either process could clear O_NONBLOCK on the file that both share, and make the
// other one block; a send with MSG_DONTWAIT on a socket never blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "protocol/record.hpp"

namespace manymod::signd {

inline constexpr std::size_t kRequestGranule = 64;
inline constexpr std::size_t kAnswerGranule = 16;

/// Bytes of a record in its ring.
constexpr std::size_t record_bytes(std::size_t header, std::size_t body, std::size_t granule) {
  return (header + body + granule - 1) / granule * granule;
}
constexpr std::size_t request_record_bytes(std::size_t input) {
  return record_bytes(kRequestHeaderBytes, input, kRequestGranule);
}
constexpr std::size_t answer_record_bytes(std::size_t output) {
  return record_bytes(kAnswerHeaderBytes, output, kAnswerGranule);
}

/// Bytes of a ring. They may change at any time, as the other side pleases.
class RingBytes {
 public:
  RingBytes(std::uint8_t* base, std::size_t size) : base_(base), size_(size) {}
  [[nodiscard]] std::size_t size() const { return size_; }

  void write(std::uint64_t position, ByteSpan bytes) const {
    const std::size_t at = offset(position), first = std::min(bytes.size(), size_ - at);
    if (first != 0) std::memcpy(base_ + at, bytes.data(), first);
    if (first != bytes.size()) std::memcpy(base_, bytes.data() + first, bytes.size() - first);
  }
  void read(std::uint64_t position, std::span<std::uint8_t> to) const {
    const std::size_t at = offset(position), first = std::min(to.size(), size_ - at);
    if (first != 0) std::memcpy(to.data(), base_ + at, first);
    if (first != to.size()) std::memcpy(to.data() + first, base_, to.size() - first);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler does not read the ring again instead
  }
  void zero(std::uint64_t position, std::size_t bytes) const {
    const std::size_t at = offset(position), first = std::min(bytes, size_ - at);
    std::memset(base_ + at, 0, first);
    std::memset(base_, 0, bytes - first);
  }

 private:
  [[nodiscard]] std::size_t offset(std::uint64_t position) const {
    return static_cast<std::size_t>(position) & (size_ - 1);
  }

  std::uint8_t* base_;
  std::size_t size_;  ///< a power of two
};

/// The words of the first page, each in a cache line of its own.
struct alignas(64) SharedWords {
  alignas(64) std::uint64_t request_tail;  ///< end of the requests; the client writes it
  alignas(64) std::uint64_t request_head;  ///< end of those taken; the daemon writes it
  alignas(64) std::uint32_t daemon_sleeps;
  alignas(64) std::uint64_t answer_tail;  ///< end of the answers; the daemon writes it
  alignas(64) std::uint32_t client_sleeps;
};
inline constexpr std::size_t kWordsBytes = 4096;
static_assert(sizeof(SharedWords) <= kWordsBytes && std::atomic_ref<std::uint64_t>::is_always_lock_free);

/// Mapped memory of rings. The seals on the file keep its size.
class RingMemory {
 public:
  RingMemory() = default;
  /// @throws std::system_error
  RingMemory(int file, std::size_t request_bytes, std::size_t answer_bytes);
  ~RingMemory();
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;

  [[nodiscard]] SharedWords& words() const { return *reinterpret_cast<SharedWords*>(base_); }
  [[nodiscard]] RingBytes requests() const { return {base_ + kWordsBytes, request_bytes_}; }
  [[nodiscard]] RingBytes answers() const { return {base_ + kWordsBytes + request_bytes_, answer_bytes_}; }
  [[nodiscard]] static std::size_t file_bytes(std::size_t request_bytes, std::size_t answer_bytes) {
    return kWordsBytes + request_bytes + answer_bytes;
  }
  /// Forked children do not get the memory. @throws std::system_error
  void keep_from_children() const;

 private:
  std::uint8_t* base_ = nullptr;
  std::size_t request_bytes_ = 0, answer_bytes_ = 0;
};

/// Before it waits, a reader calls this, and looks at its ring once more.
void fall_asleep(std::uint32_t& sleeps);
/// The reader looks at its ring again.
void wake_up(std::uint32_t& sleeps);
/// After it has published its records, a writer asks whether to send a byte.
bool must_wake(std::uint32_t& sleeps);

/// The daemon's end of the requests' ring.
class RequestReader {
 public:
  RequestReader(SharedWords& words, RingBytes ring, std::size_t max_input)
      : words_(&words), ring_(ring), max_input_(max_input) {}
  /// Take the next request. `input` receives its bytes.
  /// @return false if there is none. @throws ProtocolError if the client does not keep to the rules
  bool next(RequestHeader& header, Bytes& input);
  /// Tell the client what was taken.
  void publish();
  [[nodiscard]] bool empty() const;

 private:
  [[nodiscard]] std::uint64_t tail() const;

  SharedWords* words_;
  RingBytes ring_;
  std::size_t max_input_;
  std::uint64_t head_ = 0, known_tail_ = 0;
};

/// The daemon's end of the answers' ring.
class AnswerWriter {
 public:
  AnswerWriter(SharedWords& words, RingBytes ring) : words_(&words), ring_(ring) {}
  void append(std::uint64_t id, Status status, ByteSpan output);
  /// Show the client what was appended. @return whether to send a byte
  bool publish();

 private:
  SharedWords* words_;
  RingBytes ring_;
  std::uint64_t tail_ = 0;
};

/// The client's ends.
class RequestWriter {
 public:
  RequestWriter(SharedWords& words, RingBytes ring) : words_(&words), ring_(ring) {}
  /// @return false if there is no room
  bool append(const RequestHeaderBytes& header, ByteSpan input);
  /// Show the daemon what was appended. @return whether to send a byte
  bool publish();

 private:
  SharedWords* words_;
  RingBytes ring_;
  std::uint64_t tail_ = 0;
};

class AnswerReader {
 public:
  AnswerReader(SharedWords& words, RingBytes ring) : words_(&words), ring_(ring) {}
  /// Take the next answer, and zero its bytes in the ring.
  /// @return false if there is none. @throws ProtocolError
  bool next(AnswerHeader& header, Bytes& output);
  [[nodiscard]] bool empty() const;

 private:
  SharedWords* words_;
  RingBytes ring_;
  std::uint64_t head_ = 0;
};

}  // namespace manymod::signd
