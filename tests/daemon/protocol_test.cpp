// SPDX-License-Identifier: Apache-2.0
// Frames and rings, also such as no honest side would make them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "common/secret_bytes.hpp"
#include "protocol/frame.hpp"
#include "protocol/ring.hpp"

namespace manymod::signd {
namespace {

TEST(SigndFrames, ComeOutAsTheyWentIn) {
  FrameReader reader(kMaxDaemonBody);
  const Bytes one = encode_frame(FrameType::list, {}),
              two = encode_frame(FrameType::metrics, Bytes(300, 7), false);
  Bytes stream = one;
  stream.insert(stream.end(), two.begin(), two.end());
  std::vector<Frame> frames;
  for (const std::uint8_t byte : stream) {
    reader.append({&byte, 1});
    while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, FrameType::list);
  EXPECT_TRUE(frames[0].last && frames[0].body.empty());
  EXPECT_EQ(frames[1].body, Bytes(300, 7));
  EXPECT_FALSE(frames[1].last);
  EXPECT_TRUE(reader.empty());
}

TEST(SigndFrames, ThatAreNoneAreRefusedByTheirHeaders) {
  const Bytes good = encode_frame(FrameType::hello, Bytes(kMaxClientBody, 1));
  for (const auto& [at, value] :
       {std::pair<std::size_t, std::uint8_t>{1, 2}, {3, 1}, {4, 0}, {4, 10}, {5, 2}, {6, 1}, {7, 1}}) {
    Bytes bad(good.begin(), good.begin() + kFrameHeaderBytes);
    bad[at] = value;
    FrameReader reader(kMaxClientBody);
    reader.append(bad);
    EXPECT_THROW(static_cast<void>(reader.next()), ProtocolError) << at;
  }
}

TEST(SigndFrames, BodiesRoundTrip) {
  Hello hello;
  hello.rings = true;
  EXPECT_TRUE(decode_hello(encode(hello)).rings);
  Bytes bad = encode(hello);
  bad[0] ^= 1;
  EXPECT_THROW(static_cast<void>(decode_hello(bad)), ProtocolError);
  EXPECT_THROW(static_cast<void>(decode_hello({})), ProtocolError);
  const Welcome welcome{kVersion, 10, 20, 30, 4096, 8192};
  const Welcome back = decode_welcome(encode(welcome));
  EXPECT_EQ(back.max_outstanding, 10U);
  EXPECT_EQ(back.answer_bytes, 8192U);
  EXPECT_THROW(static_cast<void>(decode_welcome(encode(Welcome{kVersion, 10, 20, 30, 4097, 8192}))),
               ProtocolError);
  EXPECT_THROW(static_cast<void>(decode_welcome(encode(Welcome{kVersion, 0, 20, 30, 4096, 8192}))),
               ProtocolError);
  KeyEntry key{{1, 2, 3}, 5, "site", Bytes(294, 9)};
  Bytes body;
  append(body, key);
  append(body, key);
  const auto keys = decode_keys(body);
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[1].name, "site");
  EXPECT_EQ(keys[1].id, key.id);
  EXPECT_EQ(keys[1].subject_public_key_info, key.subject_public_key_info);
  for (std::size_t size = 1; size < body.size() / 2; ++size) {
    EXPECT_THROW(static_cast<void>(decode_keys(ByteSpan(body).first(size))), ProtocolError);
  }
}

TEST(SigndFrames, HeadersOfRecordsRoundTrip) {
  const RequestHeader header{7, 8, 9, {Operation::exchange, MM_SM3, MM_SHA1, -3}, {4, 5}};
  RequestHeaderBytes bytes = encode(header);
  const RequestHeader back = decode_request(bytes);
  EXPECT_EQ(back.id, 9U);
  EXPECT_EQ(back.scheme.salt_length, -3);
  EXPECT_EQ(back.scheme.operation, Operation::exchange);
  EXPECT_EQ(back.key, header.key);
  bytes[17] = 200;
  EXPECT_EQ(decode_request(bytes).scheme.operation, kUnknownOperation);
  bytes[63] = 1;
  EXPECT_THROW(static_cast<void>(decode_request(bytes)), ProtocolError);
  AnswerHeaderBytes answer = encode(AnswerHeader{3, Status::failed, 77});
  EXPECT_EQ(decode_answer(answer).id, 77U);
  answer[4] = 200;
  EXPECT_THROW(static_cast<void>(decode_answer(answer)), ProtocolError);
}

TEST(SigndFrames, CarryRequestsAndAnswers) {
  Bytes stream;
  const RequestHeader header{3, 8, 9, {Operation::sign_pss, MM_SHA256, MM_HASH_NONE, -1}, {4, 5}};
  append_request(stream, encode(header), Bytes{1, 2, 3});
  append_answer(stream, 77, Status::ok, Bytes(200, 5));
  append_answer(stream, 78, Status::busy, {});
  FrameReader reader(max_request_body(200));
  reader.append(stream);
  Bytes bytes;
  EXPECT_EQ(decode_request(reader.next()->body, bytes).key, header.key);
  EXPECT_EQ(bytes, (Bytes{1, 2, 3}));
  EXPECT_EQ(decode_answer(reader.next()->body, bytes).id, 77U);
  EXPECT_EQ(bytes, Bytes(200, 5));
  EXPECT_EQ(decode_answer(reader.next()->body, bytes).status, Status::busy);
  EXPECT_TRUE(bytes.empty() && reader.empty());
  // The length in a record is its frame's.
  const RequestHeaderBytes encoded = encode(header);
  EXPECT_THROW(static_cast<void>(decode_request(ByteSpan(encoded), bytes)), ProtocolError);
  EXPECT_THROW(static_cast<void>(decode_request(Bytes(63), bytes)), ProtocolError);
  EXPECT_THROW(static_cast<void>(decode_answer(Bytes(15), bytes)), ProtocolError);
}

TEST(SigndSecretBytes, GrowAndShrink) {
  SecretBytes bytes(Bytes{1, 2});
  bytes.append(Bytes{3, 4});
  bytes.shorten(3);
  EXPECT_EQ(Bytes(bytes.span().begin(), bytes.span().end()), (Bytes{1, 2, 3}));
  const SecretBytes moved = std::move(bytes);
  EXPECT_EQ(moved.text(), "\x01\x02\x03");
}

/// Both sides' ends of rings in plain memory.
struct Rings {
  static constexpr std::size_t kBytes = 1024, kMaxInput = 200;
  std::unique_ptr<SharedWords> words = std::make_unique<SharedWords>();
  Bytes requests = Bytes(kBytes), answers = Bytes(kBytes);
  RequestWriter writer{*words, {requests.data(), kBytes}};
  RequestReader reader{*words, {requests.data(), kBytes}, kMaxInput};
  AnswerWriter answering{*words, {answers.data(), kBytes}};
  AnswerReader answered{*words, {answers.data(), kBytes}};

  bool send(std::uint64_t id, const Bytes& input) {
    RequestHeader header;
    header.id = id;
    header.input_bytes = static_cast<std::uint32_t>(input.size());
    const bool room = writer.append(encode(header), input);
    writer.publish();
    return room;
  }
};

TEST(SigndRings, CarryRecordsOfAllLengthsAroundTheirEnd) {
  Rings rings;
  RequestHeader header;
  AnswerHeader answer;
  Bytes input, output;
  for (std::uint64_t id = 0; id < 300; ++id) {
    const Bytes sent(id % (Rings::kMaxInput + 1), static_cast<std::uint8_t>(id));
    ASSERT_TRUE(rings.send(id, sent));
    ASSERT_TRUE(rings.reader.next(header, input));
    EXPECT_EQ(header.id, id);
    EXPECT_EQ(input, sent);
    EXPECT_FALSE(rings.reader.next(header, input));
    rings.reader.publish();
    rings.answering.append(id, Status::ok, sent);
    rings.answering.publish();
    ASSERT_TRUE(rings.answered.next(answer, output));
    EXPECT_EQ(output, sent);
    EXPECT_FALSE(rings.answered.next(answer, output));
  }
}

TEST(SigndRings, AnswersAreZeroedOnceTheyAreRead) {
  Rings rings;
  rings.answering.append(1, Status::ok, Bytes(100, 0xEE));
  rings.answering.publish();
  AnswerHeader answer;
  Bytes output;
  ASSERT_TRUE(rings.answered.next(answer, output));
  EXPECT_EQ(std::count(rings.answers.begin(), rings.answers.end(), 0xEE), 0);
}

TEST(SigndRings, AreFullBeforeTheyOverflow) {
  Rings rings;
  std::size_t sent = 0;
  while (rings.send(sent, Bytes(64))) ++sent;
  EXPECT_EQ(sent, Rings::kBytes / request_record_bytes(64));
  RequestHeader header;
  Bytes input;
  ASSERT_TRUE(rings.reader.next(header, input));
  EXPECT_FALSE(rings.send(1, Bytes(64)));
  rings.reader.publish();
  EXPECT_TRUE(rings.send(1, Bytes(64)));
}

TEST(SigndRings, SleepersAreWokenOnce) {
  Rings rings;
  fall_asleep(rings.words->daemon_sleeps);
  EXPECT_TRUE(rings.reader.empty());
  RequestHeader header;
  ASSERT_TRUE(rings.writer.append(encode(header), {}));
  EXPECT_TRUE(rings.writer.publish());
  ASSERT_TRUE(rings.writer.append(encode(header), {}));
  EXPECT_FALSE(rings.writer.publish());
  EXPECT_FALSE(rings.reader.empty());
}

TEST(SigndRings, PositionsThatCannotBeAreRefused) {
  for (const std::uint64_t tail :
       {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{Rings::kBytes + 1}, ~std::uint64_t{0}}) {
    Rings rings;
    rings.words->request_tail = tail;
    RequestHeader header;
    Bytes input;
    EXPECT_THROW(rings.reader.next(header, input), ProtocolError) << tail;
    rings.words->answer_tail = tail;
    AnswerHeader answer;
    if (tail != 63) {  // the header of an answer fits, of no output
      EXPECT_THROW(rings.answered.next(answer, input), ProtocolError) << tail;
    }
  }
}

TEST(SigndRings, LengthsThatCannotBeAreRefused) {
  for (const std::uint32_t length : {std::uint32_t{Rings::kMaxInput + 1}, std::uint32_t{65}, UINT32_MAX}) {
    Rings rings;
    ASSERT_TRUE(rings.send(1, Bytes(64)));
    store_le(rings.requests.data(), length);
    RequestHeader header;
    Bytes input;
    EXPECT_THROW(rings.reader.next(header, input), ProtocolError) << length;
  }
}

}  // namespace
}  // namespace manymod::signd
