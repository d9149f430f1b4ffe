// SPDX-License-Identifier: Apache-2.0
// Frames of manymod-signd, with questions, requests and answers: a stream in pieces. What is accepted is what
// its own encoding would be.
#include <algorithm>

#include "fuzz/choices.hpp"
#include "protocol/record.hpp"

namespace manymod::fuzz {
namespace {

using signd::Bytes;

constexpr std::size_t kMaxInput = 512;
constexpr std::size_t kReservedOfWelcome = 2;  // two bytes that a reader passes over
constexpr std::size_t kReservedOfAnswer = 5;   // three of them

void check_hello(const Bytes& body) {
  const signd::Hello hello = signd::decode_hello(body);
  const bool ours = hello.first_version <= signd::kVersion && hello.last_version == signd::kVersion;
  if (ours) require(signd::encode(hello) == body, "another hello");
}

void check_welcome(Bytes body) {
  const signd::Welcome welcome = signd::decode_welcome(body);
  body[kReservedOfWelcome] = body[kReservedOfWelcome + 1] = 0;
  require(signd::encode(welcome) == body, "another welcome");
}

void check_keys(const Bytes& body) {
  Bytes again;
  for (const signd::KeyEntry& key : signd::decode_keys(body)) signd::append(again, key);
  require(again == body, "other keys");
}

// A whole frame for the body, as its own side would make it.
void require_same(const Bytes& frame, const Bytes& body) {
  require(std::equal(body.begin(), body.end(), frame.begin() + signd::kFrameHeaderBytes, frame.end()),
          "another record");
}

void check_request(const Bytes& body) {
  Bytes input, again;
  const signd::RequestHeader header = signd::decode_request(body, input);
  require(input.size() == header.input_bytes, "an input of another length");
  // Operations and hashes that there are not have one number.
  if (header.scheme.operation == signd::kUnknownOperation) return;
  signd::append_request(again, signd::encode(header), input);
  require_same(again, body);
}

void check_answer(Bytes body) {
  Bytes output, again;
  const signd::AnswerHeader header = signd::decode_answer(body, output);
  std::fill_n(body.begin() + kReservedOfAnswer, 3, std::uint8_t{0});
  signd::append_answer(again, header.id, header.status, output);
  require_same(again, body);
}

void check(const signd::Frame& frame) {
  switch (frame.type) {
    case signd::FrameType::hello:
      return check_hello(frame.body);
    case signd::FrameType::welcome:
      return check_welcome(frame.body);
    case signd::FrameType::keys:
      return check_keys(frame.body);
    case signd::FrameType::request:
      return check_request(frame.body);
    case signd::FrameType::answer:
      return check_answer(frame.body);
    default:
      return;
  }
}

void run(Choices& choices) {
  const bool from_daemon = choices.one_in(2);
  signd::FrameReader reader(from_daemon ? signd::kMaxDaemonBody : signd::max_request_body(kMaxInput));
  const auto stream = choices.all_the_rest();
  const std::size_t piece = 1 + stream.size() % 61;
  try {
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.append({stream.data() + at, std::min(piece, stream.size() - at)});
      while (const auto frame = reader.next()) {
        try {
          check(*frame);
        } catch (const signd::ProtocolError&) {  // NOLINT(bugprone-empty-catch): a body that is none
        }
      }
    }
  } catch (const signd::ProtocolError&) {  // NOLINT(bugprone-empty-catch): a header that is none
  }
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}
