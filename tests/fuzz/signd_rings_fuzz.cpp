// SPDX-License-Identifier: Apache-2.0
// Rings of manymod-signd in memory whose other side does what it likes, also between two looks at it.
#include <memory>

#include "fuzz/choices.hpp"
#include "protocol/ring.hpp"

namespace manymod::fuzz {
namespace {

constexpr std::size_t kRingBytes = 512, kMaxInput = 200;

/// A hostile side's whole power: every byte of the shared memory, at any time.
struct Hostile {
  std::unique_ptr<signd::SharedWords> words = std::make_unique<signd::SharedWords>();
  Bytes requests = Bytes(kRingBytes), answers = Bytes(kRingBytes);

  void write(Choices& choices) {
    const Bytes bytes = choices.bytes(96);
    Bytes& ring = choices.one_in(2) ? answers : requests;
    const std::size_t at = choices.below(kRingBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) ring[(at + i) % kRingBytes] = bytes[i];
  }
  void move(Choices& choices) {
    std::uint64_t& tail = choices.one_in(2) ? words->answer_tail : words->request_tail;
    tail = choices.one_in(4) ? choices.word() : tail + 16 * choices.below(64);
  }
};

void run(Choices& choices) {
  Hostile memory;
  signd::RequestReader requests(*memory.words, {memory.requests.data(), kRingBytes}, kMaxInput);
  signd::AnswerReader answers(*memory.words, {memory.answers.data(), kRingBytes});
  signd::RequestHeader request;
  signd::AnswerHeader answer;
  signd::Bytes bytes;
  const std::size_t steps = choices.below(64);
  try {
    for (std::size_t i = 0; i < steps; ++i) {
      memory.write(choices);
      memory.move(choices);
      if (requests.next(request, bytes)) {
        require(bytes.size() == request.input_bytes && bytes.size() <= kMaxInput,
                "an input of another length");
      }
      requests.publish();
      if (answers.next(answer, bytes)) {
        require(bytes.size() == answer.output_bytes && bytes.size() <= kRingBytes,
                "an output of another length");
        require(answer.status <= signd::Status::failed, "an unknown status");
      }
    }
  } catch (const signd::ProtocolError&) {  // NOLINT(bugprone-empty-catch): the other side is disconnected
  }
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}
