// SPDX-License-Identifier: Apache-2.0
// Signatures of BIP 340: vectors of the standard, and signatures that are none, each by itself and in a
// batch.
#include <gtest/gtest.h>

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

struct Vector {
  const char* secret;  ///< empty: for verification only
  const char* key;
  const char* auxiliary;
  const char* message;
  const char* signature;
};
constexpr Vector kVectors[] = {
    {"0000000000000000000000000000000000000000000000000000000000000003",
     "F9308A019258C31049344F85F89D5229B531C845836F99B08601F113BCE036F9",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "E907831F80848D1069A5371B402410364BDF1C5F8307B0084C55F1CE2DCA821525F66A4A85EA8B71E482A74F382D2CE5"
     "EBEEE8FDB2172F477DF4900D310536C0"},
    {"B7E151628AED2A6ABF7158809CF4F3C762E7160F38B4DA56A784D9045190CFEF",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "0000000000000000000000000000000000000000000000000000000000000001",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6896BD60EEAE296DB48A229FF71DFE071BDE413E6D43F917DC8DCF8C78DE33418906D11AC976ABCCB20B091292BFF4EA"
     "897EFCB639EA871CFA95F6DE339E4B0A"},
    {"C90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B14E5C9",
     "DD308AFEC5777E13121FA72B9CC1B7CC0139715309B086C960E18FD969774EB8",
     "C87AA53824B4D7AE2EB035A2B5BBBCCC080E76CDC6D1692C4B0B62D798E6D906",
     "7E2D58D8B3BCDF1ABADEC7829054F90DDA9805AAB56C77333024B9D0A508B75C",
     "5831AAEED7B44BB74E5EAB94BA9D4294C49BCF2A60728D8B4C200F50DD313C1BAB745879A5AD954A72C45A91C3A51D3C"
     "7ADEA98D82F8481E0E1E03674A6F3FB7"},
    {"0B432B2677937381AEF05BB02A66ECD012773062CF3FA2549E44F58ED2401710",
     "25D1DFF95105F5253C4022F628A996AD3A0D95FBF21D468A1B33F8C160D8F517",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "7EB0509757E246F19449885651611CB965ECC1A187DD51B64FDA1EDC9637D5EC97582B9CB13DB3933705B32BA982AF5A"
     "F25FD78881EBB32771FC5922EFC66EA3"},
    {"", "D69C3509BB99E412E68B0FE8544E72837DFA30746D8BE2AA65975F29D22DC7B9", "",
     "4DF3C3F68FCC83B27E9D42C90431A72499F17875C81A599B566C9889B9696703",
     "00000000000000000000003B78CE563F89A0ED9414F5AA28AD0D96D6795F9C6376AFB1548AF603B3EB45C9F8207DEE10"
     "60CB71C04E80F593060B07D28308D7F4"},
    {"0340034003400340034003400340034003400340034003400340034003400340",
     "778CAA53B4393AC467774D09497A87224BF9FAB6F6E68B23086497324D6FD117",
     "0000000000000000000000000000000000000000000000000000000000000000", "",
     "71535DB165ECD9FBBC046E5FFAEA61186BB6AD436732FCCC25291A55895464CF6069CE26BF03466228F19A3A62DB8A64"
     "9F2D560FAC652827D1AF0574E427AB63"},
};

const char* const kOrder = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141";
const char* const kPrime = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F";

EccOptions bip340() {
  EccOptions options;
  options.scheme = MM_ECC_BIP340;
  return options;
}

EccPlan make_plan(unsigned threads = 1) { return cpu_plan(EccCurve("secp256k1"), threads); }

struct Batch {
  std::vector<Bytes> keys, messages, signatures;
};

Batch good_batch(EccPlan& plan, std::size_t count) {
  Batch batch;
  std::vector<Bytes> secrets;
  for (std::size_t i = 0; i < count; ++i) {
    secrets.push_back(small_secret(32, i + 1));
    batch.messages.push_back(noise(i % 100, i));
  }
  batch.keys = plan.public_keys(secrets, bip340());
  batch.signatures = plan.sign(secrets, batch.messages, bip340());
  return batch;
}

bool verify_all(EccPlan& plan, const Batch& batch, std::vector<mm_status>* statuses = nullptr) {
  EccOperands operands;
  operands.points = batch.keys;
  operands.messages = batch.messages;
  operands.signatures = batch.signatures;
  return plan.run_verification(MM_ECC_VERIFY_ALL, batch.messages.size(), operands, bip340(), statuses).at(0);
}

TEST(Bip340, GivesTheSignaturesOfTheStandard) {
  EccPlan plan = make_plan();
  for (const Vector& vector : kVectors) {
    const Bytes secret = from_hex(vector.secret);
    const Bytes key = from_hex(vector.key);
    const Bytes auxiliary = from_hex(vector.auxiliary);
    const Bytes message = from_hex(vector.message);
    const Bytes signature = from_hex(vector.signature);
    EXPECT_TRUE(verify_one(plan, key, message, signature, bip340()).ok) << vector.key;
    if (secret.empty()) continue;
    EXPECT_EQ(plan.public_keys({&secret, 1}, bip340())[0], key);
    EccOperands operands;
    operands.secrets = {&secret, 1};
    operands.messages = {&message, 1};
    operands.nonces = {&auxiliary, 1};
    EccOptions options = bip340();
    options.nonces = MM_ECC_NONCE_GIVEN;
    EXPECT_EQ(run_one(plan, MM_ECC_SIGN, operands, options).bytes, signature) << vector.key;
  }
}

TEST(Bip340, ZerosAreTheDeterministicRandomness) {
  EccPlan plan = make_plan();
  const Bytes secret = from_hex(kVectors[0].secret);
  const Bytes message = from_hex(kVectors[0].message);
  EXPECT_EQ(plan.sign({&secret, 1}, {&message, 1}, bip340())[0], from_hex(kVectors[0].signature));
  EccOptions hedged = bip340();
  hedged.nonces = MM_ECC_NONCE_HEDGED;
  const Bytes first = plan.sign({&secret, 1}, {&message, 1}, hedged)[0];
  EXPECT_NE(first, plan.sign({&secret, 1}, {&message, 1}, hedged)[0]);
  EXPECT_TRUE(verify_one(plan, from_hex(kVectors[0].key), message, first, bip340()).ok);
}

TEST(Bip340, OneMessageForAllIsThatOfEachItem) {
  EccPlan plan = cpu_plan(EccCurve("secp256k1"));
  const Bytes message = noise(100, 1);
  std::vector<Bytes> secrets;
  for (std::size_t i = 0; i < 20; ++i) secrets.push_back(small_secret(32, i + 1));
  const std::vector<Bytes> messages(secrets.size(), message);
  EccOperands operands;
  operands.secrets = secrets;
  operands.messages = {&message, 1};
  EXPECT_EQ(plan.run(MM_ECC_SIGN, secrets.size(), operands, bip340()),
            plan.sign(secrets, messages, bip340()));
}

TEST(Bip340, RandomnessOfAWrongLengthHasAStatus) {
  EccPlan plan = make_plan();
  const Bytes secret = from_hex(kVectors[0].secret);
  const Bytes message = from_hex(kVectors[0].message);
  const Bytes auxiliary(31);
  EccOperands operands;
  operands.secrets = {&secret, 1};
  operands.messages = {&message, 1};
  operands.nonces = {&auxiliary, 1};
  EccOptions options = bip340();
  options.nonces = MM_ECC_NONCE_GIVEN;
  EXPECT_EQ(run_one(plan, MM_ECC_SIGN, operands, options).status, MM_ITEM_ECC_LENGTH);
}

TEST(Bip340, RejectsWhatIsNoSignatureAlsoInABatch) {
  EccPlan plan = make_plan();
  const Batch good = good_batch(plan, 5);
  ASSERT_TRUE(verify_all(plan, good));
  struct Case {
    const char* what;
    Bytes key, signature;
    mm_status status;
  };
  const Bytes& signature = good.signatures[2];
  const auto with = [&](const Bytes& number, std::size_t place) {
    Bytes changed = signature;
    std::copy(number.begin(), number.end(), changed.begin() + static_cast<std::ptrdiff_t>(place));
    return changed;
  };
  Bytes off_curve(32);
  off_curve.back() = 5;  // 5^3 + 7 is no square
  Bytes flipped = signature;
  flipped[40] = static_cast<std::uint8_t>(flipped[40] ^ 1);
  Bytes longer = signature;
  longer.push_back(0);
  Bytes compressed = good.keys[2];
  compressed.insert(compressed.begin(), 2);
  const Case cases[] = {
      {"r = p", good.keys[2], with(from_hex(kPrime), 0), MM_ITEM_ECC_SIGNATURE},
      {"s = n", good.keys[2], with(from_hex(kOrder), 32), MM_ITEM_ECC_SIGNATURE},
      {"r is no x", good.keys[2], with(off_curve, 0), MM_OK},
      {"another s", good.keys[2], flipped, MM_OK},
      {"s = 0", good.keys[2], with(Bytes(32), 32), MM_OK},
      {"too long", good.keys[2], longer, MM_ITEM_ECC_SIGNATURE},
      {"empty", good.keys[2], {}, MM_ITEM_ECC_SIGNATURE},
      {"another key", good.keys[3], signature, MM_OK},
      {"key = p", from_hex(kPrime), signature, MM_ITEM_ECC_POINT},
      {"key is no x", off_curve, signature, MM_ITEM_ECC_POINT},
      {"key in SEC 1", compressed, signature, MM_ITEM_ECC_POINT},
  };
  for (const Case& bad : cases) {
    Batch batch = good;
    batch.keys[2] = bad.key;
    batch.signatures[2] = bad.signature;
    std::vector<mm_status> statuses;
    std::vector<bool> expected(5, true);
    expected[2] = false;
    EXPECT_EQ(plan.verify(batch.keys, batch.messages, batch.signatures, bip340(), &statuses), expected)
        << bad.what;
    EXPECT_EQ(statuses[2], bad.status) << bad.what;
    EXPECT_FALSE(verify_all(plan, batch, &statuses)) << bad.what;
    EXPECT_EQ(statuses[2], bad.status) << bad.what;
  }
}

TEST(Bip340, NegatedNumbersAreRejected) {
  // d and n - d have the same key; R and -R the same x, of which only the even y is right.
  EccPlan plan = make_plan();
  const Batch good = good_batch(plan, 1);
  const Bytes n = from_hex(kOrder);
  Bytes signature = good.signatures[0];
  unsigned borrow = 0;
  for (std::size_t i = 32; i-- > 0;) {
    const unsigned difference = n[i] - signature[32 + i] - borrow;
    signature[32 + i] = static_cast<std::uint8_t>(difference);
    borrow = difference >> 31;
  }
  EXPECT_FALSE(verify_one(plan, good.keys[0], good.messages[0], signature, bip340()).ok);
}

TEST(Bip340, OneVerdictForManyNeedsAllOfThem) {
  EccPlan plan = make_plan(2);
  Batch batch = good_batch(plan, 700);
  EXPECT_TRUE(verify_all(plan, batch));
  // Errors that cancel without random factors: two signatures whose s are exchanged against each other.
  for (std::size_t i : {100U, 650U}) {
    std::uint8_t& byte = batch.signatures[i].back();
    byte = static_cast<std::uint8_t>(i == 100 ? byte + 1 : byte - 1);
  }
  EXPECT_FALSE(verify_all(plan, batch));
  EXPECT_TRUE(verify_all(plan, {}));
}

}  // namespace
}  // namespace manymod::testing
