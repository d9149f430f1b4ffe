// SPDX-License-Identifier: Apache-2.0
// Keys: valid and invalid numbers with the reported reasons, and encodings.
#include <gtest/gtest.h>
#include <openssl/encoder.h>

#include <functional>
#include <string>

#include "manymod/rsa.hpp"
#include "rsa/test_keys.hpp"

namespace manymod::testing {
namespace {

struct Outcome {
  KeyPointer key;
  mm_status status;
  std::string message;
};

Outcome create(const mm_rsa_numbers& numbers) {
  mm_rsa_key* key = nullptr;
  const mm_status status = mm_rsa_key_create(&numbers, &key);
  EXPECT_EQ(key == nullptr, status != MM_OK);
  return {KeyPointer(key), status, status == MM_OK ? "" : mm_last_error()};
}

mm_rsa_key_info info_of(const mm_rsa_key* key) {
  mm_rsa_key_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(mm_rsa_key_get_info(key, &info), MM_OK);
  return info;
}

Bytes with_added(const Bytes& number, int difference) {
  const Number sum(BN_bin2bn(number.data(), static_cast<int>(number.size()), nullptr));
  EXPECT_EQ(difference < 0 ? BN_sub_word(sum.get(), static_cast<BN_ULONG>(-difference))
                           : BN_add_word(sum.get(), static_cast<BN_ULONG>(difference)),
            1);
  return bytes_of(sum);
}

/// Whether two keys have the same private exponent modulo p and q, judged by a signature.
bool same_private_key(const mm_rsa_key* x, const mm_rsa_key* y) {
  const mm_rsa_key* keys[] = {x, y};
  mm_rsa_ring* ring = nullptr;
  EXPECT_EQ(mm_rsa_ring_create(nullptr, keys, 2, &ring), MM_OK) << mm_last_error();
  const std::size_t k = info_of(x).modulus_bytes;
  const Bytes message = bytes_of("message");
  const std::uint32_t index[] = {0, 1};
  Bytes signatures(2 * k);
  mm_rsa_call call{};
  call.struct_size = sizeof call;
  call.op = MM_RSA_SIGN;
  call.padding.scheme = MM_RSA_PKCS1V15;
  call.padding.hash = MM_SHA256;
  call.count = 2;
  call.key = index;
  call.input = {1, message.data(), message.size(), 0, nullptr, nullptr};
  call.output = {signatures.data(), 2, k, nullptr};
  EXPECT_EQ(mm_rsa_run(ring, &call), MM_OK) << mm_last_error();
  mm_rsa_ring_destroy(ring);
  return std::equal(signatures.begin(), signatures.begin() + static_cast<std::ptrdiff_t>(k),
                    signatures.begin() + static_cast<std::ptrdiff_t>(k));
}

TEST(RsaKeys, AreTakenFromAllTheirNumbers) {
  for (const TestPrimes& primes : kTestPrimes) {
    const TestKey& key = test_key(primes.bits);
    const mm_rsa_key_info info = info_of(key.key.get());
    EXPECT_EQ(info.modulus_bits, primes.bits);
    EXPECT_EQ(info.modulus_bytes, key.k());
    EXPECT_EQ(info.exponent_bytes, key.bytes.e.size());
    EXPECT_EQ(info.is_private, 1);
    EXPECT_EQ(info_of(key.open.get()).is_private, 0);
    Bytes n(info.modulus_bytes);
    Bytes e(info.exponent_bytes);
    EXPECT_EQ(mm_rsa_key_get_public(key.key.get(), n.data(), e.data()), MM_OK);
    EXPECT_EQ(n, key.bytes.n);
    EXPECT_EQ(e, key.bytes.e);
  }
}

TEST(RsaKeys, RecoverWhatIsNotGiven) {
  for (const std::size_t bits : {1024U, 1031U, 1536U, 2048U}) {
    const TestKey& key = test_key(bits);
    mm_rsa_numbers numbers = private_numbers(key.bytes);
    numbers.dp = numbers.dq = numbers.qinv = {};
    const Outcome from_primes = create(numbers);
    ASSERT_EQ(from_primes.status, MM_OK) << from_primes.message;
    EXPECT_TRUE(same_private_key(key.key.get(), from_primes.key.get()));
    numbers.p = numbers.q = {};
    const Outcome from_exponent = create(numbers);
    ASSERT_EQ(from_exponent.status, MM_OK) << from_exponent.message;
    EXPECT_TRUE(same_private_key(key.key.get(), from_exponent.key.get()));
  }
}

// 15 looks like a prime of n = 3 5 p q to whoever only asks whether e d = 1 mod 14; which factors are found
// first is a matter of chance.
TEST(RsaKeys, RecoverOnlyPrimes) {
  const TestNumbers& numbers = test_key(1024).numbers;
  const Owned<BN_CTX> context(BN_CTX_new());
  const Number n(BN_dup(numbers.n.get()));
  const Number order(BN_new());
  const Number p1(BN_dup(numbers.p.get()));
  const Number q1(BN_dup(numbers.q.get()));
  ASSERT_TRUE(BN_mul_word(n.get(), 15) && BN_sub_word(p1.get(), 1) && BN_sub_word(q1.get(), 1));
  ASSERT_TRUE(BN_mul(order.get(), p1.get(), q1.get(), context.get()) && BN_mul_word(order.get(), 7));
  const Number d(BN_mod_inverse(nullptr, numbers.e.get(), order.get(), context.get()));
  ASSERT_NE(d, nullptr);
  const Bytes n_bytes = bytes_of(n);
  const Bytes e_bytes = bytes_of(numbers.e);
  const Bytes d_bytes = bytes_of(d);
  mm_rsa_numbers given{};
  given.struct_size = sizeof given;
  given.n = view_of(n_bytes);
  given.e = view_of(e_bytes);
  given.d = view_of(d_bytes);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Outcome outcome = create(given);
    ASSERT_EQ(outcome.status, MM_OK) << outcome.message;
    EXPECT_EQ(info_of(outcome.key.get()).primes, 4U);
  }
}

TEST(RsaKeys, TakeTheirPrimesInEitherOrder) {
  const TestKey& key = test_key(1536);
  mm_rsa_numbers numbers = private_numbers(key.bytes);
  std::swap(numbers.p, numbers.q);
  std::swap(numbers.dp, numbers.dq);
  const Outcome wrong_inverse = create(numbers);
  EXPECT_EQ(wrong_inverse.status, MM_ERR_KEY);
  EXPECT_NE(wrong_inverse.message.find("qinv"), std::string::npos) << wrong_inverse.message;
  const Number inverse(
      BN_mod_inverse(nullptr, key.numbers.p.get(), key.numbers.q.get(), Owned<BN_CTX>(BN_CTX_new()).get()));
  const Bytes inverse_bytes = bytes_of(inverse);
  numbers.qinv = view_of(inverse_bytes);
  const Outcome swapped = create(numbers);
  ASSERT_EQ(swapped.status, MM_OK) << swapped.message;
  EXPECT_TRUE(same_private_key(key.key.get(), swapped.key.get()));
}

TEST(RsaKeys, TakeLeadingZeros) {
  const TestKey& key = test_key(1024);
  Bytes n(2000);
  n.insert(n.end(), key.bytes.n.begin(), key.bytes.n.end());
  mm_rsa_numbers numbers = private_numbers(key.bytes);
  numbers.n = view_of(n);
  const Outcome padded = create(numbers);
  EXPECT_EQ(padded.status, MM_OK) << padded.message;
  EXPECT_EQ(info_of(padded.key.get()).modulus_bytes, 128U);
}

struct BadNumbers {
  const char* what;
  std::function<void(mm_rsa_numbers&)> spoil;
  const char* reason;
};

TEST(RsaKeys, AreRejectedWithTheReason) {
  const TestKey& key = test_key(1024);
  const KeyBytes& good = key.bytes;
  const KeyBytes& other = test_key(1031).bytes;
  const Bytes even_n = with_added(good.n, 1);
  const Bytes odd_n = with_added(good.n, 2);
  const Bytes even_e = {1, 0};
  const Bytes one = {1};
  const Bytes zero = {0};
  const Bytes small_n(100, 0xff);
  const Bytes wide_n(2049, 0xff);
  const Bytes wrong_d = with_added(good.d, 2);
  const Bytes even_d = with_added(good.d, 1);
  const Bytes wrong_dp = with_added(good.dp, 1);
  const Bytes wrong_dq = with_added(good.dq, -1);
  const Bytes wrong_qinv = with_added(good.qinv, 1);
  const Bytes even_p = with_added(good.p, 1);
  const BadNumbers cases[] = {
      {"no n", [&](auto& x) { x.n = {}; }, "n is missing"},
      {"no e", [&](auto& x) { x.e = {}; }, "e is missing"},
      {"no d", [&](auto& x) { x.d = {}; }, "d is missing"},
      {"one prime", [&](auto& x) { x.q = {}; }, "one is missing"},
      {"dp alone", [&](auto& x) { x.p = x.q = {}; }, "dp, dq and qinv need p and q"},
      {"even n", [&](auto& x) { x.n = view_of(even_n); }, "n is even"},
      {"800 bits", [&](auto& x) { x.n = view_of(small_n); }, "n has 800 bits, expected 1024 to 16384"},
      {"16392 bits", [&](auto& x) { x.n = view_of(wide_n); }, "n has more than 16384 bits"},
      {"even e", [&](auto& x) { x.e = view_of(even_e); }, "e is even"},
      {"e = 1", [&](auto& x) { x.e = view_of(one); }, "e is 1"},
      {"e = 0", [&](auto& x) { x.e = view_of(zero); }, "e is even"},
      {"e = n", [&](auto& x) { x.e = x.n; }, "e is not below n"},
      {"other n", [&](auto& x) { x.n = view_of(odd_n); }, "p q is not n"},
      {"another key's p", [&](auto& x) { x.p = view_of(other.p); }, "p q is not n"},
      {"p = q", [&](auto& x) { x.q = x.p; }, "p and q are the same"},
      {"p = n", [&](auto& x) { x.p = x.n, x.q = view_of(one); }, "p is not below n"},
      {"q = 1", [&](auto& x) { x.q = view_of(one); }, "q is even or 1"},
      {"even p", [&](auto& x) { x.p = view_of(even_p); }, "p is even or 1"},
      {"d + 2", [&](auto& x) { x.d = view_of(wrong_d); }, "e d is not 1 mod p - 1"},
      {"d = 0", [&](auto& x) { x.d = view_of(zero); }, "d is 0"},
      {"d = n", [&](auto& x) { x.d = x.n; }, "d is not below n"},
      {"dp + 1", [&](auto& x) { x.dp = view_of(wrong_dp); }, "dp is not d mod p - 1"},
      {"dq - 1", [&](auto& x) { x.dq = view_of(wrong_dq); }, "dq is not d mod q - 1"},
      {"qinv + 1", [&](auto& x) { x.qinv = view_of(wrong_qinv); }, "qinv is not the inverse"},
      {"d + 2 alone", [&](auto& x) { x.d = view_of(wrong_d), x.p = x.q = x.dp = x.dq = x.qinv = {}; },
       "cannot be recovered"},
      {"d + 1 alone", [&](auto& x) { x.d = view_of(even_d), x.p = x.q = x.dp = x.dq = x.qinv = {}; },
       "e d - 1"},
  };
  for (const BadNumbers& bad : cases) {
    mm_rsa_numbers numbers = private_numbers(good);
    bad.spoil(numbers);
    const Outcome outcome = create(numbers);
    EXPECT_EQ(outcome.status, MM_ERR_KEY) << bad.what;
    EXPECT_NE(outcome.message.find(bad.reason), std::string::npos) << bad.what << ": " << outcome.message;
  }
}

TEST(RsaKeys, HaveAnExponentOfTheLengthThatIsAllowed) {
  mm_rsa_numbers numbers = public_numbers(test_key(1024).bytes);
  const auto outcome = [&](const Bytes& e, std::size_t max_exponent_bits) {
    numbers.e = view_of(e);
    numbers.max_exponent_bits = max_exponent_bits;
    return create(numbers);
  };
  const Bytes e64(8, 0xff);
  const Bytes e65 = {1, 0, 0, 0, 0, 0, 0, 0, 1};
  const Bytes e256(32, 0xff);
  const Bytes below_n = with_added(test_key(1024).bytes.n, -2);
  EXPECT_EQ(outcome(e64, 0).status, MM_OK);
  EXPECT_EQ(outcome(e64, MM_RSA_EXPONENT_BITS).status, MM_OK);
  EXPECT_EQ(outcome(e64, 63).status, MM_ERR_KEY);
  EXPECT_EQ(outcome(e256, 256).status, MM_OK);
  EXPECT_EQ(outcome(below_n, MM_RSA_MAX_BITS).status, MM_OK);
  for (const auto& [e, allowed] : {std::pair(&e65, 0U), {&e65, 64U}, {&e256, 255U}, {&below_n, 256U}}) {
    const Outcome refused = outcome(*e, allowed);
    EXPECT_EQ(refused.status, MM_ERR_KEY);
    EXPECT_NE(refused.message.find("are allowed (max_exponent_bits)"), std::string::npos) << refused.message;
  }
  // A caller with the struct of version 0.1, which ends before the member, has the default.
  numbers.max_exponent_bits = MM_RSA_MAX_BITS;
  numbers.struct_size = offsetof(mm_rsa_numbers, max_exponent_bits);
  EXPECT_EQ(create(numbers).status, MM_ERR_KEY);
}

TEST(RsaKeys, HaveTheirPrimesTestedOnRequest) {
  mm_rsa_numbers numbers = private_numbers(test_key(1024).bytes);
  numbers.checks = MM_RSA_CHECK_PRIMES;
  const Outcome good = create(numbers);
  EXPECT_EQ(good.status, MM_OK) << good.message;

  // 9 p instead of p, with an exponent computed for it: all other relations hold.
  const TestKey& key = test_key(1024);
  const Owned<BN_CTX> context(BN_CTX_new());
  TestNumbers composite(kTestPrimes[0]);
  ASSERT_EQ(BN_mul_word(composite.p.get(), 9), 1);
  ASSERT_EQ(BN_mul(composite.n.get(), composite.p.get(), composite.q.get(), context.get()), 1);
  const Number p1(BN_dup(composite.p.get()));
  const Number q1(BN_dup(composite.q.get()));
  const Number order(BN_new());
  ASSERT_EQ(BN_sub_word(p1.get(), 1) & BN_sub_word(q1.get(), 1), 1);
  ASSERT_EQ(BN_mul(order.get(), p1.get(), q1.get(), context.get()), 1);
  composite.d.reset(BN_mod_inverse(nullptr, key.numbers.e.get(), order.get(), context.get()));
  ASSERT_NE(composite.d, nullptr);
  const KeyBytes bytes(composite);
  numbers = private_numbers(bytes);
  numbers.dp = numbers.dq = numbers.qinv = {};
  EXPECT_EQ(create(numbers).status, MM_OK);
  numbers.checks = MM_RSA_CHECK_PRIMES;
  const Outcome found = create(numbers);
  EXPECT_EQ(found.status, MM_ERR_KEY);
  EXPECT_NE(found.message.find("p is not prime"), std::string::npos) << found.message;
}

TEST(RsaKeys, NeedPointersSizesAndKnownChecks) {
  mm_rsa_key* key = nullptr;
  mm_rsa_numbers numbers = private_numbers(test_key(1024).bytes);
  EXPECT_EQ(mm_rsa_key_create(nullptr, &key), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_key_create(&numbers, nullptr), MM_ERR_NULL);
  numbers.checks = 2;
  EXPECT_EQ(mm_rsa_key_create(&numbers, &key), MM_ERR_ARGUMENT);
  numbers.checks = 0;
  numbers.n.data = nullptr;
  EXPECT_EQ(mm_rsa_key_create(&numbers, &key), MM_ERR_NULL);
  numbers.struct_size = 8;
  EXPECT_EQ(mm_rsa_key_create(&numbers, &key), MM_ERR_ARGUMENT);
  EXPECT_EQ(key, nullptr);
  mm_rsa_key_destroy(nullptr);
}

struct Encoding {
  const char* format;
  const char* structure;
  int selection;
  const char* password;
};

std::string encoded(const TestKey& key, const Encoding& encoding) {
  const std::unique_ptr<OSSL_ENCODER_CTX, decltype(&OSSL_ENCODER_CTX_free)> context(
      OSSL_ENCODER_CTX_new_for_pkey(key.oracle.get(), encoding.selection, encoding.format, encoding.structure,
                                    nullptr),
      OSSL_ENCODER_CTX_free);
  if (encoding.password != nullptr) {
    EXPECT_EQ(OSSL_ENCODER_CTX_set_cipher(context.get(), "AES-256-CBC", nullptr), 1);
    EXPECT_EQ(OSSL_ENCODER_CTX_set_passphrase(context.get(),
                                              reinterpret_cast<const unsigned char*>(encoding.password),
                                              std::string(encoding.password).size()),
              1);
  }
  unsigned char* data = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(OSSL_ENCODER_to_data(context.get(), &data, &size), 1);
  const std::string text(reinterpret_cast<const char*>(data), size);
  OPENSSL_free(data);
  return text;
}

Outcome decode(const std::string& text, const char* password, std::size_t max_exponent_bits = 0) {
  mm_rsa_decode_options options{};
  options.struct_size = sizeof options;
  options.max_exponent_bits = max_exponent_bits;
  const Bytes given = password == nullptr ? Bytes{} : bytes_of(password);
  if (password != nullptr) options.password = view_of(given);
  mm_rsa_key* key = nullptr;
  const mm_status status =
      mm_rsa_key_decode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, &options, &key);
  EXPECT_EQ(key == nullptr, status != MM_OK);
  return {KeyPointer(key), status, status == MM_OK ? "" : mm_last_error()};
}

TEST(RsaKeys, AreReadFromDerInBytes) {
  const std::string der = encoded(test_key(1031), {"DER", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr});
  const wrapper::rsa::Key key = wrapper::rsa::Key::decode(Bytes(der.begin(), der.end()));
  EXPECT_EQ(key.info().modulus_bits, 1031U);
  EXPECT_EQ(key.info().is_private, 1);
}

TEST(RsaKeys, AreReadFromTheirEncodings) {
  const TestKey& key = test_key(1031);
  const Encoding encodings[] = {
      {"PEM", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr},
      {"DER", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr},
      {"PEM", "type-specific", EVP_PKEY_KEYPAIR, nullptr},
      {"DER", "type-specific", EVP_PKEY_KEYPAIR, nullptr},
      {"PEM", "EncryptedPrivateKeyInfo", EVP_PKEY_KEYPAIR, "open sesame"},
      {"DER", "EncryptedPrivateKeyInfo", EVP_PKEY_KEYPAIR, "open sesame"},
      {"PEM", "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY, nullptr},
      {"DER", "SubjectPublicKeyInfo", EVP_PKEY_PUBLIC_KEY, nullptr},
      {"PEM", "type-specific", EVP_PKEY_PUBLIC_KEY, nullptr},
  };
  for (const Encoding& encoding : encodings) {
    const std::string text = encoded(key, encoding);
    const Outcome read = decode(text, encoding.password);
    ASSERT_EQ(read.status, MM_OK) << encoding.format << " " << encoding.structure << ": " << read.message;
    const bool is_private = encoding.selection == EVP_PKEY_KEYPAIR;
    EXPECT_EQ(info_of(read.key.get()).is_private, is_private ? 1 : 0);
    EXPECT_TRUE(!is_private || same_private_key(key.key.get(), read.key.get()));
  }
}

TEST(RsaKeys, AreReadWithAnExponentOfTheLengthThatIsAllowed) {
  for (const int selection : {EVP_PKEY_KEYPAIR, EVP_PKEY_PUBLIC_KEY}) {
    const std::string text = encoded(test_key(1536), {"PEM", "type-specific", selection, nullptr});
    EXPECT_EQ(decode(text, nullptr).status, MM_ERR_KEY);
    EXPECT_EQ(decode(text, nullptr, 64).status, MM_ERR_KEY);
    EXPECT_EQ(decode(text, nullptr, 65).status, MM_OK);
  }
}

TEST(RsaKeys, AreNotReadPastTheSizesThatLibcryptoTakes) {
  const std::string text = encoded(test_key(1024), {"PEM", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr});
  mm_rsa_key* key = nullptr;
  // Converted to int it is -1, for which libcrypto reads up to the first zero byte.
  const std::size_t size = std::size_t{UINT32_MAX};
  EXPECT_EQ(mm_rsa_key_decode({reinterpret_cast<const std::uint8_t*>(text.c_str()), size}, nullptr, &key),
            MM_ERR_KEY);
  EXPECT_EQ(key, nullptr);
}

TEST(RsaKeys, TellWhyTheyCannotBeRead) {
  const std::string good = encoded(test_key(1024), {"PEM", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr});
  const std::string locked =
      encoded(test_key(1024), {"PEM", "EncryptedPrivateKeyInfo", EVP_PKEY_KEYPAIR, "right"});
  const std::string traditional =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
  const std::string openssh =
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----\n";
  const auto tells = [](const std::string& text, const char* password, const char* reason) {
    const Outcome found = decode(text, password);
    EXPECT_EQ(found.status, MM_ERR_KEY);
    EXPECT_NE(found.message.find(reason), std::string::npos) << found.message;
  };
  tells(locked, nullptr, "encrypted: its password is needed");
  tells(traditional, nullptr, "encrypted: its password is needed");
  tells(locked, "wrong", "encrypted: its password is wrong");
  tells(openssh, nullptr, "an OpenSSH key: convert it with ssh-keygen -p -m PEM");
  tells(good.substr(0, good.size() / 2), nullptr, "truncated");
  tells("no key", nullptr, "neither PEM nor DER");
}

TEST(RsaKeys, TellRefusedKeysFromThoseThatCannotBeRead) {
  const std::string long_exponent =
      encoded(test_key(1536), {"PEM", "type-specific", EVP_PKEY_KEYPAIR, nullptr});
  const std::string openssh =
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----";
  const std::string old =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: NO-CBC,0011223344556677\n\n"
      "AAAA\n-----END RSA PRIVATE KEY-----";
  const auto tells = [](const std::string& text, mm_rsa_unread_reason reason, const std::string& part) {
    mm_rsa_unread unread{MM_RSA_UNREAD_OTHER, {}};
    mm_rsa_decode_options options{};
    options.struct_size = sizeof options;
    options.unread = &unread;
    mm_rsa_key* key = nullptr;
    EXPECT_EQ(
        mm_rsa_key_decode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, &options, &key),
        MM_ERR_KEY);
    EXPECT_EQ(unread.reason, reason) << mm_last_error();
    EXPECT_EQ(std::string(unread.part.data, unread.part.data + unread.part.size), part);
  };
  tells(long_exponent, MM_RSA_UNREAD_NONE, "");
  tells(openssh + "\n" + long_exponent, MM_RSA_UNREAD_NONE, "");
  tells("no key", MM_RSA_UNREAD_OTHER, "no key");
  tells("\n" + openssh + "\n", MM_RSA_UNREAD_OPENSSH, openssh);
  tells(openssh + "\n" + old + "\n", MM_RSA_UNREAD_ENCRYPTION, old);
}

TEST(RsaKeys, AreNotReadWithoutTheirPasswordOrFromAnythingElse) {
  const TestKey& key = test_key(1024);
  const std::string locked = encoded(key, {"PEM", "EncryptedPrivateKeyInfo", EVP_PKEY_KEYPAIR, "right"});
  EXPECT_EQ(decode(locked, "wrong").status, MM_ERR_KEY);
  EXPECT_EQ(decode(locked, nullptr).status, MM_ERR_KEY);
  EXPECT_EQ(decode(locked, "right").status, MM_OK);
  EXPECT_EQ(decode("", nullptr).status, MM_ERR_KEY);
  EXPECT_EQ(decode("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", nullptr).status,
            MM_ERR_KEY);
  const Owned<EVP_PKEY> curve(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  ASSERT_NE(curve, nullptr);
  unsigned char* der = nullptr;
  const int size = i2d_PrivateKey(curve.get(), &der);
  ASSERT_GT(size, 0);
  EXPECT_EQ(decode({reinterpret_cast<char*>(der), static_cast<std::size_t>(size)}, nullptr).status,
            MM_ERR_KEY);
  OPENSSL_free(der);
  const std::string good = encoded(key, {"DER", "PrivateKeyInfo", EVP_PKEY_KEYPAIR, nullptr});
  // A damaged encoding gives either a consistent key or an error.
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const Outcome outcome = decode(damaged, nullptr);
    EXPECT_TRUE(outcome.status == MM_OK || outcome.status == MM_ERR_KEY) << i << ": " << outcome.message;
    EXPECT_EQ(decode(good.substr(0, i), nullptr).status, MM_ERR_KEY);
  }
}

}  // namespace
}  // namespace manymod::testing
