// SPDX-License-Identifier: Apache-2.0
// Public keys that verify by the default provider's own functions: they are the keys that it makes of the
// same parts, and their contexts have its parameters.
#include <openssl/err.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "library.hpp"

namespace manymod::test {
namespace {

const Bytes kMessage(100, 0x33);

/// The parts of a key, as bytes by name.
std::map<std::string, Bytes> parts_of(EVP_PKEY* key) {
  OSSL_PARAM* parts = nullptr;
  if (EVP_PKEY_todata(key, EVP_PKEY_KEYPAIR, &parts) != 1) return {};
  const Evp<OSSL_PARAM> owner(parts);
  std::map<std::string, Bytes> found;
  for (const OSSL_PARAM* part = parts; part->key != nullptr; ++part) {
    const auto* const data = static_cast<const std::uint8_t*>(part->data);
    found[part->key].assign(data, data + part->data_size);
  }
  return found;
}

Evp<EVP_PKEY> import(const Library& library, const char* type, const OSSL_PARAM* parts) {
  const Evp<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(library.get(), type, nullptr));
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context.get());
  EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, const_cast<OSSL_PARAM*>(parts));
  return Evp<EVP_PKEY>(key);
}

/// The encoded point of a new key.
Bytes point_of(const char* curve, const char* form) {
  const Evp<EVP_PKEY> key(EVP_PKEY_Q_keygen(reference().get(), nullptr, "EC", curve));
  EVP_PKEY_set_utf8_string_param(key.get(), OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, form);
  unsigned char* point = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &point);
  Bytes bytes(point, point + size);
  OPENSSL_free(point);
  return bytes;
}

struct CurveParts {
  std::string curve, form, encoding;
  int cofactor;

  /// The key of these parts; null if there is none.
  [[nodiscard]] Evp<EVP_PKEY> key(const Library& library, const Bytes& point) const {
    int use_cofactor = cofactor;
    const auto text = [](const char* name, const std::string& value) {
      return OSSL_PARAM_construct_utf8_string(name, const_cast<char*>(value.data()), 0);
    };
    const OSSL_PARAM parts[] = {
        text(OSSL_PKEY_PARAM_GROUP_NAME, curve),
        text(OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, form),
        text(OSSL_PKEY_PARAM_EC_ENCODING, encoding),
        OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_USE_COFACTOR_ECDH, &use_cofactor),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, const_cast<std::uint8_t*>(point.data()),
                                          point.size()),
        OSSL_PARAM_construct_end()};
    return import(library, "EC", parts);
  }
};

TEST(ProviderPublicKeys, OfCurvesAreThoseOfTheDefaultProvider) {
  const Library library;
  const std::vector<CurveParts> all = {
      {"P-256", "uncompressed", "named_curve", 0}, {"P-256", "compressed", "named_curve", 0},
      {"P-256", "uncompressed", "explicit", 0},    {"P-256", "hybrid", "named_curve", 1},
      {"P-521", "uncompressed", "named_curve", 0}, {"secp256k1", "uncompressed", "named_curve", 0}};
  for (int again = 0; again < 3; ++again) {  // from the second time on the domain is known
    for (const CurveParts& parts : all) {
      for (const char* form : {"uncompressed", "compressed"}) {
        Bytes point = point_of(parts.curve.c_str(), form);
        const Evp<EVP_PKEY> own = parts.key(library, point), other = parts.key(reference(), point);
        ASSERT_NE(own, nullptr) << parts.curve << ' ' << parts.form;
        EXPECT_EQ(provider_of(own.get()), "manymod");
        EXPECT_TRUE(parts_of(own.get()) == parts_of(other.get())) << parts.curve << ' ' << parts.form;
        EXPECT_EQ(to_pem(own.get(), false), to_pem(other.get(), false));
        EXPECT_EQ(EVP_PKEY_get_bits(own.get()), EVP_PKEY_get_bits(other.get()));
        point.back() ^= 1;  // not on the curve, or the point's opposite
        const Evp<EVP_PKEY> bad = parts.key(library, point);
        EXPECT_EQ(bad == nullptr, parts.key(reference(), point) == nullptr);
      }
      EXPECT_EQ(parts.key(library, {4}), nullptr);
      EXPECT_EQ(parts.key(library, {0}) == nullptr, parts.key(reference(), {0}) == nullptr);  // infinity
    }
  }
  ERR_clear_error();
}

/// The memory of names and values is the caller's again after an import: these end before the next one.
TEST(ProviderPublicKeys, KeepNothingOfTheCallersMemory) {
  const Library library;
  for (const char* curve : {"P-256", "P-521", "P-256"}) {
    const std::string group_name = OSSL_PKEY_PARAM_GROUP_NAME;
    Bytes group_key(group_name.c_str(), group_name.c_str() + group_name.size() + 1),
        name(curve, curve + std::strlen(curve) + 1), point = point_of(curve, "uncompressed");
    ASSERT_STREQ(reinterpret_cast<const char*>(group_key.data()), OSSL_PKEY_PARAM_GROUP_NAME);
    auto* const text = reinterpret_cast<char*>(name.data());
    char* by_pointer = text;
    const char* const key = reinterpret_cast<const char*>(group_key.data());
    for (const OSSL_PARAM& group : {OSSL_PARAM_construct_utf8_string(key, text, 0),
                                    OSSL_PARAM_construct_utf8_ptr(key, &by_pointer, name.size() - 1),
                                    OSSL_PARAM_construct_utf8_ptr(key, &by_pointer, 0)}) {
      const OSSL_PARAM parts[] = {
          group, OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
          OSSL_PARAM_construct_end()};
      const Evp<EVP_PKEY> own = import(library, "EC", parts), other = import(reference(), "EC", parts);
      ASSERT_EQ(own == nullptr, other == nullptr);
      if (own == nullptr) continue;
      EXPECT_EQ(to_pem(own.get(), false), to_pem(other.get(), false));
    }
  }
  ERR_clear_error();
}

TEST(ProviderPublicKeys, CanBeChanged) {
  const Library library;
  const CurveParts parts{"P-256", "uncompressed", "named_curve", 0};
  const Evp<EVP_PKEY> own = parts.key(library, point_of("P-256", "uncompressed"));
  const std::string& pem = private_pem("EC:P-256");
  const Evp<EVP_PKEY> signer = reference().decode(pem);
  const Bytes signature = sign_message(reference(), signer.get(), "SHA256", kMessage, {}, 0);
  EXPECT_NE(verify_message(library, own.get(), "SHA256", kMessage, signature, {}), 1);
  unsigned char* point = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(signer.get(), &point);
  EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(own.get(), point, size), 1);
  OPENSSL_free(point);
  EXPECT_EQ(verify_message(library, own.get(), "SHA256", kMessage, signature, {}), 1);
  const Evp<EVP_PKEY> copy(EVP_PKEY_dup(own.get()));
  EXPECT_EQ(verify_message(library, copy.get(), "SHA256", kMessage, signature, {}), 1);
  EXPECT_EQ(to_pem(copy.get(), false), public_pem(pem));
  ERR_clear_error();
}

TEST(ProviderPublicKeys, VerifyMessagesWhoseContextsAreCopiedAndAsked) {
  const Library library;
  const std::string& pem = private_pem("RSA:2048");
  const Evp<EVP_PKEY> signer = reference().decode(pem), key = library.decode(public_pem(pem));
  const Settings pss = {{"pad-mode", "pss"}, {"saltlen", "20"}, {"mgf1-digest", "SHA384"}};
  const Bytes signature = sign_message(reference(), signer.get(), "SHA256", kMessage, pss, 0);
  const Evp<EVP_MD_CTX> first(EVP_MD_CTX_new()), second(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  ASSERT_EQ(
      EVP_DigestVerifyInit_ex(first.get(), &of_key, "SHA256", library.get(), nullptr, key.get(), nullptr), 1);
  ASSERT_TRUE(set_parameters(of_key, pss));
  char mode[16] = "", hash[16] = "";
  OSSL_PARAM asked[] = {OSSL_PARAM_construct_utf8_string("pad-mode", mode, sizeof mode),
                        OSSL_PARAM_construct_utf8_string("mgf1-digest", hash, sizeof hash),
                        OSSL_PARAM_construct_end()};
  EXPECT_EQ(EVP_PKEY_CTX_get_params(of_key, asked), 1);
  EXPECT_STREQ(mode, "pss");
  EXPECT_EQ(std::string(hash).substr(0, 3), "SHA");
  EXPECT_NE(EVP_PKEY_CTX_gettable_params(of_key), nullptr);
  EXPECT_NE(EVP_PKEY_CTX_settable_params(of_key), nullptr);
  EXPECT_EQ(EVP_DigestVerifyUpdate(first.get(), kMessage.data(), 50), 1);
  // The digest of a message under way is not changed: OpenSSL 3.6 ignores what older versions refuse.
  EXPECT_EQ(set_parameters(of_key, {{"digest", "SHA1"}}), is_at_least(3, 6));
  ASSERT_EQ(EVP_MD_CTX_copy_ex(second.get(), first.get()), 1);
  for (EVP_MD_CTX* const context : {first.get(), second.get()}) {
    EXPECT_EQ(EVP_DigestVerifyUpdate(context, kMessage.data() + 50, 50), 1);
    EXPECT_EQ(EVP_DigestVerifyFinal(context, signature.data(), signature.size()), 1);
  }
  const Bytes digest(32, 7);
  const Bytes of_digest = sign_digest(reference(), signer.get(), digest, {{"digest", "SHA256"}});
  EXPECT_EQ(verify_digest(library, key.get(), digest, of_digest, {{"digest", "SHA256"}}), 1);
  EXPECT_NE(verify_digest(library, key.get(), Bytes(32, 8), of_digest, {{"digest", "SHA256"}}), 1);
  EXPECT_EQ(library.verified(), 0U);
  ERR_clear_error();
}

/// Encryption and recovery, which the default provider's EVP layer has, with the key as that knows it.
TEST(ProviderPublicKeys, DoWhatElseTheyCan) {
  const Library library;
  const std::string& pem = private_pem("RSA:2048");
  const Evp<EVP_PKEY> owner = reference().decode(pem), key = library.decode(public_pem(pem));
  const Evp<EVP_PKEY_CTX> encryption = library.context(key.get()), recovery = library.context(key.get());
  const Bytes secret(40, 5);
  Bytes sealed(256), opened(256);
  std::size_t size = sealed.size(), opened_size = opened.size();
  ASSERT_EQ(EVP_PKEY_encrypt_init(encryption.get()), 1);
  ASSERT_EQ(EVP_PKEY_encrypt(encryption.get(), sealed.data(), &size, secret.data(), secret.size()), 1);
  const Evp<EVP_PKEY_CTX> decryption = reference().context(owner.get());
  ASSERT_EQ(EVP_PKEY_decrypt_init(decryption.get()), 1);
  ASSERT_EQ(EVP_PKEY_decrypt(decryption.get(), opened.data(), &opened_size, sealed.data(), size), 1);
  EXPECT_TRUE(std::equal(secret.begin(), secret.end(), opened.begin()));
  const Bytes digest(32, 7);
  const Bytes signature = sign_digest(reference(), owner.get(), digest, {{"digest", "SHA256"}});
  opened_size = opened.size();
  ASSERT_EQ(EVP_PKEY_verify_recover_init(recovery.get()), 1);
  ASSERT_TRUE(set_parameters(recovery.get(), {{"digest", "SHA256"}}));
  ASSERT_EQ(EVP_PKEY_verify_recover(recovery.get(), opened.data(), &opened_size, signature.data(),
                                    signature.size()),
            1);
  EXPECT_EQ(Bytes(opened.begin(), opened.begin() + static_cast<std::ptrdiff_t>(opened_size)), digest);
}

Evp<EVP_PKEY> from_der(const Library& library, const Bytes& der) {
  const unsigned char* read = der.data();
  return Evp<EVP_PKEY>(d2i_PUBKEY_ex(nullptr, &read, static_cast<long>(der.size()), library.get(), nullptr));
}

Bytes to_der(EVP_PKEY* key) {
  unsigned char* raw = nullptr;
  const int size = i2d_PUBKEY(key, &raw);
  Bytes der(raw, raw + size);
  OPENSSL_free(raw);
  return der;
}

class ProviderDecoding : public testing::TestWithParam<Order> {
 protected:
  const Library library_{GetParam(), "decode_public = yes"};

  void decodes_as_the_default_provider(const Bytes& der) const {
    const Evp<EVP_PKEY> own = from_der(library_, der), other = from_der(reference(), der);
    ASSERT_EQ(own == nullptr, other == nullptr);
    if (own == nullptr) return;
    EXPECT_TRUE(parts_of(own.get()) == parts_of(other.get()));
    EXPECT_EQ(to_der(own.get()), to_der(other.get()));
  }
};

TEST_P(ProviderDecoding, GivesTheKeysOfTheDefaultProvider) {
  for (const std::string kind : {"RSA:2048", "EC:P-256", "EC:P-384", "EC:P-521", "ED25519"}) {
    const Evp<EVP_PKEY> signer = reference().decode(private_pem(kind));
    const Bytes der = to_der(signer.get());
    decodes_as_the_default_provider(der);
    const Evp<EVP_PKEY> key = from_der(library_, der);
    ASSERT_NE(key, nullptr) << kind;
    // OpenSSL before 3.2 asks first whichever provider comes last.
    if (GetParam() == Order::default_first || OPENSSL_version_minor() >= 2) {
      EXPECT_EQ(provider_of(key.get()), kind == "ED25519" ? "default" : "manymod") << kind;
    }
    EXPECT_EQ(EVP_PKEY_eq(key.get(), library_.decode(private_pem(kind)).get()), 1);
    const char* const hash = kind == "ED25519" ? nullptr : "SHA256";
    Bytes signature = sign_message(reference(), signer.get(), hash, kMessage, {}, 0);
    EXPECT_EQ(verify_message(library_, key.get(), hash, kMessage, signature, {}), 1) << kind;
    signature[signature.size() / 2] ^= 1;
    EXPECT_NE(verify_message(library_, key.get(), hash, kMessage, signature, {}), 1) << kind;
  }
  EXPECT_EQ(library_.verified(), 4U);  // good ones and bad ones by P-384 and Ed25519 keys
  ERR_clear_error();
}

TEST_P(ProviderDecoding, RefusesWhatTheDefaultProviderRefuses) {
  for (const char* kind : {"RSA:2048", "EC:P-256", "EC:P-384"}) {
    const Bytes der = to_der(reference().decode(private_pem(kind)).get());
    for (std::size_t at = 0; at < der.size(); at += at < 32 ? 1 : 13) {
      SCOPED_TRACE(std::string(kind) + ", byte " + std::to_string(at));
      Bytes bad = der;
      bad[at] ^= static_cast<std::uint8_t>(1U << at % 8);
      decodes_as_the_default_provider(bad);
      bad.assign(der.begin(), der.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(from_der(library_, bad), nullptr);
    }
  }
  ERR_clear_error();
}

INSTANTIATE_TEST_SUITE_P(Orders, ProviderDecoding,
                         testing::Values(Order::default_first, Order::manymod_first));

}  // namespace
}  // namespace manymod::test
