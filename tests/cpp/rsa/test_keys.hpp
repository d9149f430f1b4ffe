// SPDX-License-Identifier: Apache-2.0
// Test keys as keys of this library and of libcrypto, which is the oracle.
#pragma once

#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "manymod/rsa.h"
#include "rsa/test_primes.hpp"

namespace manymod::testing {

using Bytes = std::vector<std::uint8_t>;

struct FreeForTest {
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(OSSL_PARAM_BLD* build) const { OSSL_PARAM_BLD_free(build); }
  void operator()(OSSL_PARAM* params) const { OSSL_PARAM_free(params); }
  void operator()(mm_rsa_key* key) const { mm_rsa_key_destroy(key); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeForTest>;
using Number = Owned<BIGNUM>;
using KeyPointer = Owned<mm_rsa_key>;

inline Number from_hex(const char* digits) {
  BIGNUM* number = nullptr;
  EXPECT_GT(BN_hex2bn(&number, digits), 0);
  return Number(number);
}

inline Bytes bytes_of(const Number& number) {
  Bytes bytes(static_cast<std::size_t>(BN_num_bytes(number.get())));
  BN_bn2bin(number.get(), bytes.data());
  return bytes;
}

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

/// The numbers of a key, computed by libcrypto.
struct TestNumbers {
  Number n, e, d, p, q, dp, dq, qinv;

  explicit TestNumbers(const TestPrimes& primes)
      : n(BN_new()),
        e(from_hex(primes.e)),
        p(from_hex(primes.p)),
        q(from_hex(primes.q)),
        dp(BN_new()),
        dq(BN_new()) {
    const Owned<BN_CTX> context(BN_CTX_new());
    const Number p1(BN_dup(p.get()));
    const Number q1(BN_dup(q.get()));
    const Number product(BN_new());
    const Number common(BN_new());
    const Number order(BN_new());
    EXPECT_EQ(BN_sub_word(p1.get(), 1) & BN_sub_word(q1.get(), 1), 1);
    EXPECT_EQ(BN_mul(n.get(), p.get(), q.get(), context.get()), 1);
    EXPECT_EQ(BN_mul(product.get(), p1.get(), q1.get(), context.get()), 1);
    EXPECT_EQ(BN_gcd(common.get(), p1.get(), q1.get(), context.get()), 1);
    EXPECT_EQ(BN_div(order.get(), nullptr, product.get(), common.get(), context.get()), 1);
    d.reset(BN_mod_inverse(nullptr, e.get(), order.get(), context.get()));
    EXPECT_EQ(BN_nnmod(dp.get(), d.get(), p1.get(), context.get()), 1);
    EXPECT_EQ(BN_nnmod(dq.get(), d.get(), q1.get(), context.get()), 1);
    qinv.reset(BN_mod_inverse(nullptr, q.get(), p.get(), context.get()));
  }
};

/// The numbers of a key as bytes.
struct KeyBytes {
  Bytes n, e, d, p, q, dp, dq, qinv;

  explicit KeyBytes(const TestNumbers& from)
      : n(bytes_of(from.n)),
        e(bytes_of(from.e)),
        d(bytes_of(from.d)),
        p(bytes_of(from.p)),
        q(bytes_of(from.q)),
        dp(bytes_of(from.dp)),
        dq(bytes_of(from.dq)),
        qinv(bytes_of(from.qinv)) {}
};

inline mm_bytes view_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

inline mm_rsa_numbers public_numbers(const KeyBytes& bytes) {
  mm_rsa_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  numbers.n = view_of(bytes.n);
  numbers.e = view_of(bytes.e);
  numbers.max_exponent_bits = 65;  // of the longest one in kTestPrimes
  return numbers;
}

inline mm_rsa_numbers private_numbers(const KeyBytes& bytes) {
  mm_rsa_numbers numbers = public_numbers(bytes);
  numbers.d = view_of(bytes.d);
  numbers.p = view_of(bytes.p);
  numbers.q = view_of(bytes.q);
  numbers.dp = view_of(bytes.dp);
  numbers.dq = view_of(bytes.dq);
  numbers.qinv = view_of(bytes.qinv);
  return numbers;
}

/// n, e, d and three primes of a key, whose first two are those of the test keys of 1024 bits and whose third
/// has 520 bits; computed by libcrypto.
struct ThreePrimes {
  Bytes n, e, d, p, q, third;

  ThreePrimes() {
    const Number primes[] = {from_hex(kTestPrimes[0].p), from_hex(kTestPrimes[0].q),
                             from_hex(kTestPrimes[2].p)};
    const Number exponent = from_hex(kTestPrimes[0].e);
    const Owned<BN_CTX> context(BN_CTX_new());
    const Number product(BN_dup(BN_value_one()));
    const Number order(BN_dup(BN_value_one()));
    for (const Number& prime : primes) {
      const Number less_one(BN_dup(prime.get()));
      EXPECT_EQ(BN_sub_word(less_one.get(), 1), 1);
      EXPECT_EQ(BN_mul(product.get(), product.get(), prime.get(), context.get()), 1);
      EXPECT_EQ(BN_mul(order.get(), order.get(), less_one.get(), context.get()), 1);
    }
    const Number inverse(BN_mod_inverse(nullptr, exponent.get(), order.get(), context.get()));
    n = bytes_of(product);
    e = bytes_of(exponent);
    d = bytes_of(inverse);
    p = bytes_of(primes[0]);
    q = bytes_of(primes[1]);
    third = bytes_of(primes[2]);
  }

  [[nodiscard]] mm_rsa_prime other() const { return {view_of(third), {}, {}}; }
  /// `other` must outlive the numbers.
  [[nodiscard]] mm_rsa_numbers numbers(const mm_rsa_prime& other) const {
    mm_rsa_numbers numbers{};
    numbers.struct_size = sizeof numbers;
    numbers.n = view_of(n);
    numbers.e = view_of(e);
    numbers.d = view_of(d);
    numbers.p = view_of(p);
    numbers.q = view_of(q);
    numbers.other_primes = &other;
    numbers.other_prime_count = 1;
    return numbers;
  }
};

/// A key, or null and a test failure.
inline KeyPointer make_key(const mm_rsa_numbers& numbers) {
  mm_rsa_key* key = nullptr;
  EXPECT_EQ(mm_rsa_key_create(&numbers, &key), MM_OK) << mm_last_error();
  return KeyPointer(key);
}

inline Owned<EVP_PKEY> libcrypto_key(const TestNumbers& numbers) {
  const Owned<OSSL_PARAM_BLD> build(OSSL_PARAM_BLD_new());
  const std::pair<const char*, const Number*> named[] = {
      {OSSL_PKEY_PARAM_RSA_N, &numbers.n},          {OSSL_PKEY_PARAM_RSA_E, &numbers.e},
      {OSSL_PKEY_PARAM_RSA_D, &numbers.d},          {OSSL_PKEY_PARAM_RSA_FACTOR1, &numbers.p},
      {OSSL_PKEY_PARAM_RSA_FACTOR2, &numbers.q},    {OSSL_PKEY_PARAM_RSA_EXPONENT1, &numbers.dp},
      {OSSL_PKEY_PARAM_RSA_EXPONENT2, &numbers.dq}, {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &numbers.qinv}};
  for (const auto& [name, number] : named) {
    EXPECT_EQ(OSSL_PARAM_BLD_push_BN(build.get(), name, number->get()), 1);
  }
  const Owned<OSSL_PARAM> params(OSSL_PARAM_BLD_to_param(build.get()));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, params.get()), 1);
  return Owned<EVP_PKEY>(key);
}

struct TestKey {
  TestNumbers numbers;
  KeyBytes bytes;
  Owned<EVP_PKEY> oracle;
  KeyPointer key;
  KeyPointer open;  ///< the public key alone

  explicit TestKey(const TestPrimes& primes)
      : numbers(primes),
        bytes(numbers),
        oracle(libcrypto_key(numbers)),
        key(make_key(private_numbers(bytes))),
        open(make_key(public_numbers(bytes))) {}
  [[nodiscard]] std::size_t k() const { return bytes.n.size(); }
};

/// The test key whose modulus has `bits` bits, created once.
inline const TestKey& test_key(std::size_t bits) {
  static const auto keys = [] {
    std::vector<std::unique_ptr<const TestKey>> made;
    for (const TestPrimes& primes : kTestPrimes) made.push_back(std::make_unique<const TestKey>(primes));
    return made;
  }();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (kTestPrimes[i].bits == bits) return *keys[i];
  }
  throw std::out_of_range("no test key of that size");
}

// ---- the oracle

struct HashName {
  mm_hash hash;
  const char* name;  ///< its name in libcrypto
};
inline constexpr HashName kHashNames[] = {{MM_SHA1, "SHA1"},
                                          {MM_SHA224, "SHA224"},
                                          {MM_SHA256, "SHA256"},
                                          {MM_SHA384, "SHA384"},
                                          {MM_SHA512, "SHA512"},
                                          {MM_SHA512_224, "SHA512-224"},
                                          {MM_SHA512_256, "SHA512-256"},
                                          {MM_SHA3_224, "SHA3-224"},
                                          {MM_SHA3_256, "SHA3-256"},
                                          {MM_SHA3_384, "SHA3-384"},
                                          {MM_SHA3_512, "SHA3-512"}};

inline const EVP_MD* oracle_hash(mm_hash hash) {
  for (const HashName& known : kHashNames) {
    if (known.hash == hash) return EVP_get_digestbyname(known.name);
  }
  return nullptr;
}

inline int oracle_padding(mm_rsa_scheme scheme) {
  switch (scheme) {
    case MM_RSA_RAW:
      return RSA_NO_PADDING;
    case MM_RSA_PKCS1V15:
      return RSA_PKCS1_PADDING;
    case MM_RSA_PSS:
      return RSA_PKCS1_PSS_PADDING;
    case MM_RSA_OAEP:
      return RSA_PKCS1_OAEP_PADDING;
  }
  return 0;
}

inline void set_signature_padding(EVP_PKEY_CTX* context, const mm_rsa_padding& padding) {
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_padding(context, oracle_padding(padding.scheme)), 1);
  if (padding.scheme != MM_RSA_PSS) return;
  // MM_RSA_SALT_* have the values of libcrypto's constants.
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, padding.salt_length), 1);
  const mm_hash mgf = padding.mgf_hash == MM_HASH_NONE ? padding.hash : padding.mgf_hash;
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_hash(mgf)), 1);
}

inline Bytes oracle_sign(const TestKey& key, const Bytes& message, const mm_rsa_padding& padding) {
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* inner = nullptr;
  EXPECT_EQ(EVP_DigestSignInit(context.get(), &inner, oracle_hash(padding.hash), nullptr, key.oracle.get()),
            1);
  set_signature_padding(inner, padding);
  Bytes signature(key.k());
  std::size_t size = signature.size();
  EXPECT_EQ(EVP_DigestSign(context.get(), signature.data(), &size, message.data(), message.size()), 1);
  EXPECT_EQ(size, key.k());
  return signature;
}

inline bool oracle_verify(const TestKey& key, const Bytes& message, const Bytes& signature,
                          const mm_rsa_padding& padding) {
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* inner = nullptr;
  EXPECT_EQ(EVP_DigestVerifyInit(context.get(), &inner, oracle_hash(padding.hash), nullptr, key.oracle.get()),
            1);
  set_signature_padding(inner, padding);
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(),
                          message.size()) == 1;
}

inline void set_encryption_padding(EVP_PKEY_CTX* context, const mm_rsa_padding& padding) {
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_padding(context, oracle_padding(padding.scheme)), 1);
  if (padding.scheme != MM_RSA_OAEP) return;
  const mm_hash mgf = padding.mgf_hash == MM_HASH_NONE ? padding.hash : padding.mgf_hash;
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_oaep_md(context, oracle_hash(padding.hash)), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_hash(mgf)), 1);
  if (padding.label.size == 0) return;
  void* label = OPENSSL_memdup(padding.label.data, padding.label.size);
  ASSERT_EQ(EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, static_cast<int>(padding.label.size)), 1);
}

inline Bytes oracle_encrypt(const TestKey& key, const Bytes& message, const mm_rsa_padding& padding) {
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(key.oracle.get(), nullptr));
  EXPECT_EQ(EVP_PKEY_encrypt_init(context.get()), 1);
  set_encryption_padding(context.get(), padding);
  Bytes ciphertext(key.k());
  std::size_t size = ciphertext.size();
  EXPECT_EQ(EVP_PKEY_encrypt(context.get(), ciphertext.data(), &size, message.data(), message.size()), 1);
  return ciphertext;
}

/// The message; empty if the oracle rejects the ciphertext.
inline Bytes oracle_decrypt(const TestKey& key, const Bytes& ciphertext, const mm_rsa_padding& padding) {
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(key.oracle.get(), nullptr));
  EXPECT_EQ(EVP_PKEY_decrypt_init(context.get()), 1);
  set_encryption_padding(context.get(), padding);
  Bytes message(key.k());
  std::size_t size = message.size();
  if (EVP_PKEY_decrypt(context.get(), message.data(), &size, ciphertext.data(), ciphertext.size()) != 1)
    size = 0;
  message.resize(size);
  return message;
}

/// x^d mod n or x^e mod n, as k bytes.
inline Bytes oracle_power(const TestKey& key, const Bytes& x, bool with_private) {
  const Owned<BN_CTX> context(BN_CTX_new());
  const Number base(BN_bin2bn(x.data(), static_cast<int>(x.size()), nullptr));
  const Number power(BN_new());
  const Number& exponent = with_private ? key.numbers.d : key.numbers.e;
  EXPECT_EQ(BN_mod_exp(power.get(), base.get(), exponent.get(), key.numbers.n.get(), context.get()), 1);
  Bytes bytes(key.k());
  BN_bn2binpad(power.get(), bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

/// Pseudorandom bytes (SplitMix64).
inline Bytes noise(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    seed += 0x9E3779B97F4A7C15;
    std::uint64_t z = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    bytes[i] = static_cast<std::uint8_t>(z >> 56);
  }
  return bytes;
}

/// Messages of different lengths, the first one empty.
inline std::vector<Bytes> messages_of(std::size_t count, std::size_t longest = 200) {
  std::vector<Bytes> messages(count);
  for (std::size_t i = 0; i < count; ++i) messages[i] = noise(i * 37 % (longest + 1), i);
  return messages;
}

}  // namespace manymod::testing
