// SPDX-License-Identifier: Apache-2.0
#include "protocol/record.hpp"

#include <algorithm>

namespace manymod::signd {
namespace {

void append_frame(Bytes& stream, FrameType type, ByteSpan header, ByteSpan rest) {
  append_frame_header(stream, type, header.size() + rest.size());
  stream.insert(stream.end(), header.begin(), header.end());
  stream.insert(stream.end(), rest.begin(), rest.end());
}

/// The header of a record in a frame; the rest of the body is as long as the header says.
template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> header_of(ByteSpan body) {
  if (body.size() < kBytes || load_le<std::uint32_t>(body.data()) != body.size() - kBytes) {
    throw ProtocolError("a record whose length is not its frame's");
  }
  std::array<std::uint8_t, kBytes> header;
  std::copy_n(body.begin(), kBytes, header.begin());
  return header;
}

}  // namespace

RequestHeaderBytes encode(const RequestHeader& header) {
  RequestHeaderBytes bytes{};
  store_le(bytes.data(), header.input_bytes);
  store_le(bytes.data() + 4, header.timeout_ms);
  store_le(bytes.data() + 8, header.id);
  bytes[16] = static_cast<std::uint8_t>(header.scheme.operation);
  bytes[17] = static_cast<std::uint8_t>(header.scheme.hash);
  bytes[18] = static_cast<std::uint8_t>(header.scheme.mgf_hash);
  store_le(bytes.data() + 20, static_cast<std::uint32_t>(header.scheme.salt_length));
  std::copy(header.key.begin(), header.key.end(), bytes.begin() + 24);
  return bytes;
}

RequestHeader decode_request(const RequestHeaderBytes& bytes) {
  RequestHeader header;
  header.input_bytes = load_le<std::uint32_t>(bytes.data());
  header.timeout_ms = load_le<std::uint32_t>(bytes.data() + 4);
  header.id = load_le<std::uint64_t>(bytes.data() + 8);
  const bool known = bytes[17] < MM_HASH_COUNT && bytes[18] < MM_HASH_COUNT;
  header.scheme.operation = known ? static_cast<Operation>(bytes[16]) : kUnknownOperation;
  header.scheme.hash = static_cast<mm_hash>(known ? bytes[17] : 0);
  header.scheme.mgf_hash = static_cast<mm_hash>(known ? bytes[18] : 0);
  header.scheme.salt_length = static_cast<std::int32_t>(load_le<std::uint32_t>(bytes.data() + 20));
  std::copy_n(bytes.begin() + 24, header.key.size(), header.key.begin());
  if (bytes[19] != 0 || load_le<std::uint64_t>(bytes.data() + 56) != 0) {
    throw ProtocolError("not the header of a request");
  }
  return header;
}

AnswerHeaderBytes encode(const AnswerHeader& header) {
  AnswerHeaderBytes bytes{};
  store_le(bytes.data(), header.output_bytes);
  bytes[4] = static_cast<std::uint8_t>(header.status);
  store_le(bytes.data() + 8, header.id);
  return bytes;
}

AnswerHeader decode_answer(const AnswerHeaderBytes& bytes) {
  AnswerHeader header;
  header.output_bytes = load_le<std::uint32_t>(bytes.data());
  header.status = static_cast<Status>(bytes[4]);
  header.id = load_le<std::uint64_t>(bytes.data() + 8);
  if (header.status > Status::failed) throw ProtocolError("an unknown status");
  return header;
}

void append_request(Bytes& stream, const RequestHeaderBytes& header, ByteSpan input) {
  append_frame(stream, FrameType::request, header, input);
}

RequestHeader decode_request(ByteSpan body, Bytes& input) {
  const RequestHeader header = decode_request(header_of<kRequestHeaderBytes>(body));
  input.assign(body.begin() + kRequestHeaderBytes, body.end());
  return header;
}

void append_answer(Bytes& stream, std::uint64_t id, Status status, ByteSpan output) {
  append_frame(stream, FrameType::answer, encode({static_cast<std::uint32_t>(output.size()), status, id}),
               output);
}

AnswerHeader decode_answer(ByteSpan body, Bytes& output) {
  const AnswerHeader header = decode_answer(header_of<kAnswerHeaderBytes>(body));
  output.assign(body.begin() + kAnswerHeaderBytes, body.end());
  return header;
}

}  // namespace manymod::signd
