// SPDX-License-Identifier: Apache-2.0
// Rings of private keys: their calls give what calls with the keys themselves give.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "ecc/ring.hpp"

/// The library's own namespace, before the wrapper brings another one of that name.
namespace internal = manymod::ecc;

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

using EccRing = wrapper::ecc::Ring;
using Keys = internal::PreparedKeys;

const char* const kNames[] = {"P-256", "secp256k1", "P-521", "SM2", "Ed25519", "X25519", "Ed448", "X448"};

std::vector<EccCurve> all_curves() {
  std::vector<EccCurve> curves;
  for (const char* name : kNames) curves.emplace_back(name);
  return curves;
}

/// A plan of all curves, keys on each of them, and items that name the keys.
class EccRings : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kKeys = 24;
  static constexpr std::size_t kItems = 100;

  std::vector<EccCurve> curves_ = all_curves();
  EccPlan plan_{curves_, {"cpu", "", 2}};
  std::vector<std::uint32_t> curve_of_key_, key_, curve_of_item_;
  std::vector<Bytes> secrets_, secret_of_item_, messages_;

  EccRings() {
    for (std::uint32_t key = 0; key < kKeys; ++key) {
      curve_of_key_.push_back(key % std::size(kNames));
      secrets_.push_back(small_secret(curves_[curve_of_key_.back()].info().secret_bytes, key + 1));
    }
    for (std::uint32_t item = 0; item < kItems; ++item) {
      key_.push_back(item * 7 % kKeys);
      curve_of_item_.push_back(curve_of_key_[key_.back()]);
      secret_of_item_.push_back(secrets_[key_.back()]);
      messages_.push_back(noise(item, item));
    }
  }

  [[nodiscard]] EccRing ring() const { return EccRing(plan_, secrets_, curve_of_key_); }

  /// The messages signed by the ring's keys that their items name.
  std::vector<Bytes> sign(const EccRing& ring, std::vector<mm_status>& statuses) {
    EccOperands operands;
    operands.messages = messages_;
    operands.ring = ring.get();
    operands.keys = key_;
    return plan_.run(MM_ECC_SIGN, kItems, operands, {}, &statuses);
  }

  /// Compare a call whose items name keys with one whose items have them.
  void expect_same(mm_ecc_op op, EccOperands operands, const EccRing& ring, const EccOptions& options = {}) {
    EccOperands plain = operands;
    plain.secrets = secret_of_item_;
    plain.curves = curve_of_item_;
    operands.ring = ring.get();
    operands.keys = key_;
    std::vector<mm_status> expected_statuses, statuses;
    const std::vector<Bytes> expected = plan_.run(op, kItems, plain, options, &expected_statuses);
    EXPECT_EQ(plan_.run(op, kItems, operands, options, &statuses), expected);
    EXPECT_EQ(statuses, expected_statuses);
    EXPECT_NE(std::ranges::count(statuses, MM_OK), 0);
  }
};

TEST_F(EccRings, SignAsTheirKeysDo) {
  const EccRing keys = ring();
  EccOperands operands;
  operands.messages = messages_;
  for (const bool no_check : {false, true}) {
    EccOptions options;
    options.no_check = no_check;
    expect_same(MM_ECC_SIGN, operands, keys, options);
    options.scheme = MM_ECC_BIP340;
    expect_same(MM_ECC_SIGN, operands, keys, options);
  }
  EccOptions der;
  der.signature_format = MM_ECC_DER;
  expect_same(MM_ECC_SIGN, operands, keys, der);
  const Bytes context(3, 'c');
  operands.contexts = {&context, 1};
  expect_same(MM_ECC_SIGN, operands, keys);
}

TEST_F(EccRings, AgreeOnKeysAsTheirKeysDo) {
  EccOperands own;
  own.secrets = secret_of_item_;
  own.curves = curve_of_item_;
  std::vector<mm_status> statuses;
  std::vector<Bytes> peers = plan_.run(MM_ECC_PUBLIC_KEY, kItems, own, {}, &statuses);
  EccOperands operands;
  operands.points = peers;
  expect_same(MM_ECC_EXCHANGE, operands, ring());
  operands.seconds = peers;
  operands.nonces = secret_of_item_;
  EccOptions options;
  options.nonces = MM_ECC_NONCE_GIVEN;
  options.key_bytes = 16;
  expect_same(MM_ECC_SM2_EXCHANGE, operands, ring(), options);
}

TEST_F(EccRings, ManyItemsOfOneCurve) {
  constexpr std::size_t kMany = 300;
  for (const char* name : {"Ed25519", "SM2", "P-256"}) {
    SCOPED_TRACE(name);
    EccPlan plan = cpu_plan(EccCurve(name));
    std::vector<Bytes> secrets, messages, of_items;
    for (std::size_t i = 0; i < 5; ++i) secrets.push_back(small_secret(32, i + 1));
    std::vector<std::uint32_t> keys;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      keys.push_back(i * i % 5);
      of_items.push_back(secrets[keys.back()]);
      messages.push_back(noise(i % 70, i));
    }
    const EccRing ring(plan, secrets);
    EccOperands named, given;
    named.messages = given.messages = messages;
    named.ring = ring.get();
    named.keys = keys;
    given.secrets = of_items;
    EXPECT_EQ(plan.run(MM_ECC_SIGN, kMany, named), plan.run(MM_ECC_SIGN, kMany, given));
    // Without indices all items have the first key.
    named.keys = {};
    given.secrets = {secrets.data(), 1};
    EXPECT_EQ(plan.run(MM_ECC_SIGN, kMany, named), plan.run(MM_ECC_SIGN, kMany, given));
  }
}

TEST_F(EccRings, OutliveTheirPlans) {
  auto first = std::make_unique<EccPlan>(curves_, wrapper::Placement{"cpu", "scalar64", 1});
  const EccRing ring(*first, secrets_, curve_of_key_);
  first.reset();
  EccOperands operands;
  operands.messages = messages_;
  expect_same(MM_ECC_SIGN, operands, ring);
}

TEST_F(EccRings, KeysThatAreNoneFailTheirItemsAlone) {
  secrets_[0].clear();                   // a public key
  secrets_[1] = Bytes(32, 0xff);         // not below n
  secrets_[4].push_back(0);              // too long
  curve_of_key_[2] = std::size(kNames);  // no such curve
  std::vector<mm_status> of_keys;
  EXPECT_THROW(EccRing(plan_, secrets_, curve_of_key_), wrapper::Error);
  const EccRing ring(plan_, secrets_, curve_of_key_, &of_keys);
  const std::array expected = {
      MM_ITEM_ECC_SECRET, MM_ITEM_ECC_SECRET, MM_ITEM_ECC_CURVE, MM_OK, MM_ITEM_ECC_SECRET, MM_OK};
  EXPECT_TRUE(std::ranges::equal(std::span(of_keys).first(expected.size()), expected));
  key_[5] = kKeys;  // no such key
  key_[6] = UINT32_MAX;
  std::vector<mm_status> statuses;
  const std::vector<Bytes> signatures = sign(ring, statuses);
  for (std::size_t item = 0; item < kItems; ++item) {
    const std::uint32_t key = key_[item];
    const mm_status of_key = key < kKeys ? of_keys[key] : MM_ITEM_ECC_CURVE;
    const bool signs = key < kKeys && curve_of_key_[key] != 5 && curve_of_key_[key] != 7;
    EXPECT_EQ(statuses[item], signs ? of_key : MM_ITEM_ECC_CURVE) << item;
    EXPECT_EQ(signatures[item].empty(), statuses[item] != MM_OK) << item;
  }
}

TEST_F(EccRings, KeysThatChangedInMemorySignNothing) {
  const auto flip = [](const std::uint8_t& byte) { const_cast<std::uint8_t&>(byte) ^= 0x40; };
  const auto curve = [](std::size_t key) -> const internal::Curve& {
    return *internal::find_curve(kNames[key]);
  };
  const std::vector<std::function<void(const Keys&)>> changes = {
      [&](const Keys& keys) { flip(keys.parts(4, curve(4)).public_key[31]); },
      [&](const Keys& keys) { flip(keys.parts(4, curve(4)).prefix[0]); },
      [&](const Keys& keys) { const_cast<Limb&>(keys.parts(4, curve(4)).scalar[1]) ^= 1; },
      [&](const Keys& keys) { flip(keys.x(3, curve(3))[2]); },
      [&](const Keys& keys) { flip(keys.y(1, curve(1))[31]); },
      [&](const Keys& keys) { flip(keys.secrets()[0][31]); },
      // Two errors that sums by rotations and products with a constant do not tell from none.
      [&](const Keys& keys) {
        auto* const bytes = const_cast<std::uint8_t*>(keys.parts(4, curve(4)).public_key.data());
        bytes[7] ^= 0x80;
        bytes[11] ^= 0x10;
      },
  };
  const std::array<std::uint32_t, 7> changed = {4, 4, 4, 3, 1, 0, 4};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    const EccRing ring = this->ring();
    changes[i](ring.get()->ring.keys());
    for (std::uint32_t key = 0; key < kKeys; ++key) {
      EXPECT_EQ(ring.get()->ring.keys().is_intact(key), key != changed[i]) << key;
    }
    std::vector<mm_status> statuses;
    const std::vector<Bytes> signatures = sign(ring, statuses);
    for (std::size_t item = 0; item < kItems; ++item) {
      if (key_[item] != changed[i]) continue;
      EXPECT_EQ(statuses[item], MM_ITEM_ECC_FAULT);
      EXPECT_TRUE(signatures[item].empty());
    }
  }
}

TEST_F(EccRings, MalformedCallsAreRefused) {
  const EccRing keys = ring();
  const auto status_of = [&](mm_ecc_op op, const EccOperands& operands, EccPlan& plan) {
    try {
      std::vector<mm_status> statuses;
      static_cast<void>(plan.run(op, 1, operands, {}, &statuses));
      return MM_OK;
    } catch (const wrapper::Error& error) {
      return error.status();
    }
  };
  EccOperands sign, both, curve, no_ring;
  sign.messages = both.messages = curve.messages = no_ring.messages = {messages_.data(), 1};
  sign.ring = both.ring = curve.ring = keys.get();
  both.secrets = {secrets_.data(), 1};
  const std::uint32_t zero = 0;
  curve.curves = {&zero, 1};
  no_ring.secrets = {secrets_.data(), 1};
  no_ring.keys = {&zero, 1};
  EXPECT_EQ(status_of(MM_ECC_SIGN, sign, plan_), MM_OK);
  EXPECT_EQ(status_of(MM_ECC_SIGN, both, plan_), MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of(MM_ECC_SIGN, curve, plan_), MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of(MM_ECC_SIGN, no_ring, plan_), MM_ERR_ARGUMENT);
  EccPlan other = cpu_plan(EccCurve("P-256"));
  EXPECT_EQ(status_of(MM_ECC_SIGN, sign, other), MM_ERR_ARGUMENT);
  EccOperands public_key;
  public_key.ring = keys.get();
  EXPECT_EQ(status_of(MM_ECC_PUBLIC_KEY, public_key, plan_), MM_ERR_ARGUMENT);
}

TEST_F(EccRings, AreMadeOfArguments) {
  mm_ecc_ring* ring = nullptr;
  mm_ecc_ring_keys keys{};
  keys.struct_size = sizeof keys;
  EXPECT_EQ(mm_ecc_ring_create(plan_.get(), &keys, &ring), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_ecc_ring_create(plan_.get(), nullptr, &ring), MM_ERR_NULL);
  EXPECT_EQ(mm_ecc_ring_create(plan_.get(), &keys, nullptr), MM_ERR_NULL);
  keys.count = 1;
  keys.secret = {1, secrets_[0].data(), secrets_[0].size(), 0, nullptr, nullptr};
  EXPECT_EQ(mm_ecc_ring_create(nullptr, &keys, &ring), MM_ERR_NULL);
  EXPECT_EQ(ring, nullptr);
  EXPECT_EQ(mm_ecc_ring_create(plan_.get(), &keys, &ring), MM_OK);
  mm_ecc_ring_destroy(ring);
  mm_ecc_ring_destroy(nullptr);
}

TEST_F(EccRings, TellTheLengthOfResults) {
  const EccRing keys = ring();
  mm_ecc_call call{};
  call.struct_size = sizeof call;
  call.op = MM_ECC_SIGN;
  call.count = 2;
  call.ring = keys.get();
  const std::array<std::uint32_t, 2> indices = {0, 2};
  std::size_t bytes = 0;
  EXPECT_EQ(mm_ecc_result_bytes(plan_.get(), &call, &bytes), MM_OK);
  EXPECT_EQ(bytes, 64U);
  call.key = indices.data();
  EXPECT_EQ(mm_ecc_result_bytes(plan_.get(), &call, &bytes), MM_OK);
  EXPECT_EQ(bytes, 132U);
}

}  // namespace
}  // namespace manymod::testing
