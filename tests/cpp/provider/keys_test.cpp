// SPDX-License-Identifier: Apache-2.0
// Keys of the provider: where they come from, where they go, what is asked of them; curves; references.
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>

#include "library.hpp"

namespace manymod::test {
namespace {

const Bytes kMessage(100, 0x33);

class ProviderKeys : public testing::TestWithParam<const char*> {
 protected:
  const Library library_;
  const std::string& pem_ = private_pem(GetParam());
  const Evp<EVP_PKEY> key_ = library_.decode(pem_);
  const Evp<EVP_PKEY> public_ = reference().decode(public_pem(pem_));
  const char* const hash_ = std::string(GetParam()) == "ED25519" ? nullptr : "SHA256";
};

TEST_P(ProviderKeys, SignAndVerify) {
  ASSERT_NE(key_, nullptr);
  EXPECT_EQ(provider_of(key_.get()), "manymod");
  for (const std::size_t parts :
       hash_ == nullptr ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 1, 3}) {
    Bytes signature = sign_message(library_, key_.get(), hash_, kMessage, {}, parts);
    EXPECT_EQ(verify_message(reference(), public_.get(), hash_, kMessage, signature, {}), 1);
    EXPECT_EQ(verify_message(library_, key_.get(), hash_, kMessage, signature, {}), 1);
    signature[signature.size() / 2] ^= 1;
    EXPECT_NE(verify_message(library_, key_.get(), hash_, kMessage, signature, {}), 1);
    EXPECT_NE(verify_message(reference(), public_.get(), hash_, kMessage, signature, {}), 1);
  }
  ERR_clear_error();
}

TEST_P(ProviderKeys, AreWrittenAndReadAgain) {
  EXPECT_EQ(to_pem(key_.get(), true), pem_);
  EXPECT_EQ(to_pem(key_.get(), false), public_pem(pem_));
  const Evp<EVP_PKEY> public_here = library_.decode(public_pem(pem_));
  EXPECT_EQ(provider_of(public_here.get()), "manymod");
  EXPECT_EQ(EVP_PKEY_eq(key_.get(), public_here.get()), 1);
  const Evp<EVP_PKEY> copy(EVP_PKEY_dup(key_.get()));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(to_pem(copy.get(), true), pem_);
  EXPECT_TRUE(to_pem(public_here.get(), true).empty());
  ERR_clear_error();
}

TEST_P(ProviderKeys, ConvertBetweenProviders) {
  OSSL_PARAM* parts = nullptr;
  ASSERT_EQ(EVP_PKEY_todata(key_.get(), EVP_PKEY_KEYPAIR, &parts), 1);
  const Evp<OSSL_PARAM> owner(parts);
  const std::string kind = EVP_PKEY_get0_type_name(key_.get());
  const Evp<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(library_.get(), kind.c_str(), nullptr));
  EVP_PKEY* raw = nullptr;
  ASSERT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
  ASSERT_EQ(EVP_PKEY_fromdata(context.get(), &raw, EVP_PKEY_KEYPAIR, parts), 1);
  const Evp<EVP_PKEY> again(raw);
  EXPECT_EQ(EVP_PKEY_eq(key_.get(), again.get()), 1);
  EXPECT_EQ(to_pem(again.get(), true), pem_);
  // A key of the default provider signs by this one, which imports it.
  const Evp<EVP_PKEY_CTX> theirs(
      EVP_PKEY_CTX_new_from_name(library_.get(), kind.c_str(), "provider=default"));
  ASSERT_EQ(EVP_PKEY_fromdata_init(theirs.get()), 1);
  raw = nullptr;
  ASSERT_EQ(EVP_PKEY_fromdata(theirs.get(), &raw, EVP_PKEY_KEYPAIR, parts), 1);
  const Evp<EVP_PKEY> their_key(raw);
  EXPECT_EQ(provider_of(their_key.get()), "default");
  const Bytes signature = sign_message(library_, their_key.get(), hash_, kMessage, {}, 0);
  EXPECT_EQ(verify_message(reference(), public_.get(), hash_, kMessage, signature, {}), 1);
}

TEST_P(ProviderKeys, AreChecked) {
  const Evp<EVP_PKEY_CTX> context = library_.context(key_.get());
  EXPECT_EQ(EVP_PKEY_check(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_pairwise_check(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_private_check(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_public_check(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_public_check_quick(context.get()), 1);
}

TEST_P(ProviderKeys, HaveTheParametersOfTheDefaultProvider) {
  const Evp<EVP_PKEY> theirs = reference().decode(pem_);
  EXPECT_EQ(EVP_PKEY_get_bits(key_.get()), EVP_PKEY_get_bits(theirs.get()));
  EXPECT_EQ(EVP_PKEY_get_security_bits(key_.get()), EVP_PKEY_get_security_bits(theirs.get()));
  EXPECT_EQ(EVP_PKEY_get_size(key_.get()), EVP_PKEY_get_size(theirs.get()));
  char own[32] = "";
  char other[32] = "";
  EXPECT_EQ(EVP_PKEY_get_default_digest_name(key_.get(), own, sizeof own),
            EVP_PKEY_get_default_digest_name(theirs.get(), other, sizeof other));
  EXPECT_STREQ(own, other);
  EXPECT_NE(EVP_PKEY_gettable_params(key_.get()), nullptr);
}

/// What a function of libcrypto prints of a key; empty on failure.
std::string printed(EVP_PKEY* key, int (*print)(BIO*, const EVP_PKEY*, int, ASN1_PCTX*)) {
  const Evp<BIO> bio(BIO_new(BIO_s_mem()));
  if (print(bio.get(), key, 0, nullptr) != 1) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// Keys without parameters are refused where parameters alone are to be printed.
TEST_P(ProviderKeys, ArePrintedAsByTheDefaultProvider) {
  const Evp<EVP_PKEY> theirs = reference().decode(pem_);
  EXPECT_EQ(printed(key_.get(), EVP_PKEY_print_private), printed(theirs.get(), EVP_PKEY_print_private));
  EXPECT_EQ(printed(key_.get(), EVP_PKEY_print_public), printed(theirs.get(), EVP_PKEY_print_public));
  const bool has_parameters = EVP_PKEY_is_a(key_.get(), "EC") == 1;
  EXPECT_EQ(printed(key_.get(), EVP_PKEY_print_params),
            has_parameters ? printed(theirs.get(), EVP_PKEY_print_params) : "");
  ERR_clear_error();
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProviderKeys,
                         testing::Values("RSA:2048", "EC:P-256", "EC:P-384", "EC:P-521", "ED25519"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::erase_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

TEST(ProviderCurves, ManymodComputesP384) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("EC:P-384"));
  EXPECT_FALSE(sign_message(library, key.get(), "SHA384", kMessage, {}, 1).empty());
  EXPECT_EQ(library.computed(), 1U);
}

/// Peers that are no points of the curve are refused before a secret is computed.
TEST(ProviderCurves, SignDigestsOfTheirHashAlone) {
  const Library library;
  const std::string& pem = private_pem("EC:P-384");
  const Evp<EVP_PKEY> key = library.decode(pem), theirs = reference().decode(pem);
  for (const std::size_t size : {7U, 31U, 32U, 36U, 48U}) {
    for (const char* const hash : {"", "SHA256", "MD5-SHA1"}) {
      const std::string name = hash;
      const Settings settings = name.empty() ? Settings{} : Settings{{"digest", name}};
      const bool refused = sign_digest(reference(), theirs.get(), Bytes(size, 1), settings).empty();
      EXPECT_EQ(refused, !name.empty() && size != (name == "SHA256" ? 32U : 36U));
      EXPECT_EQ(sign_digest(library, key.get(), Bytes(size, 1), settings).empty(), refused) << name << size;
    }
  }
}

TEST(ProviderCurves, ChecksPeers) {
  const Library library;
  for (const char* group : {"P-256", "P-384", "P-521"}) {
    const Evp<EVP_PKEY> key(EVP_PKEY_Q_keygen(library.get(), nullptr, "EC", group));
    const Evp<EVP_PKEY_CTX> context = library.context(key.get());
    EXPECT_EQ(EVP_PKEY_public_check(context.get()), 1);
    const Evp<EVP_PKEY> other(EVP_PKEY_Q_keygen(library.get(), nullptr, "EC", "P-224"));
    ASSERT_EQ(EVP_PKEY_derive_init(context.get()), 1);
    EXPECT_NE(EVP_PKEY_derive_set_peer(context.get(), other.get()), 1);
    unsigned char* point = nullptr;
    const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &point);
    point[size - 1] ^= 1;
    EXPECT_NE(EVP_PKEY_set1_encoded_public_key(other.get(), point, size), 1);
    OPENSSL_free(point);
  }
  ERR_clear_error();
}

/// Keys that manymod generates are as any others: on the curve, whole, and different each time.
TEST(ProviderCurves, GeneratesKeysOnP384) {
  const Library library;
  std::string before;
  for (int i = 0; i < 8; ++i) {
    const Evp<EVP_PKEY> key(
        EVP_PKEY_Q_keygen(library.get(), nullptr, "EC", i % 2 == 0 ? "P-384" : "secp384r1"));
    ASSERT_NE(key, nullptr);
    const std::string pem = to_pem(key.get(), true);
    EXPECT_NE(pem, before);
    before = pem;
    const Evp<EVP_PKEY> theirs = reference().decode(pem);
    const Evp<EVP_PKEY_CTX> context = reference().context(theirs.get());
    EXPECT_EQ(EVP_PKEY_check(context.get()), 1);
  }
}

/// HPKE derives keys from a string that it gives (OpenSSL 3.2 and newer).
TEST(ProviderCurves, DerivesKeysAsTheDefaultProvider) {
  if (!is_at_least(3, 2)) GTEST_SKIP() << "libcrypto has no DeriveKeyPair";
  const Library library;
  Bytes material(66, 9);
  for (const auto& [group, size] : {std::pair("P-256", 32), {"P-384", 48}, {"P-521", 66}}) {
    std::vector<std::string> made;
    for (const Library* each : {&library, &library, &reference()}) {
      const Evp<EVP_PKEY_CTX> generating(EVP_PKEY_CTX_new_from_name(each->get(), "EC", nullptr));
      ASSERT_EQ(EVP_PKEY_keygen_init(generating.get()), 1);
      const OSSL_PARAM parameters[] = {
          OSSL_PARAM_construct_utf8_string("group", const_cast<char*>(group), 0),
          OSSL_PARAM_construct_octet_string("dhkem-ikm", material.data(), static_cast<std::size_t>(size)),
          OSSL_PARAM_construct_end()};
      ASSERT_EQ(EVP_PKEY_CTX_set_params(generating.get(), parameters), 1);
      EVP_PKEY* raw = nullptr;
      ASSERT_EQ(EVP_PKEY_generate(generating.get(), &raw), 1);
      made.push_back(to_pem(Evp<EVP_PKEY>(raw).get(), true));
    }
    EXPECT_EQ(made[0], made[2]) << group;
    EXPECT_EQ(made[1], made[2]) << group;
  }
}

TEST(ProviderCurves, ExchangeSecretsWithEveryCurve) {
  const Library library;
  for (const char* group : {"P-256", "P-384", "P-521", "secp256k1", "brainpoolP256r1"}) {
    const Evp<EVP_PKEY> own(EVP_PKEY_Q_keygen(library.get(), nullptr, "EC", group));
    const Evp<EVP_PKEY> other(EVP_PKEY_Q_keygen(reference().get(), nullptr, "EC", group));
    ASSERT_NE(own, nullptr) << group;
    EXPECT_EQ(provider_of(own.get()), "manymod");
    std::vector<Bytes> secrets;
    const Evp<EVP_PKEY> own_public = reference().decode(to_pem(own.get(), false));
    const Evp<EVP_PKEY> other_public = library.decode(to_pem(other.get(), false));
    for (const auto& [where, key, peer] : {std::tuple(&library, own.get(), other_public.get()),
                                           std::tuple(&reference(), other.get(), own_public.get())}) {
      const Evp<EVP_PKEY_CTX> context = where->context(key);
      std::size_t size = 0;
      ASSERT_EQ(EVP_PKEY_derive_init(context.get()), 1);
      ASSERT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer), 1);
      ASSERT_EQ(EVP_PKEY_derive(context.get(), nullptr, &size), 1);
      secrets.emplace_back(size);
      ASSERT_EQ(EVP_PKEY_derive(context.get(), secrets.back().data(), &size), 1);
    }
    EXPECT_EQ(secrets[0], secrets[1]) << group;
  }
}

/// As TLS does it: parameters, then a key from them, and the peer's key from its encoding.
TEST(ProviderCurves, KeysFromTemplates) {
  const Library library;
  const Evp<EVP_PKEY_CTX> making(EVP_PKEY_CTX_new_from_name(library.get(), "EC", nullptr));
  ASSERT_EQ(EVP_PKEY_paramgen_init(making.get()), 1);
  ASSERT_TRUE(set_parameters(making.get(), {{"group", "P-384"}}));
  EVP_PKEY* raw = nullptr;
  ASSERT_EQ(EVP_PKEY_paramgen(making.get(), &raw), 1);
  const Evp<EVP_PKEY> parameters(raw);
  const Evp<EVP_PKEY_CTX> generating = library.context(parameters.get());
  ASSERT_EQ(EVP_PKEY_keygen_init(generating.get()), 1);
  raw = nullptr;
  ASSERT_EQ(EVP_PKEY_keygen(generating.get(), &raw), 1);
  const Evp<EVP_PKEY> key(raw);
  EXPECT_EQ(EVP_PKEY_parameters_eq(key.get(), parameters.get()), 1);
  ASSERT_TRUE(set_parameters(generating.get(), {{"encoding", "explicit"}}));
  raw = nullptr;
  ASSERT_EQ(EVP_PKEY_keygen(generating.get(), &raw), 1);
  const Evp<EVP_PKEY> explicitly(raw);
  char encoding[16] = "";
  EXPECT_EQ(EVP_PKEY_get_utf8_string_param(explicitly.get(), "encoding", encoding, sizeof encoding, nullptr),
            1);
  EXPECT_STREQ(encoding, "explicit");
  const Evp<EVP_PKEY> peer(EVP_PKEY_new());
  ASSERT_EQ(EVP_PKEY_copy_parameters(peer.get(), parameters.get()), 1);
  unsigned char* point = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &point);
  ASSERT_EQ(size, 97U);
  EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(peer.get(), point, size), 1);
  EXPECT_EQ(EVP_PKEY_eq(peer.get(), key.get()), 1);
  point[50] ^= 1;
  EXPECT_NE(EVP_PKEY_set1_encoded_public_key(peer.get(), point, size), 1);
  OPENSSL_free(point);
  ERR_clear_error();
}

TEST(ProviderConfiguration, ListsTheAlgorithms) {
  const Library library(Order::default_first, "algorithms = RSA");
  EXPECT_EQ(provider_of(library.decode(private_pem("RSA:2048")).get()), "manymod");
  EXPECT_EQ(provider_of(library.decode(private_pem("EC:P-256")).get()), "default");
}

TEST(ProviderConfiguration, RefusesNonsense) {
  EXPECT_THROW(Library(Order::default_first, "mode = elsewhere"), std::runtime_error);
  EXPECT_THROW(Library(Order::default_first, "timeout_ms = soon"), std::runtime_error);
  EXPECT_THROW(Library(Order::default_first, "decode_public = perhaps"), std::runtime_error);
  ERR_clear_error();
}

Bytes element(std::uint8_t tag, const Bytes& contents) {
  Bytes der{tag, 0x82, static_cast<std::uint8_t>(contents.size() >> 8),
            static_cast<std::uint8_t>(contents.size())};
  if (contents.size() < 0x80) der = {tag, static_cast<std::uint8_t>(contents.size())};
  der.insert(der.end(), contents.begin(), contents.end());
  return der;
}

std::string reference_of(const Bytes& der) {
  const Evp<BIO> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio(bio.get(), "MANYMOD KEY REFERENCE", "", der.data(), static_cast<long>(der.size()));
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

Bytes subject_public_key_info(const std::string& pem) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(reference().decode(pem).get(), &der);
  Bytes bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

/// The contents of a reference, without their SEQUENCE.
Bytes named(const std::string& name, const Bytes& key) {
  Bytes contents = element(0x0c, Bytes(name.begin(), name.end()));
  contents.insert(contents.end(), key.begin(), key.end());
  return contents;
}

std::string reference_pem(const std::string& pem) {
  return reference_of(element(0x30, named("manymod key reference", subject_public_key_info(pem))));
}

/// Without a daemon: what references are, and that they say what is wrong.
TEST(ProviderReferences, AreKeysWithoutPrivateNumbers) {
  const Library library(Order::default_first, "socket = /nonexistent/signd.sock\npatience_ms = 1");
  for (const char* kind : {"RSA:2048", "EC:P-256", "ED25519"}) {
    const Evp<EVP_PKEY> key = library.decode(reference_pem(private_pem(kind)));
    ASSERT_NE(key, nullptr) << kind;
    EXPECT_EQ(provider_of(key.get()), "manymod");
    EXPECT_EQ(to_pem(key.get(), false), public_pem(private_pem(kind)));
    EXPECT_TRUE(to_pem(key.get(), true).empty());
    const Evp<EVP_PKEY> whole = library.decode(private_pem(kind));
    EXPECT_EQ(EVP_PKEY_eq(key.get(), whole.get()), 1);
    const Evp<EVP_PKEY> copy(EVP_PKEY_dup(key.get()));
    ASSERT_NE(copy, nullptr);
    for (EVP_PKEY* each : {key.get(), copy.get()}) {
      ERR_clear_error();
      const char* const hash = std::string(kind) == "ED25519" ? nullptr : "SHA256";
      EXPECT_TRUE(sign_message(library, each, hash, kMessage, {}, 0).empty());
      const char* data = "";
      ERR_get_error_all(nullptr, nullptr, nullptr, &data, nullptr);
      EXPECT_STREQ(data, "manymod-signd cannot be reached");
    }
  }
  ERR_clear_error();
}

TEST(ProviderReferences, OfOtherContentsAreRefused) {
  const Library library;
  const Bytes key = subject_public_key_info(private_pem("EC:P-256"));
  Bytes off_curve = key;
  off_curve.back() ^= 1;
  Bytes longer = element(0x30, named("manymod key reference", key));
  longer.push_back(0);
  for (const Bytes& wrong :
       {key, Bytes{}, Bytes{0}, Bytes{0x30, 0x80}, Bytes{0x30, 0x05, 0x0c}, longer,
        element(0x30, named("another name", key)), element(0x30, named("manymod key reference", {})),
        element(0x30, named("manymod key reference", off_curve)),
        element(0x31, named("manymod key reference", key)),
        element(0x30, named("manymod key reference", Bytes(key.begin(), key.end() - 1)))}) {
    EXPECT_EQ(library.decode(reference_of(wrong)), nullptr);
  }
  EXPECT_NE(library.decode(reference_of(element(0x30, named("manymod key reference", key)))), nullptr);
  ERR_clear_error();
}

/// The least number of bytes behind what has been read, at the end of each reading.
long note_rest(BIO* bio, int operation, const char*, std::size_t, int, long, int result, std::size_t*) {
  auto* const least = reinterpret_cast<std::size_t*>(BIO_get_callback_arg(bio));
  if (operation == (BIO_CB_READ | BIO_CB_RETURN)) *least = std::min(*least, BIO_ctrl_pending(bio));
  return result;
}

/// The decoders of references stop where what they read is none, as private keys are.
TEST(ProviderReferences, OthersAreNotRead) {
  constexpr std::size_t kBehind = 100'000;
  const Library library;
  for (const char* kind : {"RSA:2048", "EC:P-256", "ED25519"}) {
    unsigned char* der = nullptr;
    const int size = i2d_PrivateKey(reference().decode(private_pem(kind)).get(), &der);
    Bytes bytes(der, der + size);
    OPENSSL_free(der);
    bytes.resize(bytes.size() + kBehind);
    for (const Library* each : {&reference(), &library}) {
      const Evp<BIO> bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
      std::size_t rest = bytes.size();
      BIO_set_callback_ex(bio.get(), note_rest);
      BIO_set_callback_arg(bio.get(), reinterpret_cast<char*>(&rest));
      EVP_PKEY* raw = nullptr;
      OSSL_DECODER_CTX* const context = OSSL_DECODER_CTX_new_for_pkey(&raw, "DER", nullptr, nullptr,
                                                                      EVP_PKEY_KEYPAIR, each->get(), nullptr);
      EXPECT_EQ(OSSL_DECODER_from_bio(context, bio.get()), 1);
      OSSL_DECODER_CTX_free(context);
      const Evp<EVP_PKEY> key(raw);
      EXPECT_NE(key, nullptr);
      EXPECT_GE(rest, kBehind) << kind;
    }
  }
}

/// In the daemon's mode a key in a file is computed with here while there is no daemon.
TEST(ProviderDaemonMode, FallsBack) {
  const Library library(Order::default_first,
                        "mode = daemon\nsocket = /nonexistent/signd.sock\npatience_ms = 1");
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:2048"));
  const Bytes signature = sign_message(library, key.get(), "SHA256", kMessage, {}, 1);
  EXPECT_EQ(verify_message(library, key.get(), "SHA256", kMessage, signature, {}), 1);
  EXPECT_EQ(library.computed(), 0U);
  ERR_clear_error();
}

}  // namespace
}  // namespace manymod::test
