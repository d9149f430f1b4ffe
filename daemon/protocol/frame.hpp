// SPDX-License-Identifier: Apache-2.0
// Frames on a connection to manymod-signd (docs/signd-protocol.md): 8 bytes of header, then the body.
//
//   u32  bytes of the body
//   u8   FrameType
//   u8   1: the last frame of an answer, 0: more follow
//   u16  0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/little_endian.hpp"
#include "protocol/request.hpp"

namespace manymod::signd {

/// The other side does not keep to the protocol.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint32_t kMagic = 0x44534D4D;  ///< "MMSD"
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 8;
/// Longest body from a client, and from the daemon. On a stream the welcome says what is longest.
inline constexpr std::size_t kMaxClientBody = 256;
inline constexpr std::size_t kMaxDaemonBody = 65'536;

enum class FrameType : std::uint8_t {
  hello = 1,    ///< client: Hello
  welcome = 2,  ///< daemon: Welcome, with the memory of the rings if they were asked for
  list = 3,     ///< client: no body
  keys = 4,     ///< daemon: KeyEntry, one after the other; a frame has whole ones
  measure = 5,  ///< client: no body
  metrics = 6,  ///< daemon: text
  refusal = 7,  ///< daemon: text that says why; it closes the connection
  request = 8,  ///< client, on a stream: RequestHeader and the input
  answer = 9    ///< daemon, on a stream: AnswerHeader and the output
};

struct Frame {
  FrameType type = FrameType::refusal;
  bool last = true;
  Bytes body;
};

/// @param body at most kMaxDaemonBody bytes
Bytes encode_frame(FrameType type, ByteSpan body, bool last = true);
/// Append the header of a frame that is an answer's last, whose body the caller appends.
void append_frame_header(Bytes& stream, FrameType type, std::size_t body_bytes, bool last = true);

/// Takes frames from the bytes of a stream. What it has given away it zeroes: results may be secret.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_body) : max_body_(max_body) {}
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  void append(ByteSpan bytes);
  /// The next frame once it is complete. It is refused by its header: no more than a header and max_body
  /// bytes need to be kept. @throws ProtocolError
  std::optional<Frame> next();
  [[nodiscard]] bool empty() const { return taken_ == bytes_.size(); }

 private:
  void drop_taken();

  const std::size_t max_body_;
  Bytes bytes_;
  std::size_t taken_ = 0;
};

/// The first frame of a client.
struct Hello {
  std::uint16_t first_version = kVersion, last_version = kVersion;  ///< those that the client speaks
  /// Whether requests follow, in rings (by a Unix socket) or as frames (by TLS); else questions do.
  bool rings = false, stream = false;
};
Bytes encode(const Hello& hello);
/// @throws ProtocolError
Hello decode_hello(ByteSpan body);

/// The daemon's answer: its limits. Both rings have a power of two of bytes, at most kMaxRingBytes.
struct Welcome {
  std::uint16_t version = kVersion;
  std::uint32_t max_outstanding = 0;                  ///< requests whose answers the client has not read
  std::uint32_t max_input = 0, max_output = 0;        ///< bytes of a request's input, of an answer's output
  std::uint32_t request_bytes = 0, answer_bytes = 0;  ///< of the rings; 0 without rings
};
inline constexpr std::uint32_t kMaxRingBytes = 1U << 26;
inline constexpr std::uint32_t kMaxOutstanding = 1U << 16;
Bytes encode(const Welcome& welcome);
/// @throws ProtocolError
Welcome decode_welcome(ByteSpan body);

inline constexpr std::size_t kMaxKeyName = 255;  ///< bytes

/// A key in the daemon's list.
struct KeyEntry {
  KeyId id{};
  std::uint32_t operations = 0;   ///< bit_of() those that suit the key and are allowed to the client
  std::string name;               ///< at most kMaxKeyName bytes
  Bytes subject_public_key_info;  ///< at most 16,384 bytes
};
void append(Bytes& body, const KeyEntry& key);
/// All entries of a body. @throws ProtocolError
std::vector<KeyEntry> decode_keys(ByteSpan body);

}  // namespace manymod::signd
