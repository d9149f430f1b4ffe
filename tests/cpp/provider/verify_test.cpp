// SPDX-License-Identifier: Apache-2.0
// Verification: the verdicts are those of the default provider, whoever computes.
#include <openssl/err.h>

#include <algorithm>
#include <cstdlib>

#include "library.hpp"

namespace manymod::test {
namespace {

const Bytes kMessage(100, 0x33);

struct Kind {
  const char* name;
  bool here;  ///< whether manymod verifies
};
// The bytes of a Kind, which would be printed otherwise, are partly undefined.
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ProviderVerify : public testing::TestWithParam<Kind> {
 protected:
  const Library library_;
  const std::string& pem_ = private_pem(GetParam().name);
  const Evp<EVP_PKEY> key_ = library_.decode(public_pem(pem_));
  const Evp<EVP_PKEY> reference_ = reference().decode(pem_);
  const char* const hash_ = std::string(GetParam().name) == "ED25519" ? nullptr : "SHA256";

  /// The verdict here, which must be that of the default provider.
  int verdict(const Bytes& signature, const Bytes& message = kMessage) {
    const int own = verify_message(library_, key_.get(), hash_, message, signature, {});
    EXPECT_EQ(own == 1, verify_message(reference(), reference_.get(), hash_, message, signature, {}) == 1);
    ERR_clear_error();
    return own;
  }
};

TEST_P(ProviderVerify, GivesTheVerdictsOfTheDefaultProvider) {
  const Bytes good = sign_message(reference(), reference_.get(), hash_, kMessage, {}, 0);
  EXPECT_EQ(verdict(good), 1);
  EXPECT_EQ(library_.verified(), GetParam().here ? 1U : 0U);
  EXPECT_NE(verdict(good, Bytes(100, 0x34)), 1);
  EXPECT_NE(verdict(good, {}), 1);
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= static_cast<std::uint8_t>(1U << at % 8);
    EXPECT_NE(verdict(bad), 1) << at;
  }
  Bytes longer = good, shorter = good;
  longer.push_back(0);
  shorter.pop_back();
  for (const Bytes& bad : {longer, shorter, Bytes(), Bytes(64), Bytes(8, 0x30)}) EXPECT_NE(verdict(bad), 1);
}

TEST_P(ProviderVerify, TakesDigestsOfAllLengths) {
  if (hash_ == nullptr) return;  // Ed25519 signs messages
  for (const char* hash : {"SHA1", "SHA384", "SHA512", "SHA3-256"}) {
    const Bytes signature = sign_message(reference(), reference_.get(), hash, kMessage, {}, 0);
    EXPECT_EQ(verify_message(library_, key_.get(), hash, kMessage, signature, {}), 1) << hash;
    EXPECT_NE(verify_message(library_, key_.get(), "SHA224", kMessage, signature, {}), 1) << hash;
  }
  ERR_clear_error();
}

/// A context whose beginning failed verifies nothing, and begins again.
TEST_P(ProviderVerify, BeginsAgainAfterAHashThatIsUnknown) {
  if (hash_ == nullptr) return;  // Ed25519 takes none
  const Bytes good = sign_message(reference(), reference_.get(), hash_, kMessage, {}, 0);
  const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
  const auto begin = [&](const char* hash) {
    return EVP_DigestVerifyInit_ex(context.get(), nullptr, hash, library_.get(), nullptr, key_.get(),
                                   nullptr);
  };
  const auto verify = [&] {
    return EVP_DigestVerify(context.get(), good.data(), good.size(), kMessage.data(), kMessage.size());
  };
  EXPECT_LE(begin("no-such-hash"), 0);
  EXPECT_NE(verify(), 1);
  ASSERT_EQ(begin(hash_), 1);
  EXPECT_EQ(verify(), 1);
  ERR_clear_error();
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProviderVerify,
                         testing::Values(Kind{"RSA:2048", false}, Kind{"EC:P-256", false},
                                         Kind{"EC:P-384", true}, Kind{"EC:P-521", false},
                                         Kind{"ED25519", true}),
                         [](const auto& kind) {
                           std::string name = kind.param.name;
                           std::erase_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace manymod::test
