// SPDX-License-Identifier: Apache-2.0
// EdDSA and X25519 through plans on OpenCL devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ecc/opencl/fixture.hpp"
#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

/// Calls of the C ABI, beside the processor's.
class OpenclEdwardsPlans : public OpenclCurves {
 protected:
  static constexpr std::size_t kItems = 12;
  EccOperands operands_;
  EccOptions options_;
  std::vector<mm_status> statuses_;
  std::vector<Bytes> secrets_, messages_;

  void SetUp() override {
    OpenclCurves::SetUp();
    for (std::size_t i = 0; i < kItems; ++i) {
      secrets_.push_back(noise(32, i));
      messages_.emplace_back(i, std::uint8_t{1});
    }
    operands_.secrets = secrets_;
  }

  /// What the device computes of a call, which is what the processor does; `launches` of its kernels, or
  /// none.
  std::vector<Bytes> agree(const EccCurve& curve, mm_ecc_op op, bool launches = true) {
    EccPlan gpu(curve, {"opencl", "", 1}), cpu = cpu_plan(curve);
    const std::vector<Bytes> expected = cpu.run(op, kItems, operands_, options_, &statuses_);
    const std::vector<mm_status> statuses = statuses_;
    const std::size_t before = opencl_launches;
    EXPECT_EQ(gpu.run(op, kItems, operands_, options_, &statuses_), expected) << op;
    EXPECT_EQ(statuses_, statuses) << op;
    EXPECT_EQ(opencl_launches > before, launches) << op;
    return expected;
  }
  std::vector<bool> verdicts(const EccCurve& curve, mm_ecc_op op) {
    EccPlan gpu(curve, {"opencl", "", 1}), cpu = cpu_plan(curve);
    const std::vector<bool> expected = cpu.run_verification(op, kItems, operands_, options_, &statuses_);
    const std::vector<mm_status> statuses = statuses_;
    const std::size_t before = opencl_launches;
    EXPECT_EQ(gpu.run_verification(op, kItems, operands_, options_, &statuses_), expected);
    EXPECT_EQ(statuses_, statuses);
    EXPECT_GT(opencl_launches, before);
    return expected;
  }
};

/// y = value + p, in 255 bits: not canonical.
Bytes above_p(std::uint8_t value) {
  Bytes bytes(32, 0xFF);
  bytes.front() = static_cast<std::uint8_t>(0xED + value);
  bytes.back() = 0x7F;
  return bytes;
}
/// The encoding of y = value.
Bytes small_y(std::uint8_t value) {
  Bytes bytes(32);
  bytes.front() = value;
  return bytes;
}

TEST_F(OpenclEdwardsPlans, Ed25519) {
  const EccCurve curve("Ed25519");
  std::vector<Bytes> keys = agree(curve, MM_ECC_PUBLIC_KEY);
  operands_.messages = messages_;
  std::vector<Bytes> signatures = agree(curve, MM_ECC_SIGN);
  operands_.secrets = {};
  operands_.points = keys;
  operands_.signatures = signatures;
  EXPECT_EQ(verdicts(curve, MM_ECC_VERIFY), std::vector<bool>(kItems, true));
  // R, S, and a message of its own; keys of small order, encoded canonically and not, and no point.
  signatures[0][3] ^= 1;
  signatures[1][40] ^= 1;
  messages_[2].push_back(2);
  keys[3] = small_y(1);
  keys[4] = above_p(1);
  keys[5] = small_y(2);
  keys[6].pop_back();
  signatures[7].pop_back();
  // R = S = 0: valid for the neutral element as the key, by the equation.
  signatures[3] = signatures[4] = Bytes(64);
  signatures[3].front() = signatures[4].front() = 1;
  for (const mm_ecc_policy policy : {MM_ECC_RFC8032, MM_ECC_STRICT, MM_ECC_ZIP215}) {
    options_.policy = policy;
    const std::vector<bool> ok = verdicts(curve, MM_ECC_VERIFY);
    EXPECT_EQ(ok[3], policy != MM_ECC_STRICT);
    EXPECT_EQ(ok[4], policy == MM_ECC_ZIP215);
    EXPECT_EQ(std::ranges::count(ok.begin() + 8, ok.end(), true), std::ptrdiff_t{kItems - 8});
    EXPECT_EQ(std::ranges::count(ok, true), std::ptrdiff_t{kItems - 8} + (ok[3] ? 1 : 0) + (ok[4] ? 1 : 0));
  }
}

/// Multiples with scalars of any size, of points of any order.
TEST_F(OpenclEdwardsPlans, MultiplesOfPoints) {
  const EccCurve curve("Ed25519");
  std::vector<Bytes> points = agree(curve, MM_ECC_MULTIPLY);
  points[0] = small_y(1);
  points[1] = small_y(0);  // of order 4
  points[2] = above_p(1);
  points[3] = small_y(2);
  std::ranges::fill(secrets_[4], std::uint8_t{0xFF});
  std::ranges::fill(secrets_[5], std::uint8_t{0});
  operands_.points = points;
  agree(curve, MM_ECC_MULTIPLY);
  for (const std::size_t bad : {2U, 3U}) EXPECT_EQ(statuses_[bad], MM_ITEM_ECC_POINT);
  EXPECT_EQ(std::ranges::count(statuses_, MM_OK), std::ptrdiff_t{kItems - 2});
}

TEST_F(OpenclEdwardsPlans, X25519) {
  const EccCurve curve("X25519");
  std::vector<Bytes> keys = agree(curve, MM_ECC_PUBLIC_KEY);
  // Coordinates that are not canonical, with the top bit set, or of small order; and no coordinate.
  keys[0] = above_p(9);
  keys[1].back() |= 0x80;
  keys[2] = small_y(0);
  keys[3] = small_y(1);
  keys[4] = above_p(0);
  keys[5].pop_back();
  operands_.points = keys;
  agree(curve, MM_ECC_EXCHANGE);
  for (const std::size_t small : {2U, 3U, 4U}) EXPECT_EQ(statuses_[small], MM_ITEM_ECC_SMALL_ORDER);
  EXPECT_EQ(statuses_[5], MM_ITEM_ECC_POINT);
  EXPECT_EQ(std::ranges::count(statuses_, MM_OK), std::ptrdiff_t{kItems - 4});
}

TEST_F(OpenclEdwardsPlans, SecretsStayOnTheProcessorUnlessTheDriverIsTrusted) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  agree(EccCurve("Ed25519"), MM_ECC_PUBLIC_KEY, false);
  agree(EccCurve("X25519"), MM_ECC_PUBLIC_KEY, false);
}

TEST_F(OpenclEdwardsPlans, FailOverWhereLaddersAreWrong) {
  replace("clEnqueueReadBuffer", address(read_wrongly));
  const EccCurve curve("X25519");
  EccPlan gpu(curve, {"opencl", "", 1}), cpu = cpu_plan(curve);
  EXPECT_EQ(gpu.run(MM_ECC_PUBLIC_KEY, kItems, operands_), cpu.run(MM_ECC_PUBLIC_KEY, kItems, operands_));
  try {
    const EccPlan another(curve, {"opencl", "", 1});
    ADD_FAILURE() << "kernels that are wrong are not used any more";
  } catch (const wrapper::Error& error) {
    EXPECT_NE(std::string(error.what()).find("ecc_montgomery255_ladder computes wrong results"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace manymod::testing
