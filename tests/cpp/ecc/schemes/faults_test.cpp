// SPDX-License-Identifier: Apache-2.0
// Faults of the hardware while signatures of ECDSA, SM2 and BIP 340 are made: with deterministic nonces no
// signature that one spoiled leaves. eddsa_test.cpp has those of EdDSA.
#include <gtest/gtest.h>

#include "ecc/faulty_engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "ecc/variants.hpp"

namespace manymod::test {
namespace {

/// Few signatures are checked one by one, many by one equation first, which takes 16 for each item that an
/// engine computes together.
constexpr std::size_t kFew = 5, kMany = 130;

struct FaultCase {
  const char* description;
  ecc::CurveId curve;
  mm_ecc_scheme scheme;
  mm_ecc_signature_format format;
  /// The number of the call that computes k G. The next one is the check; before it come public keys.
  unsigned nonce_call;
};
constexpr FaultCase kCases[] = {
    {"P256", ecc::CurveId::p256, MM_ECC_ECDSA, MM_ECC_RAW, 0},
    {"P256Recoverable", ecc::CurveId::p256, MM_ECC_ECDSA, MM_ECC_RECOVERABLE, 0},
    {"P521Der", ecc::CurveId::p521, MM_ECC_ECDSA, MM_ECC_DER, 0},
    {"Secp256k1LowS", ecc::CurveId::secp256k1, MM_ECC_ECDSA, MM_ECC_RAW, 0},
    {"Sm2", ecc::CurveId::sm2, MM_ECC_SM2DSA, MM_ECC_RAW, 1},
    {"Bip340", ecc::CurveId::secp256k1, MM_ECC_BIP340, MM_ECC_RAW, 1},
};

class Faults : public testing::TestWithParam<FaultCase> {
 protected:
  const FaultCase& case_ = GetParam();
  const ecc::Curve& curve_ = ecc::named_curve(case_.curve);

  [[nodiscard]] SchemeRun sign(const ecc::PointEngine& engine, std::size_t count, bool check) const {
    SchemeItems items;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes secret(curve_.scalar_bytes());
      secret.back() = static_cast<std::uint8_t>(3 + i);
      items.secret.push_back(secret);
      items.message.push_back(Bytes(i, 7));
    }
    SchemeRun run(items, count);
    run.inputs.check = check;
    run.inputs.signature_format = case_.format;
    run.run([&](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
      return ecc::make_scheme({MM_ECC_SIGN, case_.scheme}, engine, inputs, outputs);
    });
    return run;
  }
};

TEST_P(Faults, NoSpoiledSignatureLeaves) {
  for (const ecc::Variant& variant : ecc::variants()) {
    if (variant.backend != Backend::cpu || !variant.offers(curve_) || !variant.runs_here()) continue;
    SCOPED_TRACE(variant.name);
    const auto engine = variant.make(curve_, {});
    const SchemeRun exact = sign(*engine, kFew, true);
    for (const std::size_t bad : {0U, 3U}) {
      // In k G, and in the check itself, whose rows are those of the items before; the first one is nobody's.
      for (const bool in_check : {false, true}) {
        const unsigned call = case_.nonce_call + (in_check ? 1 : 0);
        const SchemeRun found = sign(FaultyEngine(*engine, bad, call), kFew, true);
        for (std::size_t i = 0; i < kFew; ++i) {
          const bool is_bad = i + (in_check ? 1 : 0) == bad;
          EXPECT_EQ(found.status[i], is_bad ? MM_ITEM_ECC_FAULT : MM_OK);
          EXPECT_EQ(found.output[i], is_bad ? Bytes{} : exact.output[i]);
        }
      }
      // In the same row of both: a lane that is always wrong.
      const SchemeRun always = sign(FaultyEngine(*engine, bad), kFew, true);
      EXPECT_EQ(always.status[bad], MM_ITEM_ECC_FAULT);
      const SchemeRun unchecked = sign(FaultyEngine(*engine, bad, case_.nonce_call), kFew, false);
      EXPECT_EQ(unchecked.status[bad], MM_OK);
      EXPECT_NE(unchecked.output[bad], exact.output[bad]);
    }
  }
}

TEST_P(Faults, OneOfMany) {
  constexpr std::size_t kBad = 77;
  for (const ecc::Variant& variant : ecc::variants()) {
    if (variant.backend != Backend::cpu || !variant.offers(curve_) || !variant.runs_here()) continue;
    SCOPED_TRACE(variant.name);
    const auto engine = variant.make(curve_, {});
    const SchemeRun unchecked = sign(*engine, kMany, false), checked = sign(*engine, kMany, true);
    EXPECT_EQ(checked.output, unchecked.output);
    EXPECT_EQ(checked.status, std::vector<std::uint8_t>(kMany, MM_OK));
    const SchemeRun found = sign(FaultyEngine(*engine, kBad, case_.nonce_call), kMany, true);
    for (std::size_t i = 0; i < kMany; ++i) {
      EXPECT_EQ(found.status[i], i == kBad ? MM_ITEM_ECC_FAULT : MM_OK);
      EXPECT_EQ(found.output[i], i == kBad ? Bytes{} : unchecked.output[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Faults, testing::ValuesIn(kCases),
                         [](const auto& instance) { return std::string(instance.param.description); });

}  // namespace
}  // namespace manymod::test
