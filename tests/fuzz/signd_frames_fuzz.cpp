// SPDX-License-Identifier: Apache-2.0
// Frames of manymod-signd: a stream in pieces. What is accepted is what its own encoding would be.
#include <algorithm>

#include "fuzz/choices.hpp"
#include "protocol/frame.hpp"

namespace manymod::fuzz {
namespace {

constexpr std::size_t kReservedOfWelcome = 2;  // two bytes that a reader passes over

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

void check(const signd::Frame& frame) {
  switch (frame.type) {
    case signd::FrameType::hello:
      return check_hello(frame.body);
    case signd::FrameType::welcome:
      return check_welcome(frame.body);
    case signd::FrameType::keys:
      return check_keys(frame.body);
    default:
      return;
  }
}

void run(Choices& choices) {
  const bool from_daemon = choices.one_in(2);
  signd::FrameReader reader(from_daemon ? signd::kMaxDaemonBody : signd::kMaxClientBody);
  const Bytes stream = choices.all_the_rest();
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
