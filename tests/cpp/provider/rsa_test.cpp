// SPDX-License-Identifier: Apache-2.0
// RSA by the provider, against the default provider.
#include <openssl/err.h>
#include <openssl/prov_ssl.h>

#include <algorithm>

#include "library.hpp"

namespace manymod::test {
namespace {

const Bytes kMessage(1000, 0x5a);

Settings pss(const std::string& salt) { return {{"pad-mode", "pss"}, {"saltlen", salt}}; }

class ProviderRsa : public testing::TestWithParam<Order> {
 protected:
  const Library library_{GetParam()};
  const Evp<EVP_PKEY> key_ = library_.decode(private_pem("RSA:3072"));
  const Evp<EVP_PKEY> public_ = reference().decode(public_pem(private_pem("RSA:3072")));

  /// A signature is valid for the message and for no other, and neither is another signature.
  void expect_valid(const char* hash, Bytes signature, const Settings& settings) {
    ASSERT_EQ(signature.size(), 384U);
    Bytes message = kMessage;
    for (const Library* library : {&library_, &reference()}) {
      EVP_PKEY* const key = library == &library_ ? key_.get() : public_.get();
      EXPECT_EQ(verify_message(*library, key, hash, message, signature, settings), 1);
      message.back() ^= 1;
      EXPECT_NE(verify_message(*library, key, hash, message, signature, settings), 1);
      message.back() ^= 1;
      signature[7] ^= 1;
      EXPECT_NE(verify_message(*library, key, hash, message, signature, settings), 1);
      signature[7] ^= 1;
    }
  }
};

TEST_P(ProviderRsa, SignsMessages) {
  EXPECT_EQ(provider_of(key_.get()), "manymod");
  for (const char* hash : {"SHA256", "SHA2-384", "sha512", "SHA3-256", "SHA512-256"}) {
    for (const Settings& settings :
         {Settings{}, pss("digest"), pss("-1"), pss("auto"), pss("max"), pss("20")}) {
      // Without PSS the digest's length is the salt's; "auto" asks for the longest salt, as verifiers may.
      const std::size_t before = library_.computed();
      const Bytes signature = sign_message(library_, key_.get(), hash, kMessage, settings, 2);
      EXPECT_EQ(library_.computed(), before + 1) << hash;
      expect_valid(hash, signature, settings);
    }
  }
}

TEST_P(ProviderRsa, SignsMessagesAtOnceAndDigests) {
  const Settings settings = {{"pad-mode", "6"}, {"saltlen", "digest"}, {"mgf1-digest", "SHA512"}};
  expect_valid("SHA256", sign_message(library_, key_.get(), "SHA256", kMessage, settings, 0), settings);
  Bytes digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  ASSERT_EQ(EVP_Digest(kMessage.data(), kMessage.size(), digest.data(), &size, EVP_sha256(), nullptr), 1);
  digest.resize(size);
  const Settings for_digest = {{"digest", "SHA256"}, {"pad-mode", "pss"}, {"saltlen", "32"}};
  const Bytes signature = sign_digest(library_, key_.get(), digest, for_digest);
  EXPECT_EQ(verify_digest(library_, key_.get(), digest, signature, for_digest), 1);
  EXPECT_EQ(verify_digest(reference(), public_.get(), digest, signature, for_digest), 1);
  digest[0] ^= 1;
  EXPECT_NE(verify_digest(library_, key_.get(), digest, signature, for_digest), 1);
}

/// As `openssl speed` and TLS 1.1 sign.
TEST_P(ProviderRsa, SignsDataWithoutADigest) {
  const std::size_t before = library_.computed();
  const Bytes data(36, 8);
  const Bytes signature = sign_digest(library_, key_.get(), data, {});
  EXPECT_EQ(library_.computed(), before + 1);
  const Evp<EVP_PKEY> theirs = reference().decode(private_pem("RSA:3072"));
  EXPECT_EQ(signature, sign_digest(reference(), theirs.get(), data, {}));
  EXPECT_EQ(verify_digest(reference(), public_.get(), data, signature, {}), 1);
  EXPECT_TRUE(sign_digest(library_, key_.get(), Bytes(374, 1), {}).empty());
  for (const std::size_t size : {10U, 35U, 37U}) {
    EXPECT_TRUE(sign_digest(library_, key_.get(), Bytes(size, 1), {{"digest", "MD5-SHA1"}}).empty()) << size;
  }
  expect_valid("MD5-SHA1", sign_message(library_, key_.get(), "MD5-SHA1", kMessage, {}, 1), {});
  EXPECT_EQ(library_.computed(), before + 2);
  ERR_clear_error();
}

/// What manymod does not sign the default provider does.
TEST_P(ProviderRsa, DelegatesOtherDigestsAndPaddings) {
  const std::size_t before = library_.computed();
  for (const char* hash : {"MD5", "RIPEMD160", "SHA1"}) {
    expect_valid(hash, sign_message(library_, key_.get(), hash, kMessage, {}, 1), {});
  }
  const Bytes raw(384, 1);
  const Settings none = {{"pad-mode", "none"}};
  const Bytes signature = sign_digest(library_, key_.get(), raw, none);
  EXPECT_EQ(verify_digest(reference(), public_.get(), raw, signature, none), 1);
  EXPECT_EQ(library_.computed(), before);
}

TEST_P(ProviderRsa, RefusesWrongParameters) {
  const Bytes digest(32, 1);
  for (const Settings& wrong :
       {Settings{{"pad-mode", "unknown"}}, Settings{{"pad-mode", "pss"}, {"saltlen", "-9"}},
        Settings{{"digest", "no-such-digest"}}, Settings{{"digest", "SHA384"}},
        Settings{{"pad-mode", "pss"}, {"digest", "SHA256"}, {"saltlen", "9999"}}, Settings{{"saltlen", "20"}},
        Settings{{"pad-mode", "oaep"}}}) {
    EXPECT_EQ(sign_digest(library_, key_.get(), digest, wrong),
              sign_digest(reference(), reference().decode(private_pem("RSA:3072")).get(), digest, wrong));
  }
  EXPECT_TRUE(sign_message(library_, key_.get(), "no-such-digest", kMessage, {}, 1).empty());
  // The digest of a message under way.
  EXPECT_TRUE(sign_message(library_, key_.get(), "SHA256", kMessage, {{"digest", "SHA512"}}, 1).empty());
  // What it has is no other.
  for (const char* same : {"SHA256", "sha2-256"}) {
    const Settings again = {{"digest", same}};
    expect_valid("SHA256", sign_message(library_, key_.get(), "SHA256", kMessage, again, 1), again);
  }
  // A signature without a private key, and one into too little room.
  const Evp<EVP_PKEY> public_here = library_.decode(public_pem(private_pem("RSA:3072")));
  EXPECT_EQ(provider_of(public_here.get()), "manymod");
  EXPECT_TRUE(sign_digest(library_, public_here.get(), digest, {{"digest", "SHA256"}}).empty());
  const Evp<EVP_PKEY_CTX> context = library_.context(key_.get());
  ASSERT_EQ(EVP_PKEY_sign_init(context.get()), 1);
  ASSERT_TRUE(set_parameters(context.get(), {{"digest", "SHA256"}}));
  Bytes room(383);
  std::size_t size = room.size();
  EXPECT_NE(EVP_PKEY_sign(context.get(), room.data(), &size, digest.data(), digest.size()), 1);
  ERR_clear_error();
}

TEST_P(ProviderRsa, ReportsParametersAsTheDefaultProvider) {
  const Evp<EVP_PKEY> theirs = reference().decode(private_pem("RSA:3072"));
  std::vector<Bytes> reports;
  for (const auto& [library, key] :
       {std::pair(&library_, key_.get()), std::pair(&reference(), theirs.get())}) {
    const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* of_key = nullptr;
    ASSERT_EQ(EVP_DigestSignInit_ex(context.get(), &of_key, "SHA384", library->get(), nullptr, key, nullptr),
              1);
    ASSERT_TRUE(set_parameters(of_key, pss("48")));
    Bytes report(512);
    char mode[16] = "";
    char hash[16] = "";
    int salt = 0;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("algorithm-id", report.data(), report.size()),
        OSSL_PARAM_construct_utf8_string("pad-mode", mode, sizeof mode),
        OSSL_PARAM_construct_utf8_string("digest", hash, sizeof hash),
        OSSL_PARAM_construct_int("saltlen", &salt), OSSL_PARAM_construct_end()};
    ASSERT_EQ(EVP_PKEY_CTX_get_params(of_key, parameters), 1);
    report.resize(parameters[0].return_size);
    EXPECT_STREQ(mode, "pss");
    EXPECT_STREQ(hash, "SHA384");
    EXPECT_EQ(salt, 48);
    EXPECT_NE(EVP_PKEY_CTX_gettable_params(of_key), nullptr);
    EXPECT_NE(EVP_PKEY_CTX_settable_params(of_key), nullptr);
    reports.push_back(report);
  }
  EXPECT_EQ(reports[0], reports[1]);
}

/// libcrypto copies the context before the last step, and applications in the middle of messages.
TEST_P(ProviderRsa, CopiesContextsInTheMiddle) {
  const Evp<EVP_MD_CTX> signing(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  ASSERT_EQ(
      EVP_DigestSignInit_ex(signing.get(), &of_key, "SHA256", library_.get(), nullptr, key_.get(), nullptr),
      1);
  ASSERT_TRUE(set_parameters(of_key, pss("digest")));
  ASSERT_EQ(EVP_DigestSignUpdate(signing.get(), kMessage.data(), 10), 1);
  const Evp<EVP_MD_CTX> copy(EVP_MD_CTX_new());
  ASSERT_EQ(EVP_MD_CTX_copy_ex(copy.get(), signing.get()), 1);
  for (EVP_MD_CTX* context : {signing.get(), copy.get()}) {
    ASSERT_EQ(EVP_DigestSignUpdate(context, kMessage.data() + 10, kMessage.size() - 10), 1);
    Bytes signature(384);
    std::size_t size = signature.size();
    ASSERT_EQ(EVP_DigestSignFinal(context, signature.data(), &size), 1);
    expect_valid("SHA256", signature, pss("digest"));
    const Evp<EVP_MD_CTX> verifying(EVP_MD_CTX_new());
    ASSERT_EQ(EVP_DigestVerifyInit_ex(verifying.get(), &of_key, "SHA256", library_.get(), nullptr, key_.get(),
                                      nullptr),
              1);
    ASSERT_TRUE(set_parameters(of_key, pss("digest")));
    ASSERT_EQ(EVP_DigestVerifyUpdate(verifying.get(), kMessage.data(), 500), 1);
    const Evp<EVP_MD_CTX> other(EVP_MD_CTX_new());
    ASSERT_EQ(EVP_MD_CTX_copy_ex(other.get(), verifying.get()), 1);
    ASSERT_EQ(EVP_DigestVerifyUpdate(verifying.get(), kMessage.data() + 500, kMessage.size() - 500), 1);
    EXPECT_EQ(EVP_DigestVerifyFinal(verifying.get(), signature.data(), size), 1);
    EXPECT_NE(EVP_DigestVerifyFinal(other.get(), signature.data(), size), 1);
  }
}

TEST_P(ProviderRsa, RecoversDigests) {
  const Bytes digest(32, 9);
  const Settings settings = {{"digest", "SHA256"}};
  const Bytes signature = sign_digest(library_, key_.get(), digest, settings);
  const Evp<EVP_PKEY_CTX> context = library_.context(key_.get());
  ASSERT_EQ(EVP_PKEY_verify_recover_init(context.get()), 1);
  ASSERT_TRUE(set_parameters(context.get(), settings));
  Bytes recovered(384);
  std::size_t size = recovered.size();
  ASSERT_EQ(
      EVP_PKEY_verify_recover(context.get(), recovered.data(), &size, signature.data(), signature.size()), 1);
  recovered.resize(size);
  EXPECT_EQ(recovered, digest);
}

Bytes decrypt(const Library& library, EVP_PKEY* key, const Bytes& ciphertext, const Settings& settings) {
  const Evp<EVP_PKEY_CTX> context = library.context(key);
  std::size_t size = 0;
  if (EVP_PKEY_decrypt_init(context.get()) <= 0 || !set_parameters(context.get(), settings) ||
      EVP_PKEY_decrypt(context.get(), nullptr, &size, ciphertext.data(), ciphertext.size()) <= 0) {
    return {};
  }
  Bytes message(size);
  if (EVP_PKEY_decrypt(context.get(), message.data(), &size, ciphertext.data(), ciphertext.size()) <= 0)
    return {};
  message.resize(size);
  return message;
}

Bytes encrypt(const Library& library, EVP_PKEY* key, const Bytes& message, const Settings& settings) {
  const Evp<EVP_PKEY_CTX> context = library.context(key);
  std::size_t size = 384;
  Bytes ciphertext(size);
  if (EVP_PKEY_encrypt_init(context.get()) <= 0 || !set_parameters(context.get(), settings) ||
      EVP_PKEY_encrypt(context.get(), ciphertext.data(), &size, message.data(), message.size()) <= 0) {
    return {};
  }
  ciphertext.resize(size);
  return ciphertext;
}

TEST_P(ProviderRsa, Decrypts) {
  const Bytes message(48, 3);
  for (const Settings& settings :
       {Settings{{"pad-mode", "pkcs1"}}, Settings{{"pad-mode", "oaep"}},
        Settings{{"pad-mode", "oaep"}, {"digest", "SHA256"}},
        Settings{{"pad-mode", "oaep"}, {"digest", "SHA384"}, {"mgf1-digest", "SHA1"}}}) {
    const std::size_t before = library_.computed();
    for (const auto& [library, key] :
         {std::pair(&library_, key_.get()), std::pair(&reference(), public_.get())}) {
      EXPECT_EQ(decrypt(library_, key_.get(), encrypt(*library, key, message, settings), settings), message);
    }
    EXPECT_EQ(library_.computed(), before + 2);
  }
  // An OAEP ciphertext that is none.
  Bytes wrong = encrypt(reference(), public_.get(), message, {{"pad-mode", "oaep"}});
  wrong[100] ^= 1;
  EXPECT_TRUE(decrypt(library_, key_.get(), wrong, {{"pad-mode", "oaep"}}).empty());
  ERR_clear_error();
}

/// The room that is too small does not depend on the message, nor on who computes.
TEST_P(ProviderRsa, DecryptsIntoRoomForTheLongestMessage) {
  const Evp<EVP_PKEY> theirs = reference().decode(private_pem("RSA:3072"));
  for (const char* padding : {"pkcs1", "oaep", "7"}) {
    const bool tls = std::string(padding) == "7";
    Settings settings = {{"pad-mode", padding}};
    if (tls) settings.emplace_back("tls-client-version", "771");
    const Bytes ciphertext =
        encrypt(reference(), public_.get(), Bytes(48, 3), {{"pad-mode", tls ? "pkcs1" : padding}});
    for (const auto& [library, key] :
         {std::pair(&library_, key_.get()), std::pair(&reference(), theirs.get())}) {
      const Evp<EVP_PKEY_CTX> context = library->context(key);
      ASSERT_EQ(EVP_PKEY_decrypt_init(context.get()), 1);
      ASSERT_TRUE(set_parameters(context.get(), settings));
      std::size_t needed = 0;
      ASSERT_EQ(EVP_PKEY_decrypt(context.get(), nullptr, &needed, ciphertext.data(), ciphertext.size()), 1);
      EXPECT_EQ(needed, tls ? 48U : 384U);
      for (const std::size_t room : {needed - 1, needed}) {
        Bytes message(needed);
        std::size_t size = room;
        const int done =
            EVP_PKEY_decrypt(context.get(), message.data(), &size, ciphertext.data(), ciphertext.size());
        EXPECT_EQ(done > 0, room == needed) << padding;
      }
    }
  }
  ERR_clear_error();
}

/// OpenSSL 3.2 and newer derive the message in place of an invalid padding as manymod does, so that none
/// tells who has computed.
TEST_P(ProviderRsa, RejectsAsTheDefaultProvider) {
  if (!is_at_least(3, 2)) GTEST_SKIP() << "libcrypto does not reject implicitly";
  const Evp<EVP_PKEY> theirs = reference().decode(private_pem("RSA:3072"));
  const std::size_t before = library_.computed();
  for (std::uint8_t i = 1; i <= 4; ++i) {
    const Bytes bad(384, i);
    EXPECT_EQ(decrypt(library_, key_.get(), bad, {}), decrypt(reference(), theirs.get(), bad, {}));
  }
  EXPECT_EQ(library_.computed(), before + 4);
}

/// Also single requests, which are the default provider's with keys of 2048 bits, and without the daemon.
TEST_P(ProviderRsa, DecryptionNeverReportsPadding) {
  const Evp<EVP_PKEY> to = reference().decode(public_pem(private_pem("RSA:2048")));
  const Bytes message(48, 3);
  const Bytes good = encrypt(reference(), to.get(), message, {});
  for (const char* settings : {"", "mode = daemon\nsocket = /nonexistent/signd.sock\npatience_ms = 1"}) {
    const Library library(GetParam(), settings);
    const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:2048"));
    EXPECT_EQ(decrypt(library, key.get(), good, {}), message);
    for (std::uint8_t i = 1; i <= 4; ++i) {
      const Bytes bad(256, i);
      const Evp<EVP_PKEY_CTX> context = library.context(key.get());
      Bytes synthetic(256);
      std::size_t size = synthetic.size();
      ASSERT_EQ(EVP_PKEY_decrypt_init(context.get()), 1);
      EXPECT_EQ(EVP_PKEY_decrypt(context.get(), synthetic.data(), &size, bad.data(), bad.size()), 1);
      EXPECT_EQ(decrypt(library, key.get(), bad, {}), Bytes(synthetic.data(), synthetic.data() + size));
    }
  }
}

TEST_P(ProviderRsa, DecryptsWithLabels) {
  const Bytes message(48, 3);
  const auto with_label = [](EVP_PKEY_CTX* context) {
    ASSERT_GT(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING), 0);
    ASSERT_GT(EVP_PKEY_CTX_set0_rsa_oaep_label(context, OPENSSL_strdup("label"), 5), 0);
  };
  const Evp<EVP_PKEY_CTX> encrypting = reference().context(public_.get());
  ASSERT_EQ(EVP_PKEY_encrypt_init(encrypting.get()), 1);
  with_label(encrypting.get());
  Bytes ciphertext(384);
  std::size_t size = ciphertext.size();
  ASSERT_EQ(EVP_PKEY_encrypt(encrypting.get(), ciphertext.data(), &size, message.data(), message.size()), 1);
  const Evp<EVP_PKEY_CTX> decrypting = library_.context(key_.get());
  ASSERT_EQ(EVP_PKEY_decrypt_init(decrypting.get()), 1);
  with_label(decrypting.get());
  Bytes decrypted(384);
  ASSERT_EQ(EVP_PKEY_decrypt(decrypting.get(), decrypted.data(), &size, ciphertext.data(), ciphertext.size()),
            1);
  decrypted.resize(size);
  EXPECT_EQ(decrypted, message);
  EXPECT_TRUE(decrypt(library_, key_.get(), ciphertext, {{"pad-mode", "oaep"}}).empty());
  ERR_clear_error();
}

/// The premaster secret of TLS 1.2: what is wrong with it shows in nothing but its value.
TEST_P(ProviderRsa, DecryptsPremasterSecrets) {
  Bytes secret(48, 7);
  secret[0] = 3;
  secret[1] = 3;
  const Settings tls = {{"pad-mode", "7"}, {"tls-client-version", "771"}};
  const Bytes good = encrypt(reference(), public_.get(), secret, {});
  EXPECT_EQ(decrypt(library_, key_.get(), good, tls), secret);
  const Settings other = {{"pad-mode", "7"}, {"tls-client-version", "770"}};
  EXPECT_EQ(decrypt(library_, key_.get(), good, other).size(), 48U);
  EXPECT_NE(decrypt(library_, key_.get(), good, other), secret);
  Settings negotiated = other;
  negotiated.emplace_back("tls-negotiated-version", "771");
  EXPECT_EQ(decrypt(library_, key_.get(), good, negotiated), secret);
  const Bytes longer = encrypt(reference(), public_.get(), Bytes(49, 3), {});
  const Bytes shorter = encrypt(reference(), public_.get(), Bytes(secret.begin(), secret.end() - 1), {});
  Bytes padding = good;
  padding[200] ^= 1;
  for (const Bytes& bad : {longer, shorter, padding}) {
    const Bytes first = decrypt(library_, key_.get(), bad, tls);
    EXPECT_EQ(first.size(), 48U);
    EXPECT_NE(first, decrypt(library_, key_.get(), bad, tls));  // fresh randomness each time
  }
}

TEST_P(ProviderRsa, KeysThatManymodDoesNotTakeAreDelegated) {
  OSSL_LIB_CTX* const library = library_.get();
  const Evp<EVP_PKEY> small(EVP_PKEY_Q_keygen(library, nullptr, "RSA", std::size_t{768}));
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(provider_of(small.get()), "manymod");
  const Evp<EVP_PKEY_CTX> generating(EVP_PKEY_CTX_new_from_name(library, "RSA", nullptr));
  ASSERT_EQ(EVP_PKEY_keygen_init(generating.get()), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(generating.get(), 2048), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_keygen_primes(generating.get(), 3), 1);
  EVP_PKEY* raw = nullptr;
  ASSERT_EQ(EVP_PKEY_generate(generating.get(), &raw), 1);
  const Evp<EVP_PKEY> three_primes(raw);
  const std::size_t before = library_.computed();
  for (EVP_PKEY* key : {small.get(), three_primes.get()}) {
    const Bytes signature = sign_message(library_, key, "SHA256", kMessage, {}, 1);
    EXPECT_EQ(verify_message(library_, key, "SHA256", kMessage, signature, {}), 1);
  }
  EXPECT_EQ(library_.computed(), before);
}

TEST_P(ProviderRsa, KeysForPssAlone) {
  const Evp<EVP_PKEY_CTX> generating(EVP_PKEY_CTX_new_from_name(library_.get(), "RSA-PSS", nullptr));
  ASSERT_EQ(EVP_PKEY_keygen_init(generating.get()), 1);
  ASSERT_TRUE(
      set_parameters(generating.get(), {{"digest", "SHA384"}, {"mgf1-digest", "SHA384"}, {"saltlen", "40"}}));
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(generating.get(), 2048), 1);
  EVP_PKEY* raw = nullptr;
  ASSERT_EQ(EVP_PKEY_generate(generating.get(), &raw), 1);
  const Evp<EVP_PKEY> generated(raw);
  const Evp<EVP_PKEY> key = library_.decode(to_pem(generated.get(), true));
  EXPECT_EQ(provider_of(key.get()), "manymod");
  const Bytes signature = sign_message(library_, key.get(), nullptr, kMessage, {}, 1);
  const Evp<EVP_PKEY> theirs = reference().decode(to_pem(key.get(), false));
  EXPECT_EQ(verify_message(reference(), theirs.get(), nullptr, kMessage, signature, {}), 1);
  EXPECT_TRUE(sign_message(library_, key.get(), "SHA256", kMessage, {}, 1).empty());
  EXPECT_TRUE(sign_message(library_, key.get(), nullptr, kMessage, {{"saltlen", "39"}}, 1).empty());
  EXPECT_TRUE(sign_message(library_, key.get(), nullptr, kMessage, {{"pad-mode", "pkcs1"}}, 1).empty());
  const Evp<BIO> text(BIO_new(BIO_s_mem()));
  EXPECT_NE(EVP_PKEY_print_params(text.get(), key.get(), 0, nullptr), 1);
  ERR_clear_error();
}

INSTANTIATE_TEST_SUITE_P(Orders, ProviderRsa, testing::Values(Order::default_first, Order::manymod_first));

}  // namespace
}  // namespace manymod::test
