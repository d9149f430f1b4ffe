// SPDX-License-Identifier: Apache-2.0
// Contexts that are copied, begin again, or are given what contradicts itself: as the default provider's.
#include <dlfcn.h>
#include <openssl/async.h>
#include <openssl/core_names.h>
#include <openssl/err.h>

#include <utility>

#include "library.hpp"

namespace manymod::test {
namespace {

const Bytes kMessage(100, 5);

/// A parameter that is a text, and the end of the list.
struct TextParameter {
  TextParameter(const char* parameter, std::string given) : name(parameter), text(std::move(given)) {}
  TextParameter(const TextParameter&) = delete;
  TextParameter& operator=(const TextParameter&) = delete;
  ~TextParameter() = default;
  const char* name;
  std::string text;
  OSSL_PARAM list[2] = {OSSL_PARAM_construct_utf8_string(name, text.data(), 0), OSSL_PARAM_construct_end()};
};

int begin_signing(const Library& library, EVP_MD_CTX* context, const char* hash, EVP_PKEY* key,
                  const OSSL_PARAM* parameters = nullptr) {
  return EVP_DigestSignInit_ex(context, nullptr, hash, library.get(), nullptr, key, parameters);
}
int begin_verifying(const Library& library, EVP_MD_CTX* context, const char* hash, EVP_PKEY* key,
                    const OSSL_PARAM* parameters = nullptr) {
  return EVP_DigestVerifyInit_ex(context, nullptr, hash, library.get(), nullptr, key, parameters);
}

/// The signature of kMessage by a context that has begun; empty on failure.
Bytes signature_by(EVP_MD_CTX* context) {
  Bytes signature(600);
  std::size_t size = signature.size();
  if (EVP_DigestSign(context, signature.data(), &size, kMessage.data(), kMessage.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

Bytes algorithm_of(EVP_MD_CTX* context) {
  Bytes identifier(100);
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string(OSSL_SIGNATURE_PARAM_ALGORITHM_ID,
                                                               identifier.data(), identifier.size()),
                             OSSL_PARAM_construct_end()};
  if (EVP_PKEY_CTX_get_params(EVP_MD_CTX_get_pkey_ctx(context), parameters) != 1) return {};
  identifier.resize(parameters[0].return_size);
  return identifier;
}

class ProviderContexts : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] Evp<EVP_PKEY> public_key(const Library& library) const {
    return library.decode(public_pem(private_pem(GetParam())));
  }
  const Library library_;
  const Evp<EVP_PKEY> key_ = library_.decode(private_pem(GetParam()));
};

// The name of the hash counts, whatever the parameters name.
TEST_P(ProviderContexts, HashByTheNameThatTheyAreGiven) {
  const TextParameter other(OSSL_SIGNATURE_PARAM_DIGEST, "SHA512");
  const Evp<EVP_MD_CTX> signing(EVP_MD_CTX_new()), verifying(EVP_MD_CTX_new());
  ASSERT_EQ(begin_signing(library_, signing.get(), "SHA256", key_.get(), other.list), 1);
  const Bytes signature = signature_by(signing.get());
  EXPECT_EQ(verify_message(reference(), public_key(reference()).get(), "SHA256", kMessage, signature, {}), 1);
  const Evp<EVP_PKEY> ours = public_key(library_);
  ASSERT_EQ(begin_verifying(library_, verifying.get(), "SHA256", ours.get(), other.list), 1);
  EXPECT_EQ(
      EVP_DigestVerify(verifying.get(), signature.data(), signature.size(), kMessage.data(), kMessage.size()),
      1);
}

TEST_P(ProviderContexts, KeepTheirHashWhereTheyBeginAgain) {
  const Evp<EVP_MD_CTX> signing(EVP_MD_CTX_new()), verifying(EVP_MD_CTX_new());
  ASSERT_EQ(begin_signing(library_, signing.get(), "SHA512", key_.get()), 1);
  ASSERT_EQ(EVP_DigestSignUpdate(signing.get(), kMessage.data(), kMessage.size()), 1);
  ASSERT_EQ(begin_signing(library_, signing.get(), nullptr, nullptr), 1);
  const Bytes signature = signature_by(signing.get());
  EXPECT_EQ(verify_message(reference(), public_key(reference()).get(), "SHA512", kMessage, signature, {}), 1);
  const Evp<EVP_PKEY> ours = public_key(library_);
  ASSERT_EQ(begin_verifying(library_, verifying.get(), "SHA512", ours.get()), 1);
  ASSERT_EQ(begin_verifying(library_, verifying.get(), nullptr, nullptr), 1);
  EXPECT_EQ(
      EVP_DigestVerify(verifying.get(), signature.data(), signature.size(), kMessage.data(), kMessage.size()),
      1);
}

// OpenSSL 3.0's copies point into the context that they were copied from. Verifications are copies from the
// second one with a key on.
TEST_P(ProviderContexts, HaveAnAlgorithmOfTheirOwn) {
  Bytes expected;
  {
    const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
    const Evp<EVP_PKEY> key = public_key(reference());
    ASSERT_EQ(begin_verifying(reference(), context.get(), "SHA384", key.get()), 1);
    expected = algorithm_of(context.get());
    ASSERT_FALSE(expected.empty());
  }
  const Evp<EVP_PKEY> key = public_key(library_);
  for (int i = 0; i < 3; ++i) {
    const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
    ASSERT_EQ(begin_verifying(library_, context.get(), "SHA384", key.get()), 1);
    EXPECT_EQ(algorithm_of(context.get()), expected);
  }
  const Evp<EVP_MD_CTX> copy(EVP_MD_CTX_new());
  {
    const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
    ASSERT_EQ(begin_signing(library_, context.get(), "SHA384", key_.get()), 1);
    ASSERT_EQ(EVP_MD_CTX_copy_ex(copy.get(), context.get()), 1);
  }
  EXPECT_EQ(algorithm_of(copy.get()), expected);
  EXPECT_FALSE(signature_by(copy.get()).empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProviderContexts, testing::Values("RSA:3072", "EC:P-256", "EC:P-384"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::erase_if(name, [](char c) { return c == ':' || c == '-'; });
                           return name;
                         });

// A buffer that is shorter than a secret gets its begin.
TEST(ProviderExchange, FillsShortBuffers) {
  const Library library;
  std::vector<Bytes> secrets;
  for (const Library* const each : {&library, &reference()}) {
    const Evp<EVP_PKEY> key = each->decode(private_pem("EC:P-384"));
    const Evp<EVP_PKEY> peer = each->decode(public_pem(private_pem("EC:P-384")));
    const Evp<EVP_PKEY_CTX> context = each->context(key.get());
    ASSERT_EQ(EVP_PKEY_derive_init(context.get()), 1);
    ASSERT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer.get()), 1);
    for (const std::size_t room : {48U, 47U, 1U}) {
      Bytes secret(48, 0xee);
      std::size_t size = room;
      EXPECT_EQ(EVP_PKEY_derive(context.get(), secret.data(), &size), 1);
      EXPECT_EQ(size, room);
      secrets.push_back(secret);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(secrets[i], secrets[i + 3]);
}

// Of a digest of 64 bytes, by Ed25519ph alone: with parameters from the beginning, and with those that
// follow.
TEST(ProviderEd25519, Ed25519SignsWhatWasHashedBefore) {
  if (!is_at_least(3, 4)) GTEST_SKIP() << "libcrypto signs whole messages alone with Ed25519";
  const Library library;
  const Bytes digest(64, 7);
  std::vector<Bytes> made;
  char instance[] = "Ed25519ph";
  const OSSL_PARAM prehashed[] = {OSSL_PARAM_construct_utf8_string("instance", instance, 0),
                                  OSSL_PARAM_construct_end()};
  for (const Library* const each : {&library, &reference()}) {
    const Evp<EVP_PKEY> key = each->decode(private_pem("ED25519"));
    const Evp<EVP_PKEY_CTX> signing = each->context(key.get());
    Bytes signature(64);
    std::size_t size = signature.size();
    ASSERT_EQ(EVP_PKEY_sign_init(signing.get()), 1);
    EXPECT_NE(EVP_PKEY_sign(signing.get(), signature.data(), &size, digest.data(), digest.size()), 1);
    ASSERT_EQ(EVP_PKEY_CTX_set_params(signing.get(), prehashed), 1);
    const Evp<EVP_PKEY_CTX> copy(EVP_PKEY_CTX_dup(signing.get()));
    ASSERT_NE(copy, nullptr);
    size = signature.size();
    ASSERT_EQ(EVP_PKEY_sign(copy.get(), signature.data(), &size, digest.data(), digest.size()), 1);
    EXPECT_EQ(size, signature.size());
    EXPECT_NE(EVP_PKEY_sign(copy.get(), signature.data(), &size, digest.data(), 32), 1);
    const Evp<EVP_PKEY_CTX> verifying = each->context(key.get());
    ASSERT_EQ(EVP_PKEY_verify_init_ex(verifying.get(), prehashed), 1);
    EXPECT_EQ(EVP_PKEY_verify(verifying.get(), signature.data(), 64, digest.data(), digest.size()), 1);
    signature[40] ^= 1;
    EXPECT_NE(EVP_PKEY_verify(verifying.get(), signature.data(), 64, digest.data(), digest.size()), 1);
    made.push_back(signature);
  }
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(library.computed(), 0U);
  ERR_clear_error();
}

// A context that begins again without a key keeps the instance, as the default provider's does.
TEST(ProviderEd25519, Ed25519KeepsItsInstanceWhereItBeginsAgain) {
  if (!is_at_least(3, 2)) GTEST_SKIP() << "libcrypto has no instances of Ed25519";
  const Library library;
  std::vector<Bytes> made;
  char instance[] = "Ed25519ph";
  const OSSL_PARAM prehashed[] = {OSSL_PARAM_construct_utf8_string("instance", instance, 0),
                                  OSSL_PARAM_construct_end()};
  for (const Library* const each : {&library, &reference()}) {
    const Evp<EVP_PKEY> key = each->decode(private_pem("ED25519"));
    const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
    Bytes signature(64);
    std::size_t size = signature.size();
    ASSERT_EQ(
        EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, each->get(), nullptr, key.get(), prehashed),
        1);
    ASSERT_EQ(EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, each->get(), nullptr, nullptr, nullptr),
              1);
    ASSERT_EQ(EVP_DigestSign(context.get(), signature.data(), &size, kMessage.data(), kMessage.size()), 1);
    made.push_back(signature);
  }
  EXPECT_EQ(made[0], made[1]);
}

using BeginMessage = int (*)(EVP_PKEY_CTX*, EVP_SIGNATURE*, const OSSL_PARAM[]);

/// A function of OpenSSL 3.4 and newer; null before.
BeginMessage message_function(const char* name) {
  return reinterpret_cast<BeginMessage>(dlsym(RTLD_DEFAULT, name));
}

/// A context for Ed25519 that has begun; null if it could not.
Evp<EVP_PKEY_CTX> begun(const Library& library, EVP_PKEY* key, BeginMessage begin,
                        const OSSL_PARAM parameters[]) {
  EVP_SIGNATURE* const algorithm = EVP_SIGNATURE_fetch(library.get(), "ED25519", nullptr);
  Evp<EVP_PKEY_CTX> context = library.context(key);
  if (begin(context.get(), algorithm, parameters) <= 0) context.reset();
  EVP_SIGNATURE_free(algorithm);
  return context;
}

class ProviderMessages : public ::testing::Test {
 protected:
  const BeginMessage sign_ = message_function("EVP_PKEY_sign_message_init"),
                     verify_ = message_function("EVP_PKEY_verify_message_init");

  void SetUp() override {
    if (sign_ == nullptr || verify_ == nullptr) GTEST_SKIP() << "libcrypto has no functions for messages";
  }
};

TEST_F(ProviderMessages, Ed25519SignsAndVerifiesThem) {
  const Library library;
  Bytes signature(64), theirs(64);
  for (const auto& [each, made] : {std::pair(&library, &signature), {&reference(), &theirs}}) {
    const Evp<EVP_PKEY> key = each->decode(private_pem("ED25519"));
    const Evp<EVP_PKEY_CTX> signing = begun(*each, key.get(), sign_, nullptr);
    ASSERT_NE(signing, nullptr);
    std::size_t size = 0;
    ASSERT_EQ(EVP_PKEY_sign(signing.get(), nullptr, &size, kMessage.data(), kMessage.size()), 1);
    ASSERT_EQ(size, made->size());
    ASSERT_EQ(EVP_PKEY_sign(signing.get(), made->data(), &size, kMessage.data(), kMessage.size()), 1);
    const Evp<EVP_PKEY_CTX> verifying = begun(*each, key.get(), verify_, nullptr);
    ASSERT_NE(verifying, nullptr);
    EXPECT_EQ(EVP_PKEY_verify(verifying.get(), made->data(), size, kMessage.data(), kMessage.size()), 1);
    EXPECT_NE(EVP_PKEY_verify(verifying.get(), made->data(), size, kMessage.data(), 9), 1);
    // The algorithm's name is that of the instance.
    char instance[] = "Ed25519ctx";
    const OSSL_PARAM other[] = {OSSL_PARAM_construct_utf8_string("instance", instance, 0),
                                OSSL_PARAM_construct_end()};
    EXPECT_EQ(begun(*each, key.get(), sign_, other), nullptr);
    EXPECT_NE(EVP_PKEY_CTX_set_params(signing.get(), other), 1);
  }
  EXPECT_EQ(signature, theirs);
  EXPECT_EQ(library.verified(), 2U);
  ERR_clear_error();
}

struct Verification {
  EVP_PKEY_CTX* context;
  const Bytes* signature;
};

int verify_twice(void* argument) {
  const auto [context, signature] = *static_cast<const Verification*>(argument);
  int valid = 0;
  for (int i = 0; i < 2; ++i) {
    valid += EVP_PKEY_verify(context, signature->data(), signature->size(), kMessage.data(), kMessage.size());
  }
  return valid;
}

// One beginning serves any number of operations, also of those that the default provider computes: single
// signatures, and verifications in asynchronous jobs.
TEST_F(ProviderMessages, Ed25519GoesOnByTheSameContext) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("ED25519"));
  const Evp<EVP_PKEY_CTX> signing = begun(library, key.get(), sign_, nullptr);
  Bytes signature(64);
  for (int i = 0; i < 3; ++i) {
    std::size_t size = signature.size();
    signature.assign(size, 0);
    ASSERT_EQ(EVP_PKEY_sign(signing.get(), signature.data(), &size, kMessage.data(), kMessage.size()), 1);
    EXPECT_EQ(verify_message(reference(), key.get(), nullptr, kMessage, signature, {}), 1);
  }
  const Evp<EVP_PKEY_CTX> verifying = begun(library, key.get(), verify_, nullptr);
  Verification verification{verifying.get(), &signature};
  EXPECT_EQ(verify_twice(&verification), 2);
  ASYNC_WAIT_CTX* const waiting = ASYNC_WAIT_CTX_new();
  ASYNC_JOB* job = nullptr;
  int valid = 0;
  EXPECT_EQ(ASYNC_start_job(&job, waiting, &valid, verify_twice, &verification, sizeof verification),
            ASYNC_FINISH);
  EXPECT_EQ(valid, 2);
  ASYNC_WAIT_CTX_free(waiting);
}

}  // namespace
}  // namespace manymod::test
