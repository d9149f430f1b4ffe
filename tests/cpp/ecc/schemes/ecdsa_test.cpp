// SPDX-License-Identifier: Apache-2.0
// ECDSA: the vectors of RFC 6979, libcrypto in both directions, and signatures that are none.
#include <gtest/gtest.h>

#include "ecc/schemes/rfc6979_vectors.hpp"
#include "ecc/test_calls.hpp"
#include "support/brief.hpp"

namespace manymod::testing {
namespace {

/// Curves that libcrypto has too, by its names.
constexpr std::pair<const char*, const char*> kShared[] = {
    {"P-256", "P-256"},
    {"P-384", "P-384"},
    {"P-521", "P-521"},
    {"secp256k1", "secp256k1"},
    {"brainpoolP256r1", "brainpoolP256r1"},
    {"brainpoolP384r1", "brainpoolP384r1"},
    {"brainpoolP512r1", "brainpoolP512r1"},
};

struct KeyPair {
  Bytes secret, point;
};
KeyPair key_pair(EccPlan& plan, const EccCurve& curve, std::uint64_t seed) {
  const std::vector<Bytes> secret{small_secret(curve.info().secret_bytes, seed)};
  return {secret[0], plan.public_keys(secret)[0]};
}

OneResult sign_one(EccPlan& plan, const Bytes& secret, const Bytes& message, const EccOptions& options = {},
                   const Bytes& nonce = {}) {
  EccOperands operands;
  operands.secrets = {&secret, 1};
  operands.messages = {&message, 1};
  if (!nonce.empty()) operands.nonces = {&nonce, 1};
  return run_one(plan, MM_ECC_SIGN, operands, options);
}

EccOptions in_format(mm_ecc_signature_format format) {
  EccOptions options;
  options.signature_format = format;
  return options;
}

TEST(Ecdsa, GivesTheSignaturesOfRfc6979) {
  for (const Rfc6979Key& key : kRfc6979Keys) {
    EccPlan plan = cpu_plan(EccCurve(key.curve));
    const std::vector<Bytes> secret{from_hex(key.secret)};
    for (const Rfc6979Vector& vector : kRfc6979Vectors) {
      if (std::string(vector.curve) != key.curve) continue;
      EccOptions options = in_format(MM_ECC_DER);
      options.hash = vector.hash;
      const OneResult result = sign_one(plan, secret[0], bytes_of_text(vector.message), options);
      EXPECT_EQ(result.bytes, from_hex(vector.signature)) << vector.curve << " " << vector.hash;
    }
  }
}

TEST(Ecdsa, SignsForLibcryptoAndVerifiesItsSignatures) {
  for (const auto& [name, group] : kShared) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    EccOptions options = in_format(MM_ECC_DER);
    options.prehashed = true;
    options.low_s = -1;
    for (std::uint64_t seed = 1; seed <= (kBriefTests ? 1 : 3); ++seed) {
      const KeyPair keys = key_pair(plan, curve, seed);
      const auto libcrypto = libcrypto_key(group, keys.point, keys.secret);
      // Digests that are longer and shorter than the order, and empty.
      for (const std::size_t size : {32U, 20U, 64U, 80U, 1U}) {
        const Bytes digest = noise(size, seed + size);
        const OneResult made = sign_one(plan, keys.secret, digest, options);
        ASSERT_EQ(made.status, MM_OK) << name;
        EXPECT_TRUE(libcrypto_verifies(libcrypto.get(), digest, made.bytes)) << name << " " << size;
        const Bytes theirs = libcrypto_sign(libcrypto.get(), digest);
        EXPECT_TRUE(verify_one(plan, keys.point, digest, theirs, options).ok) << name << " " << size;
        Bytes other = digest;
        other[0] = static_cast<std::uint8_t>(other[0] ^ 0x80);
        EXPECT_FALSE(verify_one(plan, keys.point, other, theirs, options).ok) << name << " " << size;
      }
    }
  }
}

TEST(Ecdsa, EveryFormatAndSourceOfNoncesVerifies) {
  for (const auto& [name, group] : kShared) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    const KeyPair keys = key_pair(plan, curve, 7);
    const Bytes message = bytes_of_text("a message");
    for (const auto format : {MM_ECC_RAW, MM_ECC_DER, MM_ECC_RECOVERABLE}) {
      for (const auto nonces : {MM_ECC_NONCE_DETERMINISTIC, MM_ECC_NONCE_HEDGED, MM_ECC_NONCE_GIVEN}) {
        EccOptions options = in_format(format);
        options.nonces = nonces;
        const bool given = nonces == MM_ECC_NONCE_GIVEN;
        const Bytes nonce = given ? small_secret(curve.info().scalar_bytes, 9) : Bytes();
        const OneResult first = sign_one(plan, keys.secret, message, options, nonce);
        const OneResult second = sign_one(plan, keys.secret, message, options, nonce);
        ASSERT_EQ(first.status, MM_OK);
        EXPECT_EQ(first.bytes == second.bytes, nonces != MM_ECC_NONCE_HEDGED);
        EXPECT_TRUE(verify_one(plan, keys.point, message, first.bytes, in_format(format)).ok) << name;
      }
    }
  }
}

TEST(Ecdsa, OneKeyForAllItemsAndManyKeysGiveTheSame) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve, 2);
  constexpr std::size_t kCount = 1100;  // more than two blocks
  const KeyPair keys = key_pair(plan, curve, 3);
  const std::vector<Bytes> one_secret{keys.secret}, one_key{keys.point};
  const std::vector<Bytes> secrets(kCount, keys.secret), points(kCount, keys.point);
  std::vector<Bytes> messages;
  for (std::size_t i = 0; i < kCount; ++i) messages.push_back(noise(i % 200, i));
  const std::vector<Bytes> signatures = plan.sign(one_secret, messages);
  EXPECT_EQ(signatures, plan.sign(secrets, messages));
  EXPECT_EQ(plan.verify(one_key, messages, signatures), std::vector<bool>(kCount, true));
  EXPECT_EQ(plan.verify(points, messages, signatures), std::vector<bool>(kCount, true));
}

TEST(Ecdsa, LowAndHighSAreAcceptedAsTheCurvesCustomIs) {
  for (const char* name : {"secp256k1", "P-256"}) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    const bool low_by_default = std::string(name) == "secp256k1";
    const Bytes message = bytes_of_text("malleable");
    bool met_high = false;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const KeyPair keys = key_pair(plan, curve, seed);
      EccOptions any, low;
      any.low_s = -1;
      low.low_s = 1;
      const Bytes as_it_comes = sign_one(plan, keys.secret, message, any).bytes;
      const Bytes lowered = sign_one(plan, keys.secret, message, low).bytes;
      const Bytes by_default = sign_one(plan, keys.secret, message).bytes;
      EXPECT_EQ(by_default, low_by_default ? lowered : as_it_comes);
      EXPECT_TRUE(verify_one(plan, keys.point, message, lowered, low).ok);
      EXPECT_TRUE(verify_one(plan, keys.point, message, as_it_comes, any).ok);
      if (as_it_comes == lowered) continue;
      met_high = true;
      EXPECT_FALSE(verify_one(plan, keys.point, message, as_it_comes, low).ok);
      EXPECT_EQ(verify_one(plan, keys.point, message, as_it_comes).ok, !low_by_default);
    }
    EXPECT_TRUE(met_high);
  }
}

TEST(Ecdsa, RecoversTheKeyByTheIdAndNoOther) {
  for (const auto& [name, group] : kShared) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    const KeyPair keys = key_pair(plan, curve, 5);
    const Bytes message = bytes_of_text("who was it?");
    Bytes signature = sign_one(plan, keys.secret, message, in_format(MM_ECC_RECOVERABLE)).bytes;
    ASSERT_EQ(signature.size(), curve.info().signature_bytes + 1);
    for (const unsigned flip : {0U, 1U, 2U, 4U}) {
      Bytes other = signature;
      other.back() = static_cast<std::uint8_t>(other.back() ^ flip);
      EccOperands operands;
      operands.messages = {&message, 1};
      operands.signatures = {&other, 1};
      EccOptions options = in_format(MM_ECC_RECOVERABLE);
      const OneResult found = run_one(plan, MM_ECC_RECOVER, operands, options);
      if (flip == 4) {
        EXPECT_EQ(found.status, MM_ITEM_ECC_SIGNATURE) << name;
      } else if (flip == 2) {
        EXPECT_EQ(found.status, MM_ITEM_ECC_NO_KEY) << name;
      } else {
        ASSERT_EQ(found.status, MM_OK) << name;
        EXPECT_EQ(found.bytes == keys.point, flip == 0) << name;
        EXPECT_TRUE(verify_one(plan, found.bytes, message, other, options).ok) << name;
      }
    }
  }
}

TEST(Ecdsa, RejectsWhatIsNoSignatureAndKeepsItsNeighbours) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const KeyPair keys = key_pair(plan, curve, 11);
  const Bytes message = bytes_of_text("sample");
  const Bytes good = sign_one(plan, keys.secret, message).bytes;
  const Bytes n = from_hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  Bytes n_plus_one = n;
  ++n_plus_one.back();
  std::vector<Bytes> signatures{good};
  for (const Bytes& number : {Bytes(32), n, n_plus_one, Bytes(32, 0xff)}) {
    for (const std::ptrdiff_t place : {0, 32}) {
      Bytes bad = good;
      std::copy(number.begin(), number.end(), bad.begin() + place);
      signatures.push_back(bad);
    }
  }
  signatures.emplace_back(good.begin(), good.end() - 1);
  signatures.emplace_back();
  signatures.push_back(good);
  signatures.back().push_back(0);
  signatures.push_back(good);
  const std::vector<Bytes> key{keys.point};
  const std::vector<Bytes> messages(signatures.size(), message);
  std::vector<mm_status> statuses;
  const std::vector<bool> ok = plan.verify(key, messages, signatures, {}, &statuses);
  for (std::size_t i = 0; i < ok.size(); ++i) {
    const bool is_good = i == 0 || i + 1 == ok.size();
    EXPECT_EQ(ok[i], is_good) << i;
    EXPECT_EQ(statuses[i], is_good ? MM_OK : MM_ITEM_ECC_SIGNATURE) << i;
  }
}

TEST(Ecdsa, RejectsMutatedSignaturesMessagesAndKeys) {
  const EccCurve curve("secp256k1");
  EccPlan plan = cpu_plan(curve);
  const KeyPair keys = key_pair(plan, curve, 2);
  const Bytes message = bytes_of_text("a message of several bytes");
  const Bytes signature = sign_one(plan, keys.secret, message).bytes;
  EXPECT_TRUE(verify_one(plan, keys.point, message, signature).ok);
  for (std::size_t i = 0; i < signature.size(); ++i) {
    Bytes bad = signature;
    bad[i] = static_cast<std::uint8_t>(bad[i] ^ (1U << (i % 8)));
    EXPECT_FALSE(verify_one(plan, keys.point, message, bad).ok) << i;
  }
  for (std::size_t i = 0; i < keys.point.size(); ++i) {
    Bytes bad = keys.point;
    bad[i] = static_cast<std::uint8_t>(bad[i] ^ (1U << (i % 8)));
    const OneVerdict verdict = verify_one(plan, bad, message, signature);
    EXPECT_FALSE(verdict.ok) << i;
    EXPECT_EQ(verdict.status, MM_ITEM_ECC_POINT) << i;
  }
}

TEST(Ecdsa, TheSumInVerificationMayBeInfinity) {
  // Q = G and u1 = -u2: e = -r, for any r and s.
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const std::vector<Bytes> one{[] {
    Bytes d(32);
    d.back() = 1;
    return d;
  }()};
  const Bytes g = plan.public_keys(one)[0];
  const Bytes r = noise(32, 4);
  const Bytes n = from_hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  Bytes e(32);
  unsigned borrow = 0;
  for (std::size_t i = 32; i-- > 0;) {
    const unsigned difference = n[i] - r[i] - borrow;
    e[i] = static_cast<std::uint8_t>(difference);
    borrow = difference >> 31;
  }
  Bytes signature = r;
  const Bytes s = small_secret(32, 6);
  signature.insert(signature.end(), s.begin(), s.end());
  EccOptions options;
  options.prehashed = true;
  const OneVerdict verdict = verify_one(plan, g, e, signature, options);
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.status, MM_OK);
}

/// y^2 = x^3 + 6 over a prime of 64 bits, y^2 = x^3 + 38 over one of 640 bits: by Hasse's bound an order may
/// have one bit more than its field, and here that bit is in a limb of its own.
TEST(Ecdsa, OrdersMayBeLongerThanTheField) {
  struct LongOrder {
    const char *p, *b, *y, *n;
  };
  constexpr LongOrder kCurves[] = {
      {"fffffffffffff3df", "06", "9920384bbe6e77f9", "0100000001ea12e02d"},
      {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
       "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd58b9",
       "26",
       "33b7a7031b3f20613a19677da2d1f516197c76a6f05ddc7599a58074fbbe4aab1dde6f8b6c9ef4ac48737dbc5d79ef17"
       "eab36f3db40028faf49e340f8670c42888d1f1a921ff3bcffb2a67905130f45c",
       "0100000000000000000000000000000000000000000000000000000000000000000000000000000000f7630c4014c739"
       "8c591f6283be15c801748c8c2321a5d08bf743bf852d902d794031a2a24fc0227f"},
  };
  for (const LongOrder& numbers : kCurves) {
    const Bytes p = from_hex(numbers.p), b = from_hex(numbers.b), y = from_hex(numbers.y),
                n = from_hex(numbers.n), zero(1), one(1, 1);
    const EccCurve curve({MM_ECC_WEIERSTRASS, p, zero, b, one, y, n});
    ASSERT_EQ(curve.info().scalar_bytes, p.size() + 1);
    EccPlan plan = cpu_plan(curve);
    Bytes most = n;
    --most.back();
    const std::vector<Bytes> secrets{small_secret(n.size(), 1), most};
    const std::vector<Bytes> keys = plan.public_keys(secrets), messages{bytes_of_text("m"), {}};
    const EccOptions options = in_format(MM_ECC_RECOVERABLE);
    const std::vector<Bytes> signatures = plan.sign(secrets, messages, options);
    EXPECT_EQ(plan.verify(keys, messages, signatures, options), std::vector<bool>(2, true));
    EccOperands operands;
    operands.messages = messages;
    operands.signatures = signatures;
    EXPECT_EQ(plan.run(MM_ECC_RECOVER, 2, operands, options), keys);
    operands = {};
    operands.secrets = secrets;
    const std::vector<Bytes> crossed{keys[1], keys[0]};
    operands.points = crossed;
    const std::vector<Bytes> shared = plan.run(MM_ECC_EXCHANGE, 2, operands);
    EXPECT_EQ(shared[0], shared[1]);
    operands = {};
    operands.secrets = {&n, 1};
    EXPECT_EQ(plan.run(MM_ECC_MULTIPLY, 1, operands), std::vector<Bytes>{zero});
  }
}

TEST(Ecdsa, BadKeysAndNoncesHaveStatuses) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const Bytes n = from_hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  Bytes most = n;
  --most.back();
  const std::vector<Bytes> secrets{Bytes(32), n, Bytes(31, 1), {}, Bytes(33, 1), most, Bytes(32, 0xff)};
  const std::vector<Bytes> messages(secrets.size(), bytes_of_text("m"));
  EccOperands operands;
  operands.secrets = secrets;
  operands.messages = messages;
  std::vector<mm_status> statuses;
  std::vector<Bytes> results = plan.run(MM_ECC_SIGN, secrets.size(), operands, {}, &statuses);
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    EXPECT_EQ(statuses[i], i == 5 ? MM_OK : MM_ITEM_ECC_SECRET) << i;
    EXPECT_EQ(results[i].size(), i == 5 ? 64U : 0U) << i;
  }
  const std::vector<Bytes> one(secrets.size(), most);
  operands.secrets = one;
  operands.nonces = secrets;
  EccOptions options;
  options.nonces = MM_ECC_NONCE_GIVEN;
  results = plan.run(MM_ECC_SIGN, secrets.size(), operands, options, &statuses);
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    EXPECT_EQ(statuses[i], i == 5 ? MM_OK : MM_ITEM_ECC_SECRET) << i;
  }
}

}  // namespace
}  // namespace manymod::testing
