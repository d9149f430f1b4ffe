// SPDX-License-Identifier: Apache-2.0
// SM2: the example of GB/T 32918.5 and libcrypto in both directions.
#include <gtest/gtest.h>

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

// GB/T 32918.5, annex A.
const char* const kSecret = "3945208F7B2144B13F36E38AC6D39F95889393692860B51A42FB81EF4DF7C5B8";
const char* const kNonce = "59276E27D506861A16680F3AD9C02DCCEF3CC1FA3CDBE4CE6D54B80DEAC1BC21";
const char* const kX = "09F9DF311E5421A150DD7D161E4BC5C672179FAD1833FC076BB08FF356F35020";
const char* const kY = "CCEA490CE26775A52DC6EA718CC1AA600AED05FBF35E084A6632F6072DA9AD13";
const char* const kR = "F5A03B0648D2C4630EEAC513E1BB81A15944DA3827D5B74143AC7EACEEE720B3";
const char* const kS = "B1B6AA29DF212FD8763182BC0D421CA1BB9038FD1F7F42D4840B69C485BBC1AA";
const char* const kOrder = "FFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFF7203DF6B21C6052B53BBF40939D54123";

Bytes joined(const char* first, const char* second) { return from_hex(std::string(first) + second); }

EccPlan make_plan() { return cpu_plan(EccCurve("SM2")); }

OneResult sign_one(EccPlan& plan, const Bytes& secret, const Bytes& message, const EccOptions& options = {},
                   const Bytes& nonce = {}, const Bytes& id = {}) {
  EccOperands operands;
  operands.secrets = {&secret, 1};
  operands.messages = {&message, 1};
  if (!nonce.empty()) operands.nonces = {&nonce, 1};
  if (!id.empty()) operands.contexts = {&id, 1};
  return run_one(plan, MM_ECC_SIGN, operands, options);
}

/// libcrypto's SM2 with an id. A context of digests does not own the parameters that it is given.
class LibcryptoContext {
 public:
  LibcryptoContext(EVP_PKEY* key, const Bytes& id, bool signing)
      : parameters_(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr)), context_(EVP_MD_CTX_new()) {
    EXPECT_EQ(EVP_PKEY_CTX_set1_id(parameters_.get(), id.data(), static_cast<int>(id.size())), 1);
    EVP_MD_CTX_set_pkey_ctx(context_.get(), parameters_.get());
    EXPECT_EQ(signing ? EVP_DigestSignInit(context_.get(), nullptr, EVP_sm3(), nullptr, key)
                      : EVP_DigestVerifyInit(context_.get(), nullptr, EVP_sm3(), nullptr, key),
              1);
  }

  [[nodiscard]] EVP_MD_CTX* get() const { return context_.get(); }

 private:
  crypto::Libcrypto<EVP_PKEY_CTX> parameters_;
  crypto::Libcrypto<EVP_MD_CTX> context_;
};

/// A key that libcrypto takes for one of the algorithm SM2.
crypto::Libcrypto<EVP_PKEY> sm2_key(const Bytes& point, const Bytes& secret) {
  const std::unique_ptr<OSSL_PARAM_BLD, FreeParameters> builder(OSSL_PARAM_BLD_new());
  const crypto::Number number(BN_bin2bn(secret.data(), static_cast<int>(secret.size()), nullptr));
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "SM2", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get());
  const std::unique_ptr<OSSL_PARAM, FreeParameters> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "SM2", nullptr));
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context.get());
  EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get());
  EXPECT_NE(key, nullptr);
  return crypto::Libcrypto<EVP_PKEY>(key);
}

TEST(Sm2, GivesTheSignatureOfTheStandard) {
  EccPlan plan = make_plan();
  const Bytes secret = from_hex(kSecret);
  Bytes key = joined(kX, kY);
  key.insert(key.begin(), 4);
  EXPECT_EQ(plan.public_keys({&secret, 1})[0], key);
  EccOptions options;
  options.nonces = MM_ECC_NONCE_GIVEN;
  const Bytes message = bytes_of_text("message digest");
  const OneResult result = sign_one(plan, secret, message, options, from_hex(kNonce));
  EXPECT_EQ(result.bytes, joined(kR, kS));
  EXPECT_TRUE(verify_one(plan, key, message, result.bytes).ok);
  EXPECT_FALSE(verify_one(plan, key, bytes_of_text("Message digest"), result.bytes).ok);
}

TEST(Sm2, SignsForLibcryptoAndVerifiesItsSignatures) {
  EccPlan plan = make_plan();
  EccOptions options;
  options.signature_format = MM_ECC_DER;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Bytes secret = small_secret(32, seed);
    const Bytes key = plan.public_keys({&secret, 1})[0];
    const Bytes id = noise(seed * 9, seed);
    const Bytes message = noise(seed * 50, seed);
    const auto libcrypto = sm2_key(key, secret);
    const Bytes made = sign_one(plan, secret, message, options, {}, id).bytes;
    EXPECT_EQ(EVP_DigestVerify(LibcryptoContext(libcrypto.get(), id, false).get(), made.data(), made.size(),
                               message.data(), message.size()),
              1);
    Bytes theirs(100);
    std::size_t size = theirs.size();
    EXPECT_EQ(EVP_DigestSign(LibcryptoContext(libcrypto.get(), id, true).get(), theirs.data(), &size,
                             message.data(), message.size()),
              1);
    theirs.resize(size);
    EccOperands operands;
    operands.points = {&key, 1};
    operands.messages = {&message, 1};
    operands.signatures = {&theirs, 1};
    operands.contexts = {&id, 1};
    EXPECT_TRUE(plan.run_verification(MM_ECC_VERIFY, 1, operands, options)[0]);
    operands.contexts = {};
    EXPECT_FALSE(plan.run_verification(MM_ECC_VERIFY, 1, operands, options)[0]) << "of another id";
  }
}

TEST(Sm2, KeysAndIdsMayRepeatAndAlternate) {
  EccPlan plan = make_plan();
  struct Signer {
    std::uint64_t secret, id;
  };
  constexpr std::array<Signer, 7> kSigners{{{1, 1}, {1, 1}, {2, 1}, {2, 2}, {1, 2}, {1, 1}, {2, 1}}};
  std::vector<Bytes> secrets, ids;
  for (const Signer& signer : kSigners) {
    secrets.push_back(small_secret(32, signer.secret));
    ids.push_back(noise(10, signer.id));
  }
  const std::vector<Bytes> keys = plan.public_keys(secrets), messages(kSigners.size(), noise(32, 5));
  EccOperands operands;
  operands.secrets = secrets;
  operands.messages = messages;
  operands.contexts = ids;
  const auto signatures = plan.run(MM_ECC_SIGN, kSigners.size(), operands);
  for (std::size_t i = 0; i < kSigners.size(); ++i) {
    EXPECT_EQ(signatures[i], sign_one(plan, secrets[i], messages[i], {}, {}, ids[i]).bytes) << i;
  }
  operands.secrets = {};
  operands.points = keys;
  operands.signatures = signatures;
  EXPECT_EQ(plan.run_verification(MM_ECC_VERIFY, kSigners.size(), operands),
            std::vector(kSigners.size(), true));
}

TEST(Sm2, BadOperandsHaveStatuses) {
  EccPlan plan = make_plan();
  const Bytes secret = small_secret(32, 1);
  const Bytes message = bytes_of_text("m");
  Bytes last = from_hex(kOrder);
  --last.back();  // 1 + d = 0 has no inverse
  EXPECT_EQ(sign_one(plan, last, message).status, MM_ITEM_ECC_SECRET);
  EXPECT_EQ(sign_one(plan, secret, message, {}, {}, Bytes(8191)).status, MM_OK);
  EXPECT_EQ(sign_one(plan, secret, message, {}, {}, Bytes(8192)).status, MM_ITEM_ECC_LENGTH);
  EccOptions prehashed;
  prehashed.prehashed = true;
  EXPECT_EQ(sign_one(plan, secret, Bytes(31), prehashed).status, MM_ITEM_ECC_LENGTH);
  EXPECT_EQ(sign_one(plan, secret, Bytes(32), prehashed).status, MM_OK);
  EccOptions sha256;
  sha256.hash = MM_SHA256;
  EXPECT_EQ(sign_one(plan, secret, message, sha256).status, MM_ITEM_ECC_CURVE);
}

TEST(Sm2, RejectsWhatIsNoSignature) {
  EccPlan plan = make_plan();
  const Bytes secret = small_secret(32, 3);
  const Bytes key = plan.public_keys({&secret, 1})[0];
  const Bytes message = bytes_of_text("m");
  const Bytes good = sign_one(plan, secret, message).bytes;
  ASSERT_TRUE(verify_one(plan, key, message, good).ok);
  for (const std::size_t place : {0U, 32U}) {
    for (const Bytes& number : {Bytes(32), from_hex(kOrder), Bytes(32, 0xff)}) {
      Bytes bad = good;
      std::copy(number.begin(), number.end(), bad.begin() + static_cast<std::ptrdiff_t>(place));
      EXPECT_EQ(verify_one(plan, key, message, bad).status, MM_ITEM_ECC_SIGNATURE);
    }
  }
  // r + s = n.
  const Bytes n = from_hex(kOrder);
  Bytes bad = good;
  unsigned borrow = 0;
  for (std::size_t i = 32; i-- > 0;) {
    const unsigned difference = n[i] - bad[i] - borrow;
    bad[32 + i] = static_cast<std::uint8_t>(difference);
    borrow = difference >> 31;
  }
  const OneVerdict verdict = verify_one(plan, key, message, bad);
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.status, MM_OK);
}

/// A call of the key exchange on one item.
class ExchangeCall {
 public:
  ExchangeCall(const Bytes& secret, const Bytes& ephemeral, const Bytes& point, const Bytes& second,
               bool responder)
      : output_(200) {
    call.struct_size = sizeof call;
    call.op = MM_ECC_SM2_EXCHANGE;
    call.count = 1;
    call.secret = view_of(secret);
    call.nonce = view_of(ephemeral);
    call.nonces = MM_ECC_NONCE_GIVEN;
    call.point = view_of(point);
    call.second = view_of(second);
    call.key_bytes = 16;
    call.responder = responder ? 1 : 0;
    call.output = {output_.data(), 1, output_.size(), &size_};
    call.item_status = &status_;
  }

  static mm_bytes_view view_of(const Bytes& bytes) {
    return {1, bytes.data(), bytes.size(), 0, nullptr, nullptr};
  }
  mm_status run(EccPlan& plan) { return mm_ecc_run(plan.get(), &call); }
  [[nodiscard]] Bytes result() const {
    return {output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(size_)};
  }
  [[nodiscard]] int status() const { return status_; }

  mm_ecc_call call{};

 private:
  Bytes output_;
  std::size_t size_ = 0;
  std::uint8_t status_ = 0;
};

TEST(Sm2, ExchangesTheKeyOfTheStandard) {
  // GB/T 32918.5, annex B.
  const Bytes da = from_hex("81EB26E941BB5AF16DF116495F90695272AE2CD63D6C4AE1678418BE48230029");
  const Bytes db = from_hex("785129917D45A9EA5437A59356B82338EAADDA6CEB199088F14AE10DEFA229B5");
  const Bytes ra = from_hex("D4DE15474DB74D06491C440D305E012400990F3E390C7E87153C12DB2EA60BB3");
  const Bytes rb = from_hex("7E07124814B309489125EAED101113164EBF0F3458C5BD88335C1F9D596243D6");
  const Bytes expected = from_hex("6C89347354DE2484C60B4AB1FDE4C6E5");
  EccPlan plan = make_plan();
  const std::vector<Bytes> secrets{da, db, ra, rb};
  const std::vector<Bytes> points = plan.public_keys(secrets);
  ExchangeCall initiator(da, ra, points[1], points[3], false);
  ExchangeCall responder(db, rb, points[0], points[2], true);
  for (ExchangeCall* side : {&initiator, &responder}) {
    ASSERT_EQ(side->run(plan), MM_OK) << mm_last_error();
    EXPECT_EQ(side->result(), expected);
    side->call.confirm = 1;
    side->call.key_bytes = 70;
    ASSERT_EQ(side->run(plan), MM_OK) << mm_last_error();
  }
  EXPECT_EQ(initiator.result(), responder.result());
  ASSERT_EQ(initiator.result().size(), 70U + 64U);
  const Bytes longer = initiator.result();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), longer.begin()));
  EXPECT_FALSE(std::equal(longer.begin() + 70, longer.begin() + 102, longer.begin() + 102));
  const Bytes id = bytes_of_text("Alice");
  initiator.call.context = ExchangeCall::view_of(id);
  ASSERT_EQ(initiator.run(plan), MM_OK);
  EXPECT_NE(initiator.result(), responder.result());
  responder.call.peer_context = ExchangeCall::view_of(id);
  ASSERT_EQ(responder.run(plan), MM_OK);
  EXPECT_EQ(initiator.result(), responder.result());
}

/// Both sides by the C++ wrapper; two items, of which the second has no ephemeral key.
TEST(Sm2, WrapperExchangesKeys) {
  EccPlan plan = make_plan();
  const std::vector<Bytes> secrets{
      from_hex("81EB26E941BB5AF16DF116495F90695272AE2CD63D6C4AE1678418BE48230029"),
      from_hex("785129917D45A9EA5437A59356B82338EAADDA6CEB199088F14AE10DEFA229B5")};
  const std::vector<Bytes> once{from_hex("D4DE15474DB74D06491C440D305E012400990F3E390C7E87153C12DB2EA60BB3"),
                                from_hex("7E07124814B309489125EAED101113164EBF0F3458C5BD88335C1F9D596243D6")};
  const std::vector<Bytes> keys = plan.public_keys(secrets), sent = plan.public_keys(once);
  const Bytes id = bytes_of_text("1234567812345678");
  const auto side = [&](std::size_t own, std::vector<mm_status>& statuses) {
    const std::size_t other = 1 - own;
    const std::vector<Bytes> ephemerals{once[own], Bytes(32)};
    EccOperands operands;
    operands.secrets = {&secrets[own], 1};
    operands.nonces = ephemerals;
    operands.points = {&keys[other], 1};
    operands.seconds = {&sent[other], 1};
    operands.contexts = {&id, 1};
    operands.peer_contexts = {&id, 1};
    EccOptions options;
    options.key_bytes = 16;
    options.responder = own == 1;
    options.confirm = true;
    return plan.sm2_exchange(operands, options, &statuses);
  };
  std::vector<mm_status> statuses;
  const std::vector<Bytes> initiator = side(0, statuses);
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_OK, MM_ITEM_ECC_SECRET}));
  EXPECT_EQ(initiator, side(1, statuses));
  ASSERT_EQ(initiator[0].size(), 16U + 64U);
  EXPECT_EQ(Bytes(initiator[0].begin(), initiator[0].begin() + 16),
            from_hex("6C89347354DE2484C60B4AB1FDE4C6E5"));
  EXPECT_TRUE(initiator[1].empty());
}

TEST(Sm2, ExchangesWithBadOperandsHaveStatuses) {
  EccPlan plan = make_plan();
  const std::vector<Bytes> secrets{small_secret(32, 1), small_secret(32, 2), small_secret(32, 3)};
  const std::vector<Bytes> points = plan.public_keys(secrets);
  const Bytes zero(32), infinity(1), id(8192);
  ExchangeCall bad_secret(zero, secrets[1], points[1], points[2], false);
  EXPECT_EQ(bad_secret.run(plan), MM_ERR_ITEMS);
  EXPECT_EQ(bad_secret.status(), MM_ITEM_ECC_SECRET);
  ExchangeCall bad_point(secrets[0], secrets[1], points[1], infinity, false);
  EXPECT_EQ(bad_point.run(plan), MM_ERR_ITEMS);
  EXPECT_EQ(bad_point.status(), MM_ITEM_ECC_POINT);
  ExchangeCall bad_id(secrets[0], secrets[1], points[1], points[2], false);
  bad_id.call.peer_context = ExchangeCall::view_of(id);
  EXPECT_EQ(bad_id.run(plan), MM_ERR_ITEMS);
  EXPECT_EQ(bad_id.status(), MM_ITEM_ECC_LENGTH);
  bad_id.call.key_bytes = 0;
  EXPECT_EQ(bad_id.run(plan), MM_ERR_ARGUMENT);
}

}  // namespace
}  // namespace manymod::testing
