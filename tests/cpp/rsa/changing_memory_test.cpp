// SPDX-License-Identifier: Apache-2.0
// Calls while another thread or process writes to the caller's arrays: the hook of a ring overwrites them
// between the encoding of the items and the decoding of the results, where a call of the C ABI would be
// overtaken by chance.
#include <gtest/gtest.h>

#include "rsa/call.hpp"
#include "rsa/test_calls.hpp"
#include "rsa/test_rings.hpp"

namespace manymod::testing {
namespace {

constexpr std::size_t kItems = 4;
constexpr std::size_t kStride = 130;

/// A call on two keys, computed in one batch, whose arrays can be overwritten.
struct Arrays {
  std::vector<std::uint32_t> keys{0, 1, 1, 0};
  Bytes data;
  std::vector<std::int64_t> offsets{0};
  std::vector<mm_bytes> items;
  Bytes output = Bytes(kItems * kStride, 0xee);
  std::vector<std::size_t> sizes = std::vector<std::size_t>(kItems, 0);
  std::vector<std::uint8_t> statuses = std::vector<std::uint8_t>(kItems, 99);
  mm_rsa_call call{};

  explicit Arrays(std::span<const Bytes> inputs, bool slices) {
    for (const Bytes& input : inputs) {
      data.insert(data.end(), input.begin(), input.end());
      offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    for (std::size_t i = 0; i < kItems; ++i) items.push_back({data.data() + offsets[i], inputs[i].size()});
    call.struct_size = sizeof call;
    call.count = kItems;
    call.key = keys.data();
    call.input.count = kItems;
    if (slices) {
      call.input.data = data.data();
      call.input.offsets = offsets.data();
    } else {
      call.input.items = items.data();
    }
    call.output = {output.data(), kItems, kStride, sizes.data()};
    call.item_status = statuses.data();
  }

  /// What would be read out of bounds if it were read again.
  void overwrite() {
    for (std::uint32_t& key : keys) key = 0x7fffffff;
    for (std::int64_t& offset : offsets) offset = std::int64_t{1} << 60;
    for (mm_bytes& item : items) item = {nullptr, std::size_t{1} << 60};
    for (std::uint8_t& status : statuses) status = MM_ITEM_RSA_LENGTH;
    for (std::size_t& size : sizes) size = std::size_t{1} << 60;
    std::ranges::fill(data, std::uint8_t{0x5a});
  }

  [[nodiscard]] Bytes result(std::size_t i) const {
    const auto begin = output.begin() + static_cast<std::ptrdiff_t>(kStride * i);
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(sizes[i], kStride))};
  }
};

rsa::Ring ring_of_two() {
  std::vector<std::shared_ptr<const rsa::Key>> keys;
  for (const std::size_t bits : {1031U, 1040U}) {
    keys.push_back(rsa::key_from_numbers(private_numbers(test_key(bits).bytes)));
  }
  return {ring_options(1), keys};
}

/// The results of a private operation whose arrays are overwritten when the powers are computed, or not.
std::vector<Bytes> results_of(mm_rsa_op op, const mm_rsa_padding& padding, std::span<const Bytes> inputs,
                              bool slices, bool overwritten) {
  Arrays arrays(inputs, slices);
  arrays.call.op = op;
  arrays.call.padding = padding;
  rsa::Ring ring = ring_of_two();
  unsigned times = 0;
  ring.set_fault_hook([&](rsa::FaultPoint point, std::span<Limb>, std::size_t) {
    if (point != rsa::FaultPoint::half_p) return;
    ++times;
    if (overwritten) arrays.overwrite();
  });
  EXPECT_EQ(ring.run(arrays.call), MM_OK) << mm_last_error();
  EXPECT_GT(times, 0U);
  EXPECT_EQ(count_of(arrays.statuses, MM_OK), kItems);
  std::vector<Bytes> results;
  for (std::size_t i = 0; i < kItems; ++i) results.push_back(arrays.result(i));
  return results;
}

TEST(RsaChangingMemory, DoesNotChangeSignatures) {
  const std::vector<Bytes> messages = messages_of(kItems);
  const mm_rsa_padding signing = padding(MM_RSA_PKCS1V15, MM_SHA256);
  for (const bool slices : {false, true}) {
    EXPECT_TRUE(results_of(MM_RSA_SIGN, signing, messages, slices, true) ==
                results_of(MM_RSA_SIGN, signing, messages, slices, false));
  }
}

// The first two ciphertexts have valid paddings, the others are random: the message of implicit rejection
// follows from the ciphertext that was decrypted. If it followed from bytes that were read later, a writer
// who repeats them would see whether the padding is valid.
TEST(RsaChangingMemory, DoesNotChangeDecryption) {
  const mm_rsa_padding pkcs1v15 = padding(MM_RSA_PKCS1V15);
  std::vector<Bytes> ciphertexts{oracle_encrypt(test_key(1031), bytes_of("one"), pkcs1v15),
                                 oracle_encrypt(test_key(1040), bytes_of("two"), pkcs1v15), noise(130, 1),
                                 noise(129, 2)};
  ciphertexts[2].front() = ciphertexts[3].front() = 0;
  for (const bool slices : {false, true}) {
    const std::vector<Bytes> expected = results_of(MM_RSA_DECRYPT, pkcs1v15, ciphertexts, slices, false);
    EXPECT_EQ(expected[0], bytes_of("one"));
    EXPECT_EQ(expected[1], bytes_of("two"));
    EXPECT_TRUE(results_of(MM_RSA_DECRYPT, pkcs1v15, ciphertexts, slices, true) == expected);
  }
}

// The checks of a call read each key, pointer, size and offset once: the copies are checked and used.
TEST(RsaChangingMemory, IsReadBeforeItIsChecked) {
  const rsa::Ring ring = ring_of_two();
  const std::vector<Bytes> inputs = messages_of(kItems);
  for (const bool slices : {false, true}) {
    Arrays arrays(inputs, slices);
    arrays.call.op = MM_RSA_VERIFY;
    arrays.call.padding = padding(MM_RSA_PSS, MM_SHA256);
    arrays.call.signature = arrays.call.input;
    std::vector<std::uint8_t> valid(kItems);
    arrays.call.valid = valid.data();
    const rsa::CheckedCall checked(ring, arrays.call);
    const std::vector<std::uint32_t> keys = arrays.keys;
    arrays.overwrite();
    const std::uint8_t* at = arrays.data.data();
    for (std::size_t i = 0; i < kItems; ++i) {
      EXPECT_EQ(checked.key_of(i), keys[i]);
      for (const ItemsIn* items : {&checked.input, &*checked.signature}) {
        EXPECT_EQ((*items)[i].size(), inputs[i].size());
        EXPECT_TRUE((*items)[i].empty() || (*items)[i].data() == at);
      }
      at += inputs[i].size();
    }
  }
}

}  // namespace
}  // namespace manymod::testing
