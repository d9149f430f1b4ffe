// SPDX-License-Identifier: Apache-2.0
// Bare points: encodings, multiples and sums, and ECDH against libcrypto.
#include <gtest/gtest.h>

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

constexpr const char* kWeierstrass[] = {"P-256",           "P-384",           "P-521", "secp256k1", "SM2",
                                        "brainpoolP256r1", "brainpoolP512r1", "BN254", "BLS12-381"};
constexpr const char* kEdwards[] = {"Ed25519", "Ed448"};

EccOptions in_format(mm_ecc_point_format format) {
  EccOptions options;
  options.point_format = format;
  return options;
}

/// A scalar of the curve's size with a small value, in its byte order.
Bytes scalar(const EccCurve& curve, std::uint8_t value) {
  const mm_ecc_curve_info info = curve.info();
  Bytes bytes(info.scalar_bytes);
  (info.form == MM_ECC_EDWARDS ? bytes.front() : bytes.back()) = value;
  return bytes;
}

OneResult multiply(EccPlan& plan, const Bytes& k, const EccOptions& options = {}, const Bytes& point = {}) {
  EccOperands operands;
  operands.secrets = {&k, 1};
  if (!point.empty()) operands.points = {&point, 1};
  return run_one(plan, MM_ECC_MULTIPLY, operands, options);
}

OneResult add(EccPlan& plan, const Bytes& p, const Bytes& q, const EccOptions& options = {}) {
  EccOperands operands;
  operands.points = {&p, 1};
  operands.seconds = {&q, 1};
  return run_one(plan, MM_ECC_ADD, operands, options);
}

OneResult convert(EccPlan& plan, const Bytes& point, const EccOptions& options = {}) {
  EccOperands operands;
  operands.points = {&point, 1};
  return run_one(plan, MM_ECC_POINT, operands, options);
}

void check_group_law(const EccCurve& curve) {
  EccPlan plan = cpu_plan(curve);
  const auto times = [&](std::uint8_t k) { return multiply(plan, scalar(curve, k)).bytes; };
  const Bytes g = times(1);
  const Bytes none = times(0);
  EXPECT_EQ(add(plan, g, g).bytes, times(2));
  EXPECT_EQ(add(plan, times(2), g).bytes, times(3));
  EXPECT_EQ(add(plan, none, times(3)).bytes, times(3));
  EXPECT_EQ(add(plan, none, none).bytes, none);
  EXPECT_EQ(multiply(plan, scalar(curve, 7), {}, times(5)).bytes, times(35));
  EXPECT_EQ(multiply(plan, scalar(curve, 0), {}, times(5)).bytes, none);
  EXPECT_EQ(multiply(plan, scalar(curve, 9), {}, none).bytes, none);
  std::vector<Bytes> scalars, points;
  for (std::uint8_t i = 1; i <= 5; ++i) {
    scalars.push_back(scalar(curve, i));
    points.push_back(times(static_cast<std::uint8_t>(6 - i)));
  }
  EccOperands operands;
  operands.secrets = scalars;
  operands.points = points;
  EXPECT_EQ(plan.run(MM_ECC_SUM, 5, operands), std::vector<Bytes>{times(5 + 8 + 9 + 8 + 5)});
  points[3][1] = static_cast<std::uint8_t>(points[3][1] ^ 1);
  std::vector<mm_status> statuses;
  const std::vector<Bytes> sum = plan.run(MM_ECC_SUM, 5, operands, {}, &statuses);
  EXPECT_TRUE(statuses[3] == MM_ITEM_ECC_POINT ? sum[0].empty() : curve.info().form == MM_ECC_EDWARDS);
}

TEST(EccPoints, ObeyTheGroupLaw) {
  for (const char* name : kWeierstrass) check_group_law(EccCurve(name));
  for (const char* name : kEdwards) check_group_law(EccCurve(name));
}

TEST(EccPoints, OppositePointsGiveInfinity) {
  for (const char* name : kWeierstrass) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    const Bytes compressed = multiply(plan, scalar(curve, 5), in_format(MM_ECC_COMPRESSED)).bytes;
    Bytes opposite = compressed;
    opposite[0] = static_cast<std::uint8_t>(opposite[0] ^ 1);
    EXPECT_EQ(add(plan, compressed, opposite).bytes, Bytes(1)) << name;
    EXPECT_EQ(add(plan, compressed, opposite, in_format(MM_ECC_X_ONLY)).status, MM_ITEM_ECC_POINT) << name;
    EXPECT_EQ(convert(plan, Bytes(1)).bytes, Bytes(1)) << name;
  }
}

TEST(EccPoints, SumsAtInfinityHaveNoX) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const Bytes n = from_hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  Bytes less = n;
  --less.back();
  const std::vector<Bytes> scalars{less, scalar(curve, 1)};
  const std::vector<Bytes> points(2, multiply(plan, scalar(curve, 7)).bytes);
  EccOperands operands;
  operands.secrets = scalars;
  operands.points = points;
  std::vector<mm_status> statuses;
  EXPECT_EQ(plan.run(MM_ECC_SUM, 2, operands, {}, &statuses), std::vector<Bytes>{Bytes(1)});
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_OK, MM_OK}));
  EXPECT_EQ(plan.run(MM_ECC_SUM, 2, operands, in_format(MM_ECC_X_ONLY), &statuses), std::vector<Bytes>{{}});
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_ITEM_ECC_POINT, MM_ITEM_ECC_POINT}));
}

TEST(EccPoints, HaveTheEncodingsOfSec1) {
  for (const char* name : kWeierstrass) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    const std::size_t size = curve.info().coordinate_bytes;
    for (std::uint8_t k = 1; k < 8; ++k) {
      const Bytes whole = multiply(plan, scalar(curve, k)).bytes;
      const Bytes compressed = convert(plan, whole, in_format(MM_ECC_COMPRESSED)).bytes;
      ASSERT_EQ(whole.size(), 1 + 2 * size);
      ASSERT_EQ(compressed.size(), 1 + size);
      EXPECT_EQ(compressed[0], 2 + (whole.back() & 1));
      EXPECT_EQ(convert(plan, compressed).bytes, whole) << name;
      EXPECT_EQ(convert(plan, whole, in_format(MM_ECC_X_ONLY)).bytes,
                Bytes(whole.begin() + 1, whole.begin() + 1 + static_cast<std::ptrdiff_t>(size)));
      Bytes hybrid = whole;
      hybrid[0] = static_cast<std::uint8_t>(6 + (whole.back() & 1));
      EXPECT_EQ(convert(plan, hybrid).bytes, whole) << name;
      hybrid[0] = static_cast<std::uint8_t>(hybrid[0] ^ 1);
      EXPECT_EQ(convert(plan, hybrid).status, MM_ITEM_ECC_POINT) << name;
    }
  }
}

TEST(EccPoints, RejectWhatIsNoEncoding) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const Bytes good = multiply(plan, scalar(curve, 3)).bytes;
  const Bytes p = from_hex("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF");
  std::vector<Bytes> bad{{}, {1}, {4}, {0, 0}, Bytes(64), Bytes(65), Bytes(66), Bytes(33)};
  bad.push_back(good);
  bad.back()[0] = 5;
  bad.push_back(good);
  bad.back()[64] = static_cast<std::uint8_t>(bad.back()[64] ^ 1);
  bad.push_back(good);
  bad.back().push_back(0);
  bad.emplace_back(good.begin(), good.end() - 1);
  bad.emplace_back(good.begin() + 1, good.end());
  bad.push_back({2});
  bad.back().insert(bad.back().end(), p.begin(), p.end());
  bad.emplace_back(33, 0xff);
  bad.back()[0] = 2;
  bad.push_back({2});  // x = 1 is on no point of P-256
  bad.back().resize(33);
  bad.back().back() = 1;
  bad.push_back(good);
  const std::vector<Bytes> points = bad;
  EccOperands operands;
  operands.points = points;
  std::vector<mm_status> statuses;
  const std::vector<Bytes> results = plan.run(MM_ECC_POINT, points.size(), operands, {}, &statuses);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_good = i + 1 == points.size();
    EXPECT_EQ(statuses[i], is_good ? MM_OK : MM_ITEM_ECC_POINT) << i;
    EXPECT_EQ(results[i], is_good ? good : Bytes()) << i;
  }
}

TEST(EccPoints, ScalarsCountModuloTheOrder) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const Bytes n = from_hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  Bytes more = n;
  more.back() = static_cast<std::uint8_t>(more.back() + 4);
  EXPECT_EQ(multiply(plan, n).bytes, Bytes(1));
  EXPECT_EQ(multiply(plan, more).bytes, multiply(plan, scalar(curve, 4)).bytes);
  EXPECT_EQ(multiply(plan, Bytes(31, 1)).status, MM_ITEM_ECC_SECRET);
}

TEST(Ecdh, AgreesWithLibcrypto) {
  for (const char* name : {"P-256", "P-384", "P-521", "secp256k1", "brainpoolP256r1", "brainpoolP512r1"}) {
    const EccCurve curve(name);
    EccPlan plan = cpu_plan(curve);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::vector<Bytes> secrets{small_secret(curve.info().secret_bytes, seed),
                                       small_secret(curve.info().secret_bytes, seed + 100)};
      const std::vector<Bytes> keys = plan.public_keys(secrets);
      const auto own = libcrypto_key(name, keys[0], secrets[0]);
      const auto peer = libcrypto_key(name, keys[1], {});
      const std::vector<Bytes> crossed{keys[1], keys[0]};
      EccOperands operands;
      operands.secrets = secrets;
      operands.points = crossed;
      const std::vector<Bytes> shared = plan.run(MM_ECC_EXCHANGE, 2, operands);
      EXPECT_EQ(shared[0], libcrypto_exchange(own.get(), peer.get())) << name;
      EXPECT_EQ(shared[0], shared[1]) << name;
      EccOptions hashed;
      hashed.hash = MM_SHA512;
      Bytes digest(64);
      EVP_Digest(shared[0].data(), shared[0].size(), digest.data(), nullptr, EVP_sha512(), nullptr);
      EXPECT_EQ(plan.run(MM_ECC_EXCHANGE, 2, operands, hashed)[1], digest) << name;
    }
  }
}

TEST(Ecdh, BadOperandsHaveStatusesAndNoResult) {
  const EccCurve curve("P-256");
  EccPlan plan = cpu_plan(curve);
  const Bytes secret = small_secret(32, 1);
  const Bytes key = plan.public_keys({&secret, 1})[0];
  Bytes off_curve = key;
  off_curve.back() = static_cast<std::uint8_t>(off_curve.back() ^ 1);
  const auto exchange = [&](const Bytes& d, const Bytes& point) {
    EccOperands operands;
    operands.secrets = {&d, 1};
    operands.points = {&point, 1};
    const OneResult result = run_one(plan, MM_ECC_EXCHANGE, operands);
    EXPECT_EQ(result.bytes.empty(), result.status != MM_OK);
    return result.status;
  };
  EXPECT_EQ(exchange(secret, key), MM_OK);
  EXPECT_EQ(exchange(secret, off_curve), MM_ITEM_ECC_POINT);
  EXPECT_EQ(exchange(secret, Bytes(1)), MM_ITEM_ECC_POINT);
  EXPECT_EQ(exchange(Bytes(32), key), MM_ITEM_ECC_SECRET);
  EXPECT_EQ(exchange(Bytes(32, 0xff), key), MM_ITEM_ECC_SECRET);
}

}  // namespace
}  // namespace manymod::testing
