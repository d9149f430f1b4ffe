// SPDX-License-Identifier: Apache-2.0
// Keys on curves from what libcrypto writes: every structure, and what is refused.
#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <string>

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

using Pkey = crypto::Libcrypto<EVP_PKEY>;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

Pkey generate(const char* algorithm, const char* group = nullptr) {
  Pkey key(group == nullptr ? EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm)
                            : EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm, group));
  EXPECT_NE(key, nullptr) << algorithm;
  return key;
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pkcs8(EVP_PKEY* key, const char* password = nullptr) {
  const Bio bio(BIO_new(BIO_s_mem()));
  const int size = password == nullptr ? 0 : static_cast<int>(std::string(password).size());
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key, password == nullptr ? nullptr : EVP_aes_256_cbc(),
                                          password, size, nullptr, nullptr),
            1);
  return text_of(bio);
}

std::string sec1(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  return text_of(bio);
}

std::string public_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PUBKEY(bio.get(), key), 1);
  return text_of(bio);
}

std::string certificate(EVP_PKEY* key) {
  const crypto::Libcrypto<X509> made(X509_new());
  X509_set_pubkey(made.get(), key);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 1000);
  EXPECT_GT(X509_sign(made.get(), key, EVP_sha256()), 0);
  const Bio bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_X509(bio.get(), made.get()), 1);
  return text_of(bio);
}

std::string without_line_breaks(std::string text) {
  std::erase(text, '\n');
  return text;
}

void set_parameter(EVP_PKEY* key, const char* name, const char* value) {
  EXPECT_EQ(EVP_PKEY_set_utf8_string_param(key, name, value), 1);
}

struct Decoded {
  std::string curve;
  Bytes secret, point;
};
Decoded decode(const std::string& text, std::string_view password = {}, bool public_only = false) {
  const wrapper::ecc::Key key(text, password, public_only);
  return {key.curve().info().name, key.secret(), key.public_key()};
}

/// The key's public bytes must be those that its secret gives.
void check_private(const Decoded& key, const char* curve) {
  EXPECT_EQ(key.curve, curve);
  EccPlan plan = cpu_plan(EccCurve(curve));
  EXPECT_EQ(plan.public_keys({&key.secret, 1})[0], key.point) << curve;
}

std::string problem_of(const std::string& text, std::string_view password = {}) {
  try {
    const wrapper::ecc::Key key(text, password);
    return "none";
  } catch (const wrapper::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_KEY);
    return error.what();
  }
}

bool mentions(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(EccKeys, ReadEveryStructureOfEveryWeierstrassCurve) {
  for (const char* name : {"P-256", "P-384", "P-521", "secp256k1", "brainpoolP256r1", "brainpoolP384r1",
                           "brainpoolP512r1", "SM2"}) {
    const bool is_sm2 = std::string(name) == "SM2";
    const Pkey key = is_sm2 ? generate("SM2") : generate("EC", name);
    const Decoded plain = decode(pkcs8(key.get()));
    check_private(plain, name);
    std::vector<std::string> texts{without_line_breaks(pkcs8(key.get())), "noise\n" + pkcs8(key.get())};
    if (!is_sm2) texts.push_back(sec1(key.get()));
    for (const std::string& text : texts) EXPECT_EQ(decode(text).secret, plain.secret) << name;
    EXPECT_EQ(decode(pkcs8(key.get(), "password"), "password").secret, plain.secret) << name;
    const Decoded open = decode(public_pem(key.get()));
    EXPECT_TRUE(open.secret.empty());
    EXPECT_EQ(open.point, plain.point) << name;
    if (!is_sm2) {
      EXPECT_EQ(decode(certificate(key.get())).point, plain.point) << name;
    }
  }
}

TEST(EccKeys, ReadCompressedAndExplicitOnes) {
  const Pkey key = generate("EC", "P-256");
  const Decoded plain = decode(pkcs8(key.get()));
  set_parameter(key.get(), OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "compressed");
  EXPECT_EQ(decode(public_pem(key.get())).point, plain.point);
  set_parameter(key.get(), OSSL_PKEY_PARAM_EC_ENCODING, "explicit");
  const std::string text = public_pem(key.get());
  EXPECT_GT(text.size(), 300U);
  EXPECT_EQ(decode(text).point, plain.point);
  EXPECT_EQ(decode(text).curve, "P-256");
}

TEST(EccKeys, ReadTheKeysOfRfc8410) {
  for (const auto& [algorithm, name] :
       {std::pair{"ED25519", "Ed25519"}, {"X25519", "X25519"}, {"ED448", "Ed448"}, {"X448", "X448"}}) {
    const Pkey key = generate(algorithm);
    const Decoded plain = decode(pkcs8(key.get()));
    check_private(plain, name);
    EXPECT_EQ(decode(public_pem(key.get())).point, plain.point) << name;
    EXPECT_EQ(decode(pkcs8(key.get(), "password"), "password").secret, plain.secret) << name;
  }
}

TEST(EccKeys, AreReadFromDerInBytes) {
  const Pkey key = generate("EC", "P-256");
  const Decoded plain = decode(pkcs8(key.get()));
  Bytes der(static_cast<std::size_t>(i2d_PrivateKey(key.get(), nullptr)));
  unsigned char* end = der.data();
  ASSERT_EQ(i2d_PrivateKey(key.get(), &end), static_cast<int>(der.size()));
  const wrapper::ecc::Key read(der);
  EXPECT_EQ(read.secret(), plain.secret);
  EXPECT_EQ(read.public_key(), plain.point);
  EXPECT_TRUE(wrapper::ecc::Key(public_pem(key.get())).secret().empty());
  mm_ecc_key_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(mm_ecc_key_get_info(read.get(), &info), MM_OK);
  EXPECT_EQ(info.curve, mm_ecc_curve_find("P-256"));
}

TEST(EccKeys, ChooseAmongSeveral) {
  const Pkey key = generate("EC", "P-256");
  const std::string bundle = certificate(key.get()) + pkcs8(key.get());
  EXPECT_FALSE(decode(bundle).secret.empty());
  EXPECT_TRUE(decode(bundle, {}, true).secret.empty());
  EXPECT_FALSE(decode(pkcs8(key.get()), {}, true).secret.empty());
}

TEST(EccKeys, SayWhatIsWrong) {
  const Pkey key = generate("EC", "P-256");
  EXPECT_TRUE(mentions(problem_of(pkcs8(key.get(), "password")), "its password is needed"));
  EXPECT_TRUE(mentions(problem_of(pkcs8(key.get(), "password"), "other"), "its password is wrong"));
  const Pkey rsa(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{1024}));
  EXPECT_TRUE(mentions(problem_of(pkcs8(rsa.get())), "an RSA private key, not on a curve"));
  const Pkey other = generate("EC", "P-224");
  EXPECT_TRUE(mentions(problem_of(pkcs8(other.get())), "secp224r1"));
  // The label of the second one says that it is on a curve.
  EXPECT_TRUE(mentions(problem_of(pkcs8(rsa.get()) + without_line_breaks(sec1(key.get())).substr(0, 90)),
                       "no END line for EC PRIVATE KEY"));
  EXPECT_TRUE(mentions(problem_of(""), "empty input"));
  EXPECT_TRUE(mentions(problem_of("hello"), "neither PEM nor DER of a key on a curve"));
  EXPECT_TRUE(mentions(problem_of("ssh-rsa AAAAB3NzaC1yc2E= x"), "not on a curve"));
  const std::string text = pkcs8(key.get());
  EXPECT_TRUE(mentions(problem_of(text.substr(0, text.size() / 2)), "truncated"));
}

TEST(EccKeys, SayHowKeysOfOpensshAreConverted) {
  // Beginnings of private keys, up to the names of their algorithms.
  const std::string ed25519 =
      "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUx"
      "OQ==";
  const std::string encrypted =
      "b3BlbnNzaC1rZXktdjEAAAAAHWNoYWNoYTIwLXBvbHkxMzA1QG9wZW5zc2guY29tAAAABmJjcnlw"
      "dAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQ==";
  const std::string p256 =
      "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAABNlY2RzYS1zaGEy"
      "LW5pc3RwMjU2";
  const auto told = [](const std::string& content) {
    return problem_of("-----BEGIN OPENSSH PRIVATE KEY-----\n" + content +
                      "\n-----END OPENSSH PRIVATE KEY-----\n");
  };
  EXPECT_TRUE(mentions(told(p256), "an OpenSSH key: convert it with ssh-keygen -p -m PEM"));
  EXPECT_TRUE(mentions(told(ed25519), "an OpenSSH key of Ed25519, which ssh-keygen cannot convert"));
  EXPECT_TRUE(mentions(told(encrypted), "an OpenSSH key of Ed25519, which ssh-keygen cannot convert"));
  EXPECT_TRUE(mentions(problem_of("ecdsa-sha2-nistp256 AAAAE2VjZHNh x"), "with ssh-keygen -e -m PKCS8"));
  EXPECT_TRUE(mentions(problem_of("ssh-ed25519 AAAAC3NzaC1lZDI1 x"),
                       "an OpenSSH public key of Ed25519, which ssh-keygen cannot convert"));
}

/// By write(key, &der), which allocates.
std::string der_of(EVP_PKEY* key, int (*write)(const EVP_PKEY*, unsigned char**)) {
  unsigned char* der = nullptr;
  const int size = write(key, &der);
  EXPECT_GT(size, 0);
  std::string text(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

TEST(EccKeys, RefuseDerWithBytesBehindIt) {
  const Pkey keys[] = {generate("EC", "P-256"), generate("EC", "P-521"), generate("ED25519")};
  for (const Pkey& key : keys) {
    for (const auto write : {i2d_PrivateKey, i2d_PUBKEY}) {
      const std::string text = der_of(key.get(), write);
      EXPECT_EQ(problem_of(text), "none");
      EXPECT_TRUE(mentions(problem_of(text + "x"), "bytes behind its end"));
      EXPECT_TRUE(mentions(problem_of(text + std::string(1, '\0')), "bytes behind its end"));
    }
  }
}

TEST(EccKeys, RefuseAPrivateKeyBesideAnotherPublicKey) {
  const Pkey key = generate("EC", "P-256");
  const Pkey other = generate("EC", "P-256");
  std::string text = der_of(key.get(), i2d_PrivateKey);
  const Bytes mine = decode(pkcs8(key.get())).point;
  const Bytes theirs = decode(pkcs8(other.get())).point;
  const std::size_t place = text.find(std::string(mine.begin(), mine.end()));
  ASSERT_NE(place, std::string::npos);
  EXPECT_EQ(decode(text).point, mine);
  std::copy(theirs.begin(), theirs.end(), text.begin() + static_cast<std::ptrdiff_t>(place));
  EXPECT_TRUE(mentions(problem_of(text), "another one's public key"));
}

}  // namespace
}  // namespace manymod::testing
