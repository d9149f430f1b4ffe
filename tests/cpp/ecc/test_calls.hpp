// SPDX-License-Identifier: Apache-2.0
// Short notations for calls on curves, and libcrypto as their oracle.
#pragma once

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/libcrypto.hpp"
#include "ecc/test_bytes.hpp"
#include "manymod/ecc.hpp"

namespace manymod::testing {

using EccOptions = wrapper::ecc::Options;
using EccOperands = wrapper::ecc::Operands;
using EccPlan = wrapper::ecc::Plan;
using EccCurve = wrapper::ecc::Curve;

inline Bytes bytes_of_text(std::string_view text) { return {text.begin(), text.end()}; }

inline EccPlan cpu_plan(const EccCurve& curve, unsigned threads = 1) {
  return EccPlan(curve, {"cpu", "", threads});
}

/// The only result of a call on one item, or its status.
struct OneResult {
  Bytes bytes;
  mm_status status = MM_OK;
};
inline OneResult run_one(EccPlan& plan, mm_ecc_op op, const EccOperands& operands,
                         const EccOptions& options = {}) {
  std::vector<mm_status> statuses;
  std::vector<Bytes> results = plan.run(op, 1, operands, options, &statuses);
  return {results.at(0), statuses.at(0)};
}

/// The verdict on one signature, and its status.
struct OneVerdict {
  bool ok = false;
  mm_status status = MM_OK;
};
inline OneVerdict verify_one(EccPlan& plan, const Bytes& key, const Bytes& message, const Bytes& signature,
                             const EccOptions& options = {}) {
  EccOperands operands;
  operands.points = {&key, 1};
  operands.messages = {&message, 1};
  operands.signatures = {&signature, 1};
  std::vector<mm_status> statuses;
  const std::vector<bool> ok = plan.run_verification(MM_ECC_VERIFY, 1, operands, options, &statuses);
  return {ok.at(0), statuses.at(0)};
}

/// A private key below the order of any curve of that many bytes, and not 0.
inline Bytes small_secret(std::size_t size, std::uint64_t seed) {
  Bytes secret = noise(size, seed);
  secret[0] = 0;
  secret.back() |= 1;
  return secret;
}

// ---- libcrypto -----------------------------------------------------------------------------------------

struct FreeParameters {
  void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
};

/// A key of libcrypto on a named curve; `secret` may be empty.
inline crypto::Libcrypto<EVP_PKEY> libcrypto_key(const char* group, const Bytes& point, const Bytes& secret) {
  const std::unique_ptr<OSSL_PARAM_BLD, FreeParameters> builder(OSSL_PARAM_BLD_new());
  const crypto::Number number(BN_bin2bn(secret.data(), static_cast<int>(secret.size()), nullptr));
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  if (!secret.empty()) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get());
  const std::unique_ptr<OSSL_PARAM, FreeParameters> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context.get());
  EVP_PKEY_fromdata(context.get(), &key, secret.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR,
                    parameters.get());
  EXPECT_NE(key, nullptr) << group;
  return crypto::Libcrypto<EVP_PKEY>(key);
}

/// A DER signature of a digest.
inline Bytes libcrypto_sign(EVP_PKEY* key, const Bytes& digest) {
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  Bytes signature(256);
  std::size_t size = signature.size();
  EXPECT_EQ(EVP_PKEY_sign_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_sign(context.get(), signature.data(), &size, digest.data(), digest.size()), 1);
  signature.resize(size);
  return signature;
}

inline bool libcrypto_verifies(EVP_PKEY* key, const Bytes& digest, const Bytes& signature) {
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  EXPECT_EQ(EVP_PKEY_verify_init(context.get()), 1);
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size()) ==
         1;
}

/// The x coordinate of the shared point.
inline Bytes libcrypto_exchange(EVP_PKEY* own, EVP_PKEY* peer) {
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, own, nullptr));
  Bytes shared(128);
  std::size_t size = shared.size();
  EXPECT_EQ(EVP_PKEY_derive_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer), 1);
  EXPECT_EQ(EVP_PKEY_derive(context.get(), shared.data(), &size), 1);
  shared.resize(size);
  return shared;
}

}  // namespace manymod::testing
