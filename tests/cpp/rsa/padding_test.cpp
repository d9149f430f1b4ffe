// SPDX-License-Identifier: Apache-2.0
// Removing padding: implicit rejection compared with results of OpenSSL, and every kind of invalid padding.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "rsa/padding.hpp"
#include "rsa/test_calls.hpp"

namespace manymod::testing {
namespace {

namespace ct = manymod::constant_time;

/// Decryption of the number `ciphertext` by OpenSSL 4.0.3 (through cryptography 50.0.2), PKCS#1 v1.5 with
/// implicit rejection.
struct Rejected {
  std::size_t bits;
  std::uint8_t ciphertext;
  std::size_t size;
  const char* sha256;
};
constexpr Rejected kRejected[] = {
    {1024, 2, 46, "a35ea9ca019802f0d0f69b00d23681d55e8b492ee5d93337a66af8f8cad15fcd"},
    {1024, 3, 101, "56e0dd4e90b67cc9f203c25d26e845c911c30b8ba7359764f4b528257886453a"},
    {1024, 4, 50, "b65170dd8430b3665a534aaf4d67eb13119ab8029a8431f1d38ac4e34eb7ba44"},
    {1024, 5, 114, "f857cc739856ace3da7d469080aec01ff22c7b2ba210fba8ed9b610a09bf1e6a"},
    {1024, 6, 48, "7d080d6f320b25165304e09b9a83931490d98ac1574e4326ba1f4937cbec0a95"},
    {1024, 7, 36, "342ff758bb42ff4643336d55ac4447acea36e8ea51982d85617fe2087cc04f76"},
    {1031, 2, 87, "74a1a77858c052a100584a8fa0a0c14921aba4a651a528527e9dd0647dc375e0"},
    {1031, 3, 82, "c144413236c2e37a685ce58edf1f29cef13177b8eee1415822c83bdb91c610a6"},
    {1031, 4, 25, "6225aa024224d6c38e823330864e19ca0939bdf9b6d3f3d6a375b7fb16c011f0"},
    {1031, 5, 24, "37c8b88c8acd4cdc8fd95a81dca13031f0f4476815b088df958e1e94819a6ab5"},
    {1031, 6, 70, "c1b8afa316268d04dd1d37fecec0286c6c1be3f0ca28dd3c313aedd105c2854c"},
    {1031, 7, 83, "294e5cfbfdec5a581db8b07af127205807e86c5906d7db047347a92cc5710f4a"},
    {2048, 2, 50, "bab04979c075e17bb249ec360e0f8938ba05f3d8e8d87eab366b08e8ce30cc30"},
    {2048, 3, 206, "718ddf698e99a48478956db1939806a834c32e3e394e593a788b423ad5efd249"},
    {2048, 4, 149, "2576a971c625401ce353474024cb3128f73a0ecfd2298525b256ec3f42d078c5"},
    {2048, 5, 68, "a4dbb9befac17b758f85a0e18fb34e9166d8fd9f05d37a9adcae63daff4340c1"},
    {2048, 6, 241, "e8504c2d9b98a0802d3e38333a7afd06308cfe502aea51646dc74192f9264d90"},
    {2048, 7, 214, "2832a911f68e15feb285023df669013b284c65d3ff365496b9f9e89464d2bc3d"},
};

std::string sha256_hex(const Bytes& message) {
  std::array<std::uint8_t, 32> digest;
  EXPECT_EQ(EVP_Digest(message.data(), message.size(), digest.data(), nullptr, EVP_sha256(), nullptr), 1);
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(RsaPadding, BadPkcs1v15PaddingGivesOpenSslsSyntheticMessages) {
  for (const Rejected& rejected : kRejected) {
    const RingPointer ring = make_ring(rejected.bits);
    Bytes ciphertext(test_key(rejected.bits).k());
    ciphertext.back() = rejected.ciphertext;
    const std::vector<Bytes> ciphertexts(3, ciphertext);
    const Results results = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_PKCS1V15), ciphertexts);
    ASSERT_EQ(results.status, MM_OK) << mm_last_error();
    for (const Bytes& message : results.outputs) {
      EXPECT_EQ(message.size(), rejected.size);
      EXPECT_EQ(sha256_hex(message), rejected.sha256);
    }
  }
}

/// Ciphertexts of already encoded messages.
std::vector<Bytes> sealed(const TestKey& key, const std::vector<Bytes>& encoded) {
  std::vector<Bytes> ciphertexts;
  for (const Bytes& bytes : encoded) ciphertexts.push_back(oracle_power(key, bytes, false));
  return ciphertexts;
}

TEST(RsaPadding, Pkcs1v15PaddingIsGoodOrAnsweredByASyntheticMessage) {
  const TestKey& key = test_key(1024);
  const RingPointer ring = make_ring(1024);
  const std::size_t k = key.k();
  Bytes shortest(k, 0x55);  // 8 bytes of padding
  shortest[0] = 0;
  shortest[1] = 2;
  shortest[10] = 0;
  std::vector<Bytes> good{shortest};
  good.push_back(shortest);
  good.back()[k / 2] = 0;  // a second zero belongs to the message
  Bytes empty(k, 0x55);
  empty[0] = 0;
  empty[1] = 2;
  empty[k - 1] = 0;
  good.push_back(empty);
  const Results opened = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_PKCS1V15), sealed(key, good));
  ASSERT_EQ(opened.status, MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(opened.outputs[i], Bytes(good[i].begin() + 11, good[i].end()));
  EXPECT_TRUE(opened.outputs[2].empty());

  std::vector<Bytes> bad(14, shortest);
  bad[0][0] = 1;
  bad[1][1] = 1;
  bad[2][1] = 0;
  bad[3].assign(k, 0x55);  // no zero at all
  bad[3][0] = 0;
  bad[3][1] = 2;
  for (std::size_t i = 0; i < 8; ++i) bad[4 + i][2 + i] = 0;  // a zero among the 8 bytes
  bad[12].assign(k, 0);
  bad[13][1] = 0x82;
  const std::vector<Bytes> ciphertexts = sealed(key, bad);
  const Results first = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_PKCS1V15), ciphertexts);
  const Results again = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_PKCS1V15), ciphertexts);
  EXPECT_EQ(first.status, MM_OK);
  EXPECT_EQ(first.outputs, again.outputs);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_LE(first.outputs[i].size(), k - 11);
    // The message is not part of the encoded one, except by chance, which is likelier for short messages.
    const Bytes& message = first.outputs[i];
    EXPECT_TRUE(message.size() < 8 ||
                std::search(bad[i].begin(), bad[i].end(), message.begin(), message.end()) == bad[i].end());
  }
}

/// The OAEP encoding of a given data block, with `first` as its first byte.
Bytes oaep_encoded(std::size_t k, const Bytes& data_block, std::uint8_t first) {
  crypto::Hasher mgf(MM_SHA256);
  const std::size_t digest = mgf.size();
  Bytes encoded(k);
  encoded[0] = first;
  const Bytes seed = noise(digest, 5);
  std::copy(seed.begin(), seed.end(), encoded.begin() + 1);
  std::copy(data_block.begin(), data_block.end(), encoded.begin() + 1 + static_cast<std::ptrdiff_t>(digest));
  const std::span<std::uint8_t> all(encoded);
  mgf.xor_mask(all.subspan(1 + digest), seed);
  mgf.xor_mask(all.subspan(1, digest), all.subspan(1 + digest));
  return encoded;
}

TEST(RsaPadding, EveryFlawOfOaepPaddingIsTheSameError) {
  const TestKey& key = test_key(1031);
  const RingPointer ring = make_ring(1031);
  const std::size_t k = key.k();
  const std::size_t size = k - 33;
  Bytes good(size);
  crypto::Hasher(MM_SHA256).digest(std::span(good).first(32), {});
  good[60] = 1;
  good[61] = 0x77;
  std::vector<Bytes> encoded{oaep_encoded(k, good, 0)};
  encoded.push_back(oaep_encoded(k, good, 1));  // below n: its top byte is above 1
  for (std::size_t i = 0; i < 61; ++i) {
    Bytes bad = good;
    bad[i] = static_cast<std::uint8_t>(bad[i] ^ (i == 60 ? 1 : 0x80));  // 60: no separator, 0x77 follows
    encoded.push_back(oaep_encoded(k, bad, 0));
  }
  Bytes nothing(good.begin(), good.begin() + 32);
  nothing.resize(size);
  encoded.push_back(oaep_encoded(k, nothing, 0));
  const Results results =
      run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_OAEP, MM_SHA256), sealed(key, encoded));
  EXPECT_EQ(results.status, MM_ERR_ITEMS);
  EXPECT_EQ(results.item_status[0], MM_OK);
  EXPECT_EQ(results.outputs[0], Bytes(good.begin() + 61, good.end()));
  EXPECT_EQ(count_of(results.item_status, MM_ITEM_RSA_DECRYPTION), encoded.size() - 1);
  for (std::size_t i = 1; i < encoded.size(); ++i) EXPECT_TRUE(results.outputs[i].empty());
  EXPECT_TRUE(results.zero_behind);
  // A label other than the encoded one is an error.
  mm_rsa_padding labelled = padding(MM_RSA_OAEP, MM_SHA256);
  const Bytes label = bytes_of("other");
  labelled.label = view_of(label);
  const std::vector<Bytes> first{encoded[0]};
  EXPECT_EQ(run(ring.get(), MM_RSA_DECRYPT, labelled, sealed(key, first)).item_status[0],
            MM_ITEM_RSA_DECRYPTION);
}

TEST(RsaPadding, CiphertextsOfWrongSizeOrRangeAreTold) {
  const TestKey& key = test_key(1024);
  const RingPointer ring = make_ring(1024);
  const std::vector<Bytes> ciphertexts{{}, Bytes(127), Bytes(129), key.bytes.n, Bytes(128, 0xff)};
  for (const auto& wanted : {padding(MM_RSA_PKCS1V15), padding(MM_RSA_OAEP, MM_SHA1)}) {
    const Results results = run(ring.get(), MM_RSA_DECRYPT, wanted, ciphertexts);
    EXPECT_EQ(results.status, MM_ERR_ITEMS);
    EXPECT_EQ(results.item_status,
              (std::vector<std::uint8_t>{MM_ITEM_RSA_LENGTH, MM_ITEM_RSA_LENGTH, MM_ITEM_RSA_LENGTH,
                                         MM_ITEM_RSA_RANGE, MM_ITEM_RSA_RANGE}));
    EXPECT_TRUE(results.zero_behind);
  }
}

TEST(RsaPadding, NoiseIsAnsweredAndNothingIsLeftBehind) {
  const RingPointer ring = make_ring(1031);
  std::vector<Bytes> ciphertexts;
  for (std::uint64_t i = 0; i < 64; ++i) {
    ciphertexts.push_back(noise(129, i));
    ciphertexts.back()[0] = static_cast<std::uint8_t>(i % 32);
  }
  const Results oaep = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_OAEP, MM_SHA256), ciphertexts);
  EXPECT_EQ(count_of(oaep.item_status, MM_ITEM_RSA_DECRYPTION), 64U);
  EXPECT_TRUE(oaep.zero_behind);
  const Results pkcs = run(ring.get(), MM_RSA_DECRYPT, padding(MM_RSA_PKCS1V15), ciphertexts);
  EXPECT_EQ(pkcs.status, MM_OK);
  EXPECT_TRUE(pkcs.zero_behind);
}

TEST(RsaBytes, BecomeLimbsAndBack) {
  for (std::size_t size = 0; size <= 33; ++size) {
    const Bytes bytes = noise(size, size + 1);
    for (std::size_t width = (size + 7) / 8; width <= 6; ++width) {
      std::vector<Limb> limbs(width, 0x1111111111111111);
      limbs_from_bytes(limbs, bytes);
      for (std::size_t i = 0; i < 8 * width; ++i) {
        const auto byte = static_cast<std::uint8_t>(limbs[i / 8] >> (8 * (i % 8)));
        EXPECT_EQ(byte, i < size ? bytes[size - 1 - i] : 0) << size << " bytes, " << width << " limbs";
      }
      for (std::size_t wanted = 0; wanted <= 8 * width + 3; ++wanted) {
        Bytes expected(wanted);
        for (std::size_t i = 0; i < std::min(wanted, size); ++i)
          expected[wanted - 1 - i] = bytes[size - 1 - i];
        Bytes back(wanted, 0xee);
        bytes_from_limbs(back, limbs);
        EXPECT_EQ(back, expected) << size << " bytes, " << width << " limbs, " << wanted << " back";
      }
    }
  }
}

TEST(RsaConstantTime, MasksAndShiftsAreRight) {
  for (std::uint64_t x = 0; x < 300; ++x) {
    EXPECT_EQ(ct::is_zero(x), x == 0 ? ~std::uint64_t{0} : 0);
    for (const std::uint64_t y : {std::uint64_t{0}, x, x + 1, std::uint64_t{255}}) {
      EXPECT_EQ(ct::equal(x, y), x == y ? ~std::uint64_t{0} : 0);
      EXPECT_EQ(ct::less(x, y), x < y ? ~std::uint64_t{0} : 0);
      EXPECT_EQ(ct::select(ct::less(x, y), x, y), std::min(x, y));
    }
  }
  for (std::size_t size = 0; size <= 17; ++size) {
    for (std::size_t distance = 0; distance <= size; ++distance) {
      Bytes bytes = noise(size, size);
      Bytes expected(bytes.begin() + static_cast<std::ptrdiff_t>(distance), bytes.end());
      expected.resize(size);
      ct::shift_to_front(bytes, distance);
      EXPECT_EQ(bytes, expected) << size << " by " << distance;
    }
  }
}

}  // namespace
}  // namespace manymod::testing
