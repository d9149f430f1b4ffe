// SPDX-License-Identifier: Apache-2.0
#include "protocol/frame.hpp"

#include <algorithm>
#include <bit>

namespace manymod::signd {
namespace {

constexpr std::uint32_t kRings = 1, kStream = 2;  // flags of a hello
constexpr std::size_t kMaxPublicKeyBytes = 16'384;

/// Reads the fields of a body in their order.
class Fields {
 public:
  explicit Fields(ByteSpan body) : rest_(body) {}

  template <std::unsigned_integral T>
  T number() {
    return load_le<T>(bytes(sizeof(T)).data());
  }
  ByteSpan bytes(std::size_t size) {
    if (rest_.size() < size) throw ProtocolError("a frame is too short");
    const ByteSpan taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  void require_end() const {
    if (!at_end()) throw ProtocolError("a frame is too long");
  }

 private:
  ByteSpan rest_;
};

bool is_known(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(FrameType::hello) &&
         type <= static_cast<std::uint8_t>(FrameType::answer);
}

bool is_ring_size(std::uint32_t bytes) {
  return bytes == 0 || (std::has_single_bit(bytes) && bytes <= kMaxRingBytes);
}

}  // namespace

void append_frame_header(Bytes& stream, FrameType type, std::size_t body_bytes, bool last) {
  append_le(stream, static_cast<std::uint32_t>(body_bytes));
  append_le(stream, static_cast<std::uint8_t>(type));
  append_le(stream, static_cast<std::uint8_t>(last ? 1 : 0));
  append_le(stream, std::uint16_t{0});
}

Bytes encode_frame(FrameType type, ByteSpan body, bool last) {
  Bytes frame;
  frame.reserve(kFrameHeaderBytes + body.size());
  append_frame_header(frame, type, body.size(), last);
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

// Frames may be taken one by one from many that came together: what is left moves once for all of them.
void FrameReader::append(ByteSpan bytes) {
  drop_taken();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void FrameReader::drop_taken() {
  if (taken_ == 0) return;
  const std::size_t left = bytes_.size() - taken_;
  std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(taken_), bytes_.end(), bytes_.begin());
  OPENSSL_cleanse(bytes_.data() + left, taken_);
  bytes_.resize(left);
  taken_ = 0;
}

std::optional<Frame> FrameReader::next() {
  const ByteSpan left = ByteSpan(bytes_).subspan(taken_);
  if (left.size() < kFrameHeaderBytes) return std::nullopt;
  Fields header(left.first(kFrameHeaderBytes));
  const auto size = header.number<std::uint32_t>();
  const auto type = header.number<std::uint8_t>();
  const auto last = header.number<std::uint8_t>();
  const auto zero = header.number<std::uint16_t>();
  if (size > max_body_) throw ProtocolError("a frame of " + std::to_string(size) + " bytes");
  if (!is_known(type) || last > 1 || zero != 0) throw ProtocolError("not the header of a frame");
  if (left.size() - kFrameHeaderBytes < size) return std::nullopt;
  const ByteSpan body = left.subspan(kFrameHeaderBytes, size);
  taken_ += kFrameHeaderBytes + size;
  return Frame{static_cast<FrameType>(type), last == 1, Bytes(body.begin(), body.end())};
}

Bytes encode(const Hello& hello) {
  Bytes body;
  append_le(body, kMagic);
  append_le(body, hello.first_version);
  append_le(body, hello.last_version);
  append_le(body, static_cast<std::uint32_t>((hello.rings ? kRings : 0) | (hello.stream ? kStream : 0)));
  return body;
}

Hello decode_hello(ByteSpan body) {
  Fields fields(body);
  if (fields.number<std::uint32_t>() != kMagic) throw ProtocolError("not a client of manymod-signd");
  Hello hello;
  hello.first_version = fields.number<std::uint16_t>();
  hello.last_version = fields.number<std::uint16_t>();
  const auto flags = fields.number<std::uint32_t>();
  hello.rings = (flags & kRings) != 0;
  hello.stream = (flags & kStream) != 0;
  // A later version may add flags and fields: it is refused by its version, not by these.
  if (hello.first_version <= kVersion && hello.last_version == kVersion) {
    if (flags > kStream) throw ProtocolError("unknown flags");  // both together are none, too
    fields.require_end();
  }
  return hello;
}

Bytes encode(const Welcome& welcome) {
  Bytes body;
  append_le(body, welcome.version);
  append_le(body, std::uint16_t{0});
  for (const std::uint32_t field : {welcome.max_outstanding, welcome.max_input, welcome.max_output,
                                    welcome.request_bytes, welcome.answer_bytes}) {
    append_le(body, field);
  }
  return body;
}

Welcome decode_welcome(ByteSpan body) {
  Fields fields(body);
  Welcome welcome;
  welcome.version = fields.number<std::uint16_t>();
  static_cast<void>(fields.number<std::uint16_t>());
  for (std::uint32_t* field : {&welcome.max_outstanding, &welcome.max_input, &welcome.max_output,
                               &welcome.request_bytes, &welcome.answer_bytes}) {
    *field = fields.number<std::uint32_t>();
  }
  fields.require_end();
  const bool bounded = welcome.max_outstanding != 0 && welcome.max_outstanding <= kMaxOutstanding &&
                       welcome.max_input <= kMaxRingBytes && welcome.max_output <= kMaxRingBytes &&
                       is_ring_size(welcome.request_bytes) && is_ring_size(welcome.answer_bytes);
  if (welcome.version != kVersion || !bounded) throw ProtocolError("not the welcome of a daemon");
  return welcome;
}

void append(Bytes& body, const KeyEntry& key) {
  const std::size_t name_bytes = std::min(key.name.size(), kMaxKeyName);
  body.insert(body.end(), key.id.begin(), key.id.end());
  append_le(body, key.operations);
  append_le(body, static_cast<std::uint16_t>(name_bytes));
  append_le(body, static_cast<std::uint16_t>(key.subject_public_key_info.size()));
  body.insert(body.end(), key.name.begin(), key.name.begin() + static_cast<std::ptrdiff_t>(name_bytes));
  body.insert(body.end(), key.subject_public_key_info.begin(), key.subject_public_key_info.end());
}

std::vector<KeyEntry> decode_keys(ByteSpan body) {
  std::vector<KeyEntry> keys;
  Fields fields(body);
  while (!fields.at_end()) {
    KeyEntry& key = keys.emplace_back();
    const ByteSpan id = fields.bytes(key.id.size());
    std::copy(id.begin(), id.end(), key.id.begin());
    key.operations = fields.number<std::uint32_t>();
    const auto name_bytes = fields.number<std::uint16_t>();
    const auto public_bytes = fields.number<std::uint16_t>();
    if (name_bytes > kMaxKeyName || public_bytes > kMaxPublicKeyBytes) {
      throw ProtocolError("a key's entry is too long");
    }
    const ByteSpan name = fields.bytes(name_bytes);
    key.name.assign(name.begin(), name.end());
    const ByteSpan encoded = fields.bytes(public_bytes);
    key.subject_public_key_info.assign(encoded.begin(), encoded.end());
  }
  return keys;
}

}  // namespace manymod::signd
