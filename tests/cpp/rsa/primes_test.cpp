// SPDX-License-Identifier: Apache-2.0
// Keys of more than two primes, and limits of keys for PSS alone, in the C interface.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rsa/test_rings.hpp"

namespace manymod::testing {
namespace {

using rsa::FaultPoint;

mm_rsa_padding pss(mm_hash hash, int salt = MM_RSA_SALT_DIGEST, mm_hash mgf = MM_HASH_NONE) {
  mm_rsa_padding wanted = padding(MM_RSA_PSS, hash);
  wanted.salt_length = salt;
  wanted.mgf_hash = mgf;
  return wanted;
}

std::shared_ptr<const rsa::Key> three_primes_key() {
  const ThreePrimes primes;
  const mm_rsa_prime other = primes.other();
  return rsa::key_from_numbers(primes.numbers(other));
}

TEST(RsaPrimes, OfTheCInterfaceMayBeThree) {
  const ThreePrimes primes;
  mm_rsa_prime other = primes.other();
  const KeyPointer key = make_key(primes.numbers(other));
  ASSERT_NE(key, nullptr);
  mm_rsa_key_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mm_rsa_key_get_info(key.get(), &info), MM_OK);
  EXPECT_EQ(info.primes, 3U);
  EXPECT_EQ(info.pss.only, 0);

  const auto refused = [&](const mm_rsa_numbers& numbers, mm_status status, const char* reason) {
    mm_rsa_key* created = nullptr;
    EXPECT_EQ(mm_rsa_key_create(&numbers, &created), status);
    EXPECT_NE(std::string(mm_last_error()).find(reason), std::string::npos) << mm_last_error();
  };
  other.coefficient = other.prime;
  refused(primes.numbers(other), MM_ERR_KEY, "the coefficient of prime 3 is not the inverse");
  other = {other.prime, other.prime, {}};
  refused(primes.numbers(other), MM_ERR_KEY, "the exponent of prime 3 is not d mod prime 3 - 1");
  other = {};
  refused(primes.numbers(other), MM_ERR_KEY, "prime 3 is missing");
  other = primes.other();
  mm_rsa_numbers numbers = primes.numbers(other);
  numbers.p = numbers.q = {};
  refused(numbers, MM_ERR_KEY, "other primes need p and q");
  numbers = primes.numbers(other);
  numbers.other_primes = nullptr;
  refused(numbers, MM_ERR_NULL, "other_primes is NULL");
  numbers.other_prime_count = MM_RSA_MAX_PRIMES - 1;
  refused(numbers, MM_ERR_KEY, "more than 10 primes");
}

TEST(RsaPrimes, FaultsModuloAnyOfThreeNeverLeave) {
  const std::shared_ptr<const rsa::Key> keys[] = {three_primes_key()};
  for (const std::size_t items : {1U, 5U, 33U}) {
    const std::vector<Bytes> messages = messages_of(items);
    RingOfKeys ring(keys, ring_options(1));
    const std::vector<Bytes> expected = ring.sign(messages).outputs;
    EXPECT_EQ(ring.recomputed(), 0U);
    std::uint64_t faults = 0;
    for (const FaultPoint point : {FaultPoint::half_p, FaultPoint::half_q, FaultPoint::other_prime}) {
      for (const std::size_t bit : {0U, 63U, 300U}) {
        ring.flip(point, bit % items, bit);
        const Results results = ring.sign(messages);
        EXPECT_EQ(results.outputs, expected);
        EXPECT_EQ(results.recomputed[bit % items], 1);
        EXPECT_EQ(ring.recomputed(), ++faults);
      }
    }
  }
}

TEST(RsaPrimes, OfOneRingMayBeTwoAndThree) {
  // 1536 and 1544 bits have different numbers of limbs; two keys of three primes share their rows.
  const std::shared_ptr<const rsa::Key> keys[] = {
      three_primes_key(), rsa::key_from_numbers(private_numbers(test_key(1536).bytes)), three_primes_key()};
  const std::vector<Bytes> messages = messages_of(9);
  const std::vector<std::uint32_t> key_of{0, 1, 2, 2, 1, 0, 0, 1, 2};
  const std::vector<Bytes> outputs = RingOfKeys(keys, ring_options(2)).sign(messages, key_of).outputs;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    RingOfKeys alone({&keys[key_of[i]], 1}, ring_options(1));
    EXPECT_EQ(outputs[i], alone.sign({&messages[i], 1}).outputs[0]) << i;
  }
}

TEST(RsaLimits, OfKeysForPssAlone) {
  const TestKey& test = test_key(1024);
  mm_rsa_numbers numbers = private_numbers(test.bytes);
  numbers.pss = {1, MM_SHA256, MM_SHA256, 20};
  const KeyPointer key = make_key(numbers);
  mm_rsa_ring* made = nullptr;
  const mm_rsa_key* keys[] = {key.get()};
  ASSERT_EQ(mm_rsa_ring_create(nullptr, keys, 1, &made), MM_OK);
  const RingPointer ring(made);
  const std::vector<Bytes> messages = messages_of(2);
  for (const int salt : {20, 21, MM_RSA_SALT_DIGEST, MM_RSA_SALT_MAX}) {
    const mm_rsa_padding good = pss(MM_SHA256, salt);
    EXPECT_EQ(run(ring.get(), MM_RSA_SIGN, good, messages).status, MM_OK) << salt;
  }
  const std::vector<std::uint8_t> refused{MM_ITEM_RSA_PADDING, MM_ITEM_RSA_PADDING};
  for (const mm_rsa_padding& bad : {padding(MM_RSA_PKCS1V15, MM_SHA256), pss(MM_SHA384), pss(MM_SHA256, 19),
                                    pss(MM_SHA256, 20, MM_SHA1)}) {
    const Results results = run(ring.get(), MM_RSA_SIGN, bad, messages);
    EXPECT_EQ(results.status, MM_ERR_ITEMS);
    EXPECT_EQ(results.item_status, refused);
  }
  EXPECT_EQ(run(ring.get(), MM_RSA_ENCRYPT, padding(MM_RSA_OAEP, MM_SHA256), messages).item_status, refused);
  EXPECT_EQ(run(ring.get(), MM_RSA_PUBLIC, padding(MM_RSA_RAW, MM_HASH_NONE), messages).item_status, refused);

  numbers.pss.least_salt = -1;
  mm_rsa_key* wrong = nullptr;
  EXPECT_EQ(mm_rsa_key_create(&numbers, &wrong), MM_ERR_ARGUMENT);
  numbers.pss = {1, static_cast<mm_hash>(MM_HASH_COUNT), MM_HASH_NONE, 0};
  EXPECT_EQ(mm_rsa_key_create(&numbers, &wrong), MM_ERR_ARGUMENT);
}

}  // namespace
}  // namespace manymod::testing
