// SPDX-License-Identifier: Apache-2.0
// Faults in a private operation: a damaged residue must never leave, and is computed again.
#include <gtest/gtest.h>

#include <string>

#include "rsa/key.hpp"
#include "rsa/ring.hpp"
#include "rsa/test_calls.hpp"

namespace manymod::testing {
namespace {

using rsa::FaultPoint;

/// A ring of its own, whose results can be damaged.
class FaultyRing {
 public:
  FaultyRing(std::initializer_list<std::size_t> bits, mm_rsa_blinding blinding) {
    mm_rsa_ring_options options = ring_options(1);
    options.blinding = blinding;
    std::vector<std::shared_ptr<const rsa::Key>> keys;
    for (const std::size_t size : bits) {
      keys.push_back(rsa::key_from_numbers(private_numbers(test_key(size).bytes)));
      stride_ = std::max(stride_, test_key(size).k());
    }
    ring_ = std::make_unique<rsa::Ring>(options, keys);
  }

  /// Flip one bit in this row's residue from now on.
  void flip(FaultPoint point, std::size_t row, std::size_t bit) {
    ring_->set_fault_hook([=](FaultPoint at, std::span<Limb> residues, std::size_t limbs) {
      if (at != point) return;
      Limb& limb = residues[(row * limbs + bit / 64) % residues.size()];
      limb ^= Limb{1} << (bit % 64);
    });
  }
  void set_hook(rsa::FaultHook hook) { ring_->set_fault_hook(std::move(hook)); }

  Results sign(std::span<const Bytes> messages, std::span<const std::uint32_t> key_of = {}) {
    const Pointers input(messages);
    Bytes data(messages.size() * stride_, 0xee);
    std::vector<std::size_t> sizes(messages.size());
    Results results;
    results.item_status.assign(messages.size(), 99);
    results.recomputed.assign(messages.size(), 99);
    mm_rsa_call call{};
    call.struct_size = sizeof call;
    call.op = MM_RSA_SIGN;
    call.padding = padding(MM_RSA_PKCS1V15, MM_RSA_SHA256);
    call.count = messages.size();
    call.key = key_of.empty() ? nullptr : key_of.data();
    call.input = input.view();
    call.output = {data.data(), messages.size(), stride_, sizes.data()};
    call.item_status = results.item_status.data();
    call.item_recomputed = results.recomputed.data();
    results.status = ring_->run(call);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto* begin = data.data() + i * stride_;
      results.outputs.emplace_back(begin, begin + sizes[i]);
    }
    return results;
  }
  [[nodiscard]] std::uint64_t recomputed() const { return ring_->info().recomputed; }

 private:
  std::size_t stride_ = 0;
  std::unique_ptr<rsa::Ring> ring_;
};

TEST(RsaFaults, InEitherHalfNeverLeaveAndAreReported) {
  const TestKey& key = test_key(1024);
  // A single item, some that fill no vector, and a batch with prepared primes.
  for (const std::size_t items : {1U, 3U, 33U}) {
    const std::vector<Bytes> messages = messages_of(items);
    std::vector<Bytes> expected;
    for (const Bytes& message : messages) {
      expected.push_back(oracle_sign(key, message, padding(MM_RSA_PKCS1V15, MM_RSA_SHA256)));
    }
    for (const mm_rsa_blinding blinding : {MM_RSA_BLINDING_ON, MM_RSA_BLINDING_OFF}) {
      FaultyRing ring({1024}, blinding);
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
  FaultyRing ring({1024}, MM_RSA_BLINDING_ON);
  ring.set_hook([](FaultPoint point, std::span<Limb> residues, std::size_t limbs) {
    // Row 3, which is the only one to be computed again.
    const std::size_t row = point == FaultPoint::without_crt ? 0 : 3;
    if (point != FaultPoint::half_p) residues[row * limbs + 1] ^= 4;
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
  FaultyRing ring({1024, 1031, 1536}, MM_RSA_BLINDING_ON);
  ring.set_hook([](FaultPoint point, std::span<Limb> residues, std::size_t limbs) {
    if (point == FaultPoint::without_crt) return;
    for (std::size_t row = 0; row < residues.size() / limbs; ++row) residues[row * limbs] += 1;
  });
  const Results results = ring.sign(messages, key_of);
  EXPECT_EQ(results.status, MM_OK) << mm_last_error();
  EXPECT_EQ(count_of(results.recomputed, 1), 24U);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(results.outputs[i],
              oracle_sign(test_key(bits[key_of[i]]), messages[i], padding(MM_RSA_PKCS1V15, MM_RSA_SHA256)));
  }
}

}  // namespace
}  // namespace manymod::testing
