// SPDX-License-Identifier: Apache-2.0
// Requests and answers as bytes (docs/signd-protocol.md): records of rings, and the bodies of frames where
// they go over a stream.
#pragma once

#include <array>

#include "common/little_endian.hpp"
#include "protocol/frame.hpp"
#include "protocol/request.hpp"

namespace manymod::signd {

inline constexpr std::size_t kRequestHeaderBytes = 64;
inline constexpr std::size_t kAnswerHeaderBytes = 16;

/// u32 input bytes, u32 timeout in ms, u64 id, u8 operation, u8 hash, u8 mask hash, u8 0, i32 salt length,
/// 32 bytes key, u64 0.
struct RequestHeader {
  std::uint32_t input_bytes = 0;
  std::uint32_t timeout_ms = 0;  ///< 0: for ever
  std::uint64_t id = 0;          ///< the client's, for the answer
  Scheme scheme{};
  KeyId key{};
};
inline constexpr auto kUnknownOperation = static_cast<Operation>(255);
using RequestHeaderBytes = std::array<std::uint8_t, kRequestHeaderBytes>;
RequestHeaderBytes encode(const RequestHeader& header);
/// The operation's number may be unknown; with an unknown hash it is kUnknownOperation.
/// @throws ProtocolError where zeros are not 0
RequestHeader decode_request(const RequestHeaderBytes& bytes);

/// u32 output bytes, u8 status, 3 bytes 0, u64 id.
struct AnswerHeader {
  std::uint32_t output_bytes = 0;
  Status status = Status::ok;
  std::uint64_t id = 0;
};
using AnswerHeaderBytes = std::array<std::uint8_t, kAnswerHeaderBytes>;
AnswerHeaderBytes encode(const AnswerHeader& header);
/// @throws ProtocolError for an unknown status
AnswerHeader decode_answer(const AnswerHeaderBytes& bytes);

/// Longest body of a client's frame on a stream, and of the daemon's.
constexpr std::size_t max_request_body(std::size_t max_input) { return kRequestHeaderBytes + max_input; }
constexpr std::size_t max_answer_body(std::size_t max_output) { return kAnswerHeaderBytes + max_output; }

/// Append a frame with a request.
void append_request(Bytes& stream, const RequestHeaderBytes& header, ByteSpan input);
/// Take the header and the input from a frame's body. @throws ProtocolError
RequestHeader decode_request(ByteSpan body, Bytes& input);
/// Append a frame with an answer.
void append_answer(Bytes& stream, std::uint64_t id, Status status, ByteSpan output);
/// Take the header and the output from a frame's body. @throws ProtocolError
AnswerHeader decode_answer(ByteSpan body, Bytes& output);

}  // namespace manymod::signd
