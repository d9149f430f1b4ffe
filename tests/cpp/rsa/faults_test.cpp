// SPDX-License-Identifier: Apache-2.0
// Faults in a private operation: a wrong result must never be released, and is recomputed.
#include <gtest/gtest.h>

#include <string>

#include "rsa/test_calls.hpp"
#include "rsa/test_rings.hpp"

namespace manymod::testing {
namespace {

using rsa::FaultPoint;

TEST(RsaFaults, InEitherHalfNeverLeaveAndAreReported) {
  const TestKey& key = test_key(1024);
  // A single item, a few that do not fill a vector, and a batch with prepared primes.
  for (const std::size_t items : {1U, 3U, 33U}) {
    const std::vector<Bytes> messages = messages_of(items);
    std::vector<Bytes> expected;
    for (const Bytes& message : messages) {
      expected.push_back(oracle_sign(key, message, padding(MM_RSA_PKCS1V15, MM_SHA256)));
    }
    for (const mm_rsa_blinding blinding : {MM_RSA_BLINDING_ON, MM_RSA_BLINDING_OFF}) {
      RingOfKeys ring({1024}, with_blinding(ring_options(1), blinding));
      std::uint64_t faults = 0;
      for (const FaultPoint half : {FaultPoint::half_p, FaultPoint::half_q}) {
        for (const std::size_t bit : {0U, 1U, 63U, 64U, 300U, 511U}) {
          const std::size_t row = bit % items;
          ring.flip(half, row, bit);
          const Results results = ring.sign(messages);
          EXPECT_EQ(results.status, MM_OK) << mm_last_error();
          EXPECT_EQ(results.outputs, expected);
          EXPECT_EQ(count_of(results.recomputed, 1), 1U);
          EXPECT_EQ(results.recomputed[row], 1);
          EXPECT_EQ(ring.recomputed(), ++faults);
        }
      }
    }
  }
}

TEST(RsaFaults, TwiceInOneItemLeaveNothingOfIt) {
  const std::vector<Bytes> messages = messages_of(5);
  RingOfKeys ring({1024}, ring_options(1));
  ring.set_hook([](FaultPoint point, std::span<Limb> residues, std::size_t limbs) {
    // Row 3 is the only row that is recomputed.
    if (point == FaultPoint::half_q) residues[3 * limbs + 1] ^= 4;
    if (point == FaultPoint::without_crt) residues[1] ^= 4;
  });
  const Results results = ring.sign(messages);
  EXPECT_EQ(results.status, MM_ERR_ITEMS);
  EXPECT_NE(std::string(mm_last_error()).find("the first is item 3"), std::string::npos) << mm_last_error();
  EXPECT_EQ(results.item_status, (std::vector<std::uint8_t>{MM_OK, MM_OK, MM_OK, MM_ITEM_RSA_FAULT, MM_OK}));
  EXPECT_TRUE(results.outputs[3].empty());
  EXPECT_EQ(count_of(results.recomputed, 1), 0U);
}

TEST(RsaFaults, InEveryRowOfManyKeysAreAllMended) {
  const std::vector<Bytes> messages = messages_of(24);
  std::vector<std::uint32_t> key_of;
  const std::size_t bits[] = {1024, 1031, 1536};
  for (std::uint32_t i = 0; i < 24; ++i) key_of.push_back(i * i % 3);
  RingOfKeys ring({1024, 1031, 1536}, ring_options(1));
  ring.set_hook([](FaultPoint point, std::span<Limb> residues, std::size_t limbs) {
    if (point != FaultPoint::half_p && point != FaultPoint::half_q) return;
    for (std::size_t row = 0; row < residues.size() / limbs; ++row) residues[row * limbs] += 1;
  });
  const Results results = ring.sign(messages, key_of);
  EXPECT_EQ(results.status, MM_OK) << mm_last_error();
  EXPECT_EQ(count_of(results.recomputed, 1), 24U);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(results.outputs[i],
              oracle_sign(test_key(bits[key_of[i]]), messages[i], padding(MM_RSA_PKCS1V15, MM_SHA256)));
  }
}

// A fault skips the power by which the result is checked: its memory keeps what it held before. Every item
// fails, also one whose result is right, as nothing has shown that it is.
TEST(RsaFaults, ThatSkipTheCheckAreFound) {
  const std::vector<Bytes> messages = messages_of(5);
  const std::uint32_t key_of[] = {0, 1, 0, 0, 1};
  for (const mm_rsa_blinding blinding : {MM_RSA_BLINDING_ON, MM_RSA_BLINDING_OFF}) {
    RingOfKeys ring({1024, 1536}, with_blinding(ring_options(1), blinding));
    ring.set_hook(PowersAreSkipped());
    const Results results = ring.sign(messages, key_of);
    EXPECT_EQ(results.status, MM_ERR_ITEMS);
    EXPECT_EQ(count_of(results.item_status, MM_ITEM_RSA_FAULT), messages.size());
    for (const Bytes& output : results.outputs) EXPECT_TRUE(output.empty());
  }
}

TEST(RsaFaults, OfACallLeaveNothingOfIt) {
  const std::vector<Bytes> messages = messages_of(6);
  const std::uint32_t key_of[] = {0, 1, 0, 1, 0, 1};
  RingOfKeys ring({1024, 1536}, ring_options(1));
  // Fails after the items of the shorter key have been computed.
  ring.set_hook([](FaultPoint point, std::span<Limb>, std::size_t limbs) {
    if (point == FaultPoint::half_p && limbs > 8) throw StatusError(MM_ERR_DEVICE, "lost");
  });
  const Results results = ring.sign(messages, key_of);
  EXPECT_EQ(results.status, MM_ERR_DEVICE);
  EXPECT_EQ(count_of(results.item_status, MM_ITEM_NOT_COMPUTED), messages.size());
  EXPECT_EQ(count_of(results.recomputed, 0), messages.size());
  for (const Bytes& output : results.outputs) EXPECT_TRUE(output.empty());
  EXPECT_TRUE(results.zero_behind);
}

TEST(RsaFaults, InRowsOfItemsThatCannotBeginAreNotCounted) {
  RingOfKeys ring({1024}, ring_options(1));
  ring.set_hook([](FaultPoint point, std::span<Limb> residues, std::size_t limbs) {
    if (point != FaultPoint::half_p && point != FaultPoint::half_q) return;
    for (std::size_t row = 0; row < residues.size() / limbs; ++row) residues[row * limbs] += 1;
  });
  const std::vector<Bytes> digests = {Bytes(32, 1), Bytes(31, 2), Bytes(32, 3)};
  const Results results = ring.sign(digests, {}, nullptr, true);
  EXPECT_EQ(results.item_status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_LENGTH, MM_OK}));
  EXPECT_EQ(ring.private_items(), 2U);
  EXPECT_EQ(ring.recomputed(), 2U);
}

}  // namespace
}  // namespace manymod::testing
