// SPDX-License-Identifier: Apache-2.0
// Every operation against libcrypto, in both directions, over sizes, hashes, key rings and forms of input.
#include <gtest/gtest.h>

#include <string>

#include "rsa/test_calls.hpp"

namespace manymod::testing {
namespace {

/// The keys of a mixed batch and the key of each item.
struct Mixed {
  std::vector<std::size_t> bits;
  std::vector<std::uint32_t> key_of;

  [[nodiscard]] const TestKey& key(std::size_t item) const { return test_key(bits[key_of[item]]); }
};

/// Many items of one key, some of a second, one of each other key, in mixed order.
Mixed mixed_batch(std::size_t items) {
  Mixed mixed{{1024, 2048, 1031, 1536, 3072}, {}};
  for (std::size_t i = 0; i < items; ++i) {
    mixed.key_of.push_back(i % 7 == 3 ? static_cast<std::uint32_t>(1 + i / 7 % 4) : i % 5 == 4 ? 2U : 0U);
  }
  return mixed;
}

void expect_signatures(const Mixed& mixed, const mm_rsa_padding& wanted, const std::vector<Bytes>& messages) {
  const RingPointer ring = make_ring(mixed.bits);
  const Results ours = run(ring.get(), MM_RSA_SIGN, wanted, messages, mixed.key_of);
  ASSERT_EQ(ours.status, MM_OK) << mm_last_error();
  std::vector<Bytes> theirs;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const TestKey& key = mixed.key(i);
    ASSERT_EQ(ours.outputs[i].size(), key.k());
    EXPECT_TRUE(oracle_verify(key, messages[i], ours.outputs[i], wanted)) << "item " << i;
    theirs.push_back(oracle_sign(key, messages[i], wanted));
    EXPECT_TRUE(wanted.scheme == MM_RSA_PSS || ours.outputs[i] == theirs.back()) << "item " << i;
  }
  const Results verified = run(ring.get(), MM_RSA_VERIFY, wanted, messages, mixed.key_of, theirs);
  EXPECT_EQ(verified.status, MM_OK) << mm_last_error();
  EXPECT_EQ(count_of(verified.valid, 1), messages.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i][(i * 11) % theirs[i].size()] ^= 0x10;
  const Results damaged = run(ring.get(), MM_RSA_VERIFY, wanted, messages, mixed.key_of, theirs);
  EXPECT_EQ(damaged.status, MM_OK) << mm_last_error();
  EXPECT_EQ(count_of(damaged.valid, 0), messages.size());
}

TEST(RsaOperations, SignaturesOfMixedKeysAgreeWithLibcrypto) {
  const Mixed mixed = mixed_batch(40);
  const std::vector<Bytes> messages = messages_of(40);
  expect_signatures(mixed, padding(MM_RSA_PKCS1V15, MM_SHA256), messages);
  expect_signatures(mixed, padding(MM_RSA_PSS, MM_SHA256), messages);
  expect_signatures(mixed, padding(MM_RSA_PSS, MM_SHA384, MM_RSA_SALT_MAX, MM_SHA1), messages);
  expect_signatures(mixed, padding(MM_RSA_PSS, MM_SHA3_256, 0), messages);
  expect_signatures(mixed, padding(MM_RSA_PSS, MM_SHA512_256, 17), messages);
}

TEST(RsaOperations, SignaturesByEveryHashAgreeWithLibcrypto) {
  const Mixed one{{1031}, {0, 0, 0}};
  for (const HashName& hash : kHashNames) {
    SCOPED_TRACE(hash.name);
    EXPECT_EQ(mm_hash_size(hash.hash), static_cast<std::size_t>(EVP_MD_get_size(oracle_hash(hash.hash))));
    expect_signatures(one, padding(MM_RSA_PKCS1V15, hash.hash), messages_of(3));
    const int salt = hash.hash == MM_SHA512 || hash.hash == MM_SHA3_512 ? 20 : MM_RSA_SALT_DIGEST;
    expect_signatures(one, padding(MM_RSA_PSS, hash.hash, salt), messages_of(3));
  }
  EXPECT_EQ(mm_hash_size(MM_HASH_NONE), 0U);
  EXPECT_EQ(mm_hash_size(static_cast<mm_hash>(MM_HASH_COUNT)), 0U);
}

TEST(RsaOperations, LargeKeysAgreeWithLibcrypto) {
  const Mixed large{{4096, 8192}, {0, 1, 0}};
  expect_signatures(large, padding(MM_RSA_PSS, MM_SHA512), messages_of(3));
  expect_signatures(large, padding(MM_RSA_PKCS1V15, MM_SHA384), messages_of(3));
}

TEST(RsaOperations, PssSaltLengthsAreCheckedUnlessAuto) {
  const RingPointer ring = make_ring(2048);
  const std::vector<Bytes> messages = messages_of(4);
  const Results salted = run(ring.get(), MM_RSA_SIGN, padding(MM_RSA_PSS, MM_SHA256, 20), messages);
  ASSERT_EQ(salted.status, MM_OK);
  const auto accepted = [&](int salt) {
    return count_of(
        run(ring.get(), MM_RSA_VERIFY, padding(MM_RSA_PSS, MM_SHA256, salt), messages, {}, salted.outputs)
            .valid,
        1);
  };
  EXPECT_EQ(accepted(20), 4U);
  EXPECT_EQ(accepted(MM_RSA_SALT_AUTO), 4U);
  for (const int salt : {0, 19, 21, 4000, MM_RSA_SALT_DIGEST, MM_RSA_SALT_MAX}) EXPECT_EQ(accepted(salt), 0U);
}

TEST(RsaOperations, DigestsAreSignedAsTheirMessages) {
  const RingPointer ring = make_ring(1024);
  const std::vector<Bytes> messages = messages_of(5);
  std::vector<Bytes> digests(5, Bytes(32));
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(
        EVP_Digest(messages[i].data(), messages[i].size(), digests[i].data(), nullptr, EVP_sha256(), nullptr),
        1);
  }
  mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  const Results of_messages = run(ring.get(), MM_RSA_SIGN, wanted, messages);
  wanted.prehashed = 1;
  digests.emplace_back(31);
  const Results of_digests = run(ring.get(), MM_RSA_SIGN, wanted, digests);
  EXPECT_EQ(of_digests.status, MM_ERR_ITEMS);
  EXPECT_EQ(of_digests.item_status[5], MM_ITEM_RSA_LENGTH);
  EXPECT_TRUE(of_digests.outputs[5].empty() && of_digests.zero_behind);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(of_digests.outputs[i], of_messages.outputs[i]);
  std::vector<Bytes> signatures = of_messages.outputs;
  signatures.push_back(signatures[0]);
  const Results verified = run(ring.get(), MM_RSA_VERIFY, wanted, digests, {}, signatures);
  EXPECT_EQ(verified.status, MM_ERR_ITEMS);
  EXPECT_EQ(verified.item_status[5], MM_ITEM_RSA_LENGTH);
  EXPECT_EQ(verified.valid, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 0}));
}

void expect_encryption(const Mixed& mixed, const mm_rsa_padding& wanted, const std::vector<Bytes>& messages) {
  const RingPointer ring = make_ring(mixed.bits);
  const Results ours = run(ring.get(), MM_RSA_ENCRYPT, wanted, messages, mixed.key_of);
  ASSERT_EQ(ours.status, MM_OK) << mm_last_error();
  std::vector<Bytes> ciphertexts;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(oracle_decrypt(mixed.key(i), ours.outputs[i], wanted), messages[i]) << "item " << i;
    ciphertexts.push_back(oracle_encrypt(mixed.key(i), messages[i], wanted));
  }
  const Results back = run(ring.get(), MM_RSA_DECRYPT, wanted, ciphertexts, mixed.key_of);
  ASSERT_EQ(back.status, MM_OK) << mm_last_error();
  EXPECT_EQ(back.outputs, messages);
  EXPECT_TRUE(back.zero_behind);
  EXPECT_EQ(count_of(back.recomputed, 0), messages.size());
}

TEST(RsaOperations, EncryptionAgreesWithLibcrypto) {
  const Mixed mixed = mixed_batch(30);
  const std::vector<Bytes> messages = messages_of(30, 60);
  expect_encryption(mixed, padding(MM_RSA_PKCS1V15), messages);
  expect_encryption(mixed, padding(MM_RSA_OAEP, MM_SHA1), messages);
  expect_encryption(mixed, padding(MM_RSA_OAEP, MM_SHA256), messages);
  mm_rsa_padding labelled = padding(MM_RSA_OAEP, MM_SHA3_224, 0, MM_SHA512);
  const Bytes label = bytes_of("label");
  labelled.label = view_of(label);
  expect_encryption(mixed, labelled, messages);
}

TEST(RsaOperations, LongestMessagesFitAndLongerOnesDoNot) {
  const RingPointer ring = make_ring(1031);
  const struct {
    mm_rsa_padding padding;
    std::size_t longest;
  } cases[] = {{padding(MM_RSA_PKCS1V15), 129 - 11},
               {padding(MM_RSA_OAEP, MM_SHA256), 129 - 66},
               {padding(MM_RSA_OAEP, MM_SHA384), 129 - 98}};
  for (const auto& [wanted, longest] : cases) {
    const std::vector<Bytes> messages{noise(longest, 1), noise(longest + 1, 2), noise(0, 3)};
    const Results sealed = run(ring.get(), MM_RSA_ENCRYPT, wanted, messages);
    EXPECT_EQ(sealed.status, MM_ERR_ITEMS);
    EXPECT_EQ(sealed.item_status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_LENGTH, MM_OK}));
    EXPECT_NE(std::string(mm_last_error()).find("1 of 3 items have no result; the first is item 1"),
              std::string::npos);
    const std::vector<Bytes> good{sealed.outputs[0], sealed.outputs[2]};
    const Results opened = run(ring.get(), MM_RSA_DECRYPT, wanted, good);
    EXPECT_EQ(opened.status, MM_OK);
    EXPECT_EQ(opened.outputs, (std::vector<Bytes>{messages[0], messages[2]}));
  }
  // Two digests of 64 bytes and 2 more do not fit in 129 bytes.
  const std::vector<Bytes> empty(1);
  EXPECT_EQ(run(ring.get(), MM_RSA_ENCRYPT, padding(MM_RSA_OAEP, MM_SHA512), empty).item_status[0],
            MM_ITEM_RSA_LENGTH);
  const std::vector<Bytes> any{Bytes(129)};
  EXPECT_EQ(run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_OAEP, MM_SHA512), any).item_status[0],
            MM_ITEM_RSA_LENGTH);
  EXPECT_EQ(run(ring.get(), MM_RSA_SIGN, padding(MM_RSA_PSS, MM_SHA512), empty).item_status[0],
            MM_ITEM_RSA_LENGTH);
}

TEST(RsaOperations, RawPowersAgreeWithLibcrypto) {
  const Mixed mixed = mixed_batch(30);
  const RingPointer ring = make_ring(mixed.bits);
  std::vector<Bytes> numbers;
  for (std::size_t i = 0; i < 30; ++i) numbers.push_back(noise(i * 4 + 1, i));
  numbers[1] = {};           // 0
  numbers[2] = Bytes{0, 1};  // 1
  const Results with_public = run(ring.get(), MM_RSA_PUBLIC, padding(MM_RSA_RAW), numbers, mixed.key_of);
  const Results with_private = run(ring.get(), MM_RSA_PRIVATE, padding(MM_RSA_RAW), numbers, mixed.key_of);
  ASSERT_EQ(with_public.status, MM_OK) << mm_last_error();
  ASSERT_EQ(with_private.status, MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(with_public.outputs[i], oracle_power(mixed.key(i), numbers[i], false)) << "item " << i;
    EXPECT_EQ(with_private.outputs[i], oracle_power(mixed.key(i), numbers[i], true)) << "item " << i;
  }
}

TEST(RsaOperations, NumbersAtTheEdgesOfTheModulus) {
  const TestKey& key = test_key(1024);
  const RingPointer ring = make_ring(1024);
  Bytes below = key.bytes.n;
  below.back() = static_cast<std::uint8_t>(below.back() - 1);  // n is odd
  std::vector<Bytes> numbers{below, key.bytes.n, Bytes(128, 0xff), Bytes(129), key.bytes.p, key.bytes.q};
  for (const mm_rsa_op op : {MM_RSA_PUBLIC, MM_RSA_PRIVATE}) {
    const Results results = run(ring.get(), op, padding(MM_RSA_RAW), numbers);
    EXPECT_EQ(results.status, MM_ERR_ITEMS);
    EXPECT_EQ(results.item_status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_RANGE, MM_ITEM_RSA_RANGE,
                                                              MM_ITEM_RSA_LENGTH, MM_OK, MM_OK}));
    EXPECT_EQ(results.outputs[0], below);  // (-1)^odd = -1
    // p is not invertible modulo n, which must not disturb blinding.
    EXPECT_EQ(results.outputs[4], oracle_power(key, key.bytes.p, op == MM_RSA_PRIVATE));
    EXPECT_EQ(results.outputs[5], oracle_power(key, key.bytes.q, op == MM_RSA_PRIVATE));
  }
}

TEST(RsaOperations, BadSignaturesAreInvalidNotErrors) {
  const TestKey& key = test_key(1031);
  const RingPointer ring = make_ring(1031);
  const std::vector<Bytes> messages(6, bytes_of("message"));
  for (const mm_rsa_scheme scheme : {MM_RSA_PKCS1V15, MM_RSA_PSS}) {
    const mm_rsa_padding wanted = padding(scheme, MM_SHA256);
    const Bytes good = oracle_sign(key, messages[0], wanted);
    Bytes longer = good;
    longer.insert(longer.begin(), 0);
    const std::vector<Bytes> signatures{
        {}, Bytes(good.begin() + 1, good.end()), longer, key.bytes.n, Bytes(129, 0xff), good};
    const Results results = run(ring.get(), MM_RSA_VERIFY, wanted, messages, {}, signatures);
    EXPECT_EQ(results.status, MM_OK) << mm_last_error();
    EXPECT_EQ(results.valid, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1}));
    constexpr std::uint8_t kLength = MM_ITEM_RSA_SIGNATURE_LENGTH;
    EXPECT_EQ(results.item_status,
              (std::vector<std::uint8_t>{kLength, kLength, kLength, MM_OK, MM_OK, MM_OK}));
  }
}

TEST(RsaOperations, EveryBitOfAnEncodedSignatureCounts) {
  // Signatures whose encoded message is wrong in one bit, computed with the private key.
  const TestKey& key = test_key(1024);
  const RingPointer ring = make_ring(1024);
  for (const mm_rsa_scheme scheme : {MM_RSA_PKCS1V15, MM_RSA_PSS}) {
    const mm_rsa_padding wanted = padding(scheme, MM_SHA256);
    const Bytes encoded = oracle_power(key, oracle_sign(key, bytes_of("message"), wanted), false);
    std::vector<Bytes> changed;
    for (std::size_t bit = 0; bit < 8 * encoded.size(); bit += 5) {
      changed.push_back(encoded);
      changed.back()[bit / 8] = static_cast<std::uint8_t>(changed.back()[bit / 8] ^ (1U << (bit % 8)));
      if (changed.back() >= key.bytes.n) changed.pop_back();
    }
    changed.push_back(encoded);
    const Results forged = run(ring.get(), MM_RSA_PRIVATE, padding(MM_RSA_RAW), changed);
    ASSERT_EQ(forged.status, MM_OK) << mm_last_error();
    const std::vector<Bytes> messages(changed.size(), bytes_of("message"));
    const Results results = run(ring.get(), MM_RSA_VERIFY, wanted, messages, {}, forged.outputs);
    EXPECT_EQ(results.valid.back(), 1);
    EXPECT_EQ(count_of(results.valid, 1), 1U);
  }
}

TEST(RsaOperations, MissingKeysAreStatusesOfTheirItems) {
  const mm_rsa_key* keys[] = {test_key(1024).key.get(), test_key(1031).open.get()};
  const mm_rsa_ring_options options = ring_options();
  mm_rsa_ring* made = nullptr;
  ASSERT_EQ(mm_rsa_ring_create(&options, keys, 2, &made), MM_OK) << mm_last_error();
  const RingPointer ring(made);
  const std::vector<std::uint32_t> key_of{0, 1, 2, 0xffffffff, 0};
  const std::vector<Bytes> messages = messages_of(5);
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  const Results ours = run(ring.get(), MM_RSA_SIGN, wanted, messages, key_of);
  EXPECT_EQ(ours.status, MM_ERR_ITEMS);
  EXPECT_EQ(ours.item_status,
            (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_KEY, MM_ITEM_RSA_KEY, MM_ITEM_RSA_KEY, MM_OK}));
  EXPECT_EQ(ours.outputs[4], oracle_sign(test_key(1024), messages[4], wanted));
  std::vector<Bytes> signatures = ours.outputs;
  signatures[1] = oracle_sign(test_key(1031), messages[1], wanted);
  const Results verified = run(ring.get(), MM_RSA_VERIFY, wanted, messages, key_of, signatures);
  EXPECT_EQ(verified.item_status,
            (std::vector<std::uint8_t>{MM_OK, MM_OK, MM_ITEM_RSA_KEY, MM_ITEM_RSA_KEY, MM_OK}));
  EXPECT_EQ(verified.valid, (std::vector<std::uint8_t>{1, 1, 0, 0, 1}));
}

TEST(RsaOperations, WithoutBlindingOnSeveralThreadsAndOnlyOneTheResultsAreTheSame) {
  const std::vector<Bytes> messages = messages_of(50);
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  mm_rsa_ring_options options = ring_options(1);
  const std::vector<Bytes> expected =
      run(make_ring(1536, options).get(), MM_RSA_SIGN, wanted, messages).outputs;
  EXPECT_EQ(expected[49], oracle_sign(test_key(1536), messages[49], wanted));
  options.threads = 4;
  EXPECT_EQ(run(make_ring(1536, options).get(), MM_RSA_SIGN, wanted, messages).outputs, expected);
  options.blinding = MM_RSA_BLINDING_OFF;
  EXPECT_EQ(run(make_ring(1536, options).get(), MM_RSA_SIGN, wanted, messages).outputs, expected);
}

TEST(RsaOperations, ARingOutlivesItsKeysAndBlindingOutlivesItsPair) {
  const TestKey& key = test_key(1024);
  KeyPointer own = make_key(private_numbers(key.bytes));
  const mm_rsa_key* keys[] = {own.get()};
  mm_rsa_ring* made = nullptr;
  ASSERT_EQ(mm_rsa_ring_create(nullptr, keys, 1, &made), MM_OK) << mm_last_error();
  const RingPointer ring(made);
  own.reset();
  // More items than the uses of a blinding pair, over several calls.
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  for (int call = 0; call < 5; ++call) {
    const std::vector<Bytes> messages = messages_of(61);
    const Results results = run(ring.get(), MM_RSA_SIGN, wanted, messages);
    ASSERT_EQ(results.status, MM_OK) << mm_last_error();
    EXPECT_EQ(count_of(results.recomputed, 0), 61U);
    EXPECT_EQ(results.outputs[60], oracle_sign(key, messages[60], wanted));
  }
  mm_rsa_ring_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(mm_rsa_ring_get_info(ring.get(), &info), MM_OK);
  EXPECT_EQ(info.keys, 1U);
  EXPECT_EQ(info.max_modulus_bytes, 128U);
  EXPECT_EQ(info.private_items, 305U);
  EXPECT_EQ(info.recomputed, 0U);
  EXPECT_STRNE(mm_rsa_ring_variant(ring.get(), 0, 1, 64), "");
  EXPECT_STRNE(mm_rsa_ring_variant(ring.get(), 0, 0, 64), "");
  EXPECT_STREQ(mm_rsa_ring_variant(ring.get(), 1, 0, 64), "");
  EXPECT_STREQ(mm_rsa_ring_variant(nullptr, 0, 0, 64), "");
}

}  // namespace
}  // namespace manymod::testing
