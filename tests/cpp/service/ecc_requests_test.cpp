// SPDX-License-Identifier: Apache-2.0
// Requests on curves through the C ABI of services.
#include <gtest/gtest.h>

#include <string>

#include "ecc/test_calls.hpp"
#include "service/requests.hpp"

namespace manymod::testing {
namespace {

/// A plan of P-256 and Ed25519.
Holder<mm_ecc_plan> make_two_curves() {
  const mm_ecc_curve* curves[] = {mm_ecc_curve_find("P-256"), mm_ecc_curve_find("Ed25519")};
  mm_ecc_plan* plan = nullptr;
  EXPECT_EQ(mm_ecc_plan_create(curves, 2, nullptr, &plan), MM_OK) << mm_last_error();
  return Holder<mm_ecc_plan>(plan);
}

/// Keys by turns on both curves.
struct Keys {
  static constexpr std::size_t kCount = 4;
  std::vector<Bytes> secrets, points;
  std::vector<mm_bytes> secret_items, point_items;
  std::vector<std::uint32_t> curves;

  Keys() {
    EccPlan plans[] = {cpu_plan(EccCurve("P-256")), cpu_plan(EccCurve("Ed25519"))};
    for (std::uint32_t i = 0; i < kCount; ++i) {
      curves.push_back(i % 2);
      secrets.push_back(small_secret(32, i));
      points.push_back(plans[i % 2].public_keys({&secrets.back(), 1})[0]);
    }
    for (const Bytes& secret : secrets) secret_items.push_back({secret.data(), secret.size()});
    for (const Bytes& point : points) point_items.push_back({point.data(), point.size()});
  }

  [[nodiscard]] mm_ecc_call pattern(mm_ecc_op op) const {
    mm_ecc_call call{};
    call.struct_size = sizeof call;
    call.op = op;
    call.count = kCount;
    call.curve = curves.data();
    const bool verifies = op == MM_ECC_VERIFY;
    const std::vector<mm_bytes>& items = verifies ? point_items : secret_items;
    (verifies ? call.point : call.secret) = mm_bytes_view{kCount, nullptr, 0, 0, nullptr, items.data()};
    return call;
  }
};

TEST(ServiceEcc, SignsAndVerifiesOnSeveralCurves) {
  const Holder<mm_ecc_plan> plan = make_two_curves();
  const Holder<mm_service> service = make_service();
  std::size_t sign = 9, verify = 9;
  {
    const Keys keys;  // which the service copies
    const mm_ecc_call signing = keys.pattern(MM_ECC_SIGN), verification = keys.pattern(MM_ECC_VERIFY);
    ASSERT_EQ(mm_service_add_ecc(service.get(), plan.get(), &signing, &sign), MM_OK) << mm_last_error();
    ASSERT_EQ(mm_service_add_ecc(service.get(), plan.get(), &verification, &verify), MM_OK);
  }
  const Keys keys;
  EccPlan alone[] = {cpu_plan(EccCurve("P-256")), cpu_plan(EccCurve("Ed25519"))};
  for (std::uint32_t key = 0; key < Keys::kCount; ++key) {
    const Bytes message = noise(40, key);
    const Called made = call(service.get(), make_request(sign, message, key));
    EXPECT_EQ(made.status, MM_OK);
    EXPECT_EQ(made.output, alone[key % 2].sign({&keys.secrets[key], 1}, {&message, 1})[0]);
    mm_service_request request = make_request(verify, message, key);
    request.signature = {made.output.data(), made.output.size()};
    EXPECT_EQ(call(service.get(), request).valid, 1);
    request.key = (key + 2) % Keys::kCount;
    EXPECT_EQ(call(service.get(), request).valid, 0);
    request.signature.size -= 1;
    EXPECT_EQ(call(service.get(), request).status, MM_ITEM_ECC_SIGNATURE);
  }
  EXPECT_EQ(call(service.get(), make_request(sign, {1}, Keys::kCount)).status, MM_ITEM_ECC_CURVE);
}

TEST(ServiceEcc, KeysThatAreNotPrivateFailAlone) {
  const Holder<mm_ecc_plan> plan = make_two_curves();
  const Holder<mm_service> service = make_service();
  Keys keys;
  keys.secret_items[2] = {};
  const mm_ecc_call pattern = keys.pattern(MM_ECC_SIGN);
  std::size_t sign = 9;
  ASSERT_EQ(mm_service_add_ecc(service.get(), plan.get(), &pattern, &sign), MM_OK) << mm_last_error();
  EXPECT_EQ(call(service.get(), make_request(sign, {1}, 0)).status, MM_OK);
  EXPECT_EQ(call(service.get(), make_request(sign, {1}, 2)).status, MM_ITEM_ECC_SECRET);
}

TEST(ServiceEcc, Exchanges) {
  const Holder<mm_ecc_plan> plan = make_two_curves();
  const Holder<mm_service> service = make_service();
  const Keys keys;
  mm_ecc_call pattern = keys.pattern(MM_ECC_EXCHANGE);
  pattern.count = 1;
  pattern.secret.count = 1;
  std::size_t exchange = 9;
  ASSERT_EQ(mm_service_add_ecc(service.get(), plan.get(), &pattern, &exchange), MM_OK) << mm_last_error();
  const Called made = call(service.get(), make_request(exchange, keys.points[2]));
  const auto own = libcrypto_key("P-256", keys.points[0], keys.secrets[0]);
  const auto peer = libcrypto_key("P-256", keys.points[2], {});
  EXPECT_EQ(made.output, libcrypto_exchange(own.get(), peer.get()));
  EXPECT_EQ(call(service.get(), make_request(exchange, {4})).status, MM_ITEM_ECC_POINT);
}

TEST(ServiceEcc, PatternsAreChecked) {
  const Holder<mm_ecc_plan> plan = make_two_curves();
  const Holder<mm_service> service = make_service();
  Keys keys;
  std::size_t number = 77;
  const auto add = [&](const mm_ecc_call& pattern) {
    return mm_service_add_ecc(service.get(), plan.get(), &pattern, &number);
  };
  mm_ecc_call pattern = keys.pattern(MM_ECC_SIGN);
  pattern.op = MM_ECC_SUM;
  EXPECT_EQ(add(pattern), MM_ERR_ARGUMENT);
  pattern = keys.pattern(MM_ECC_SIGN);
  pattern.nonces = MM_ECC_NONCE_GIVEN;
  EXPECT_EQ(add(pattern), MM_ERR_ARGUMENT);
  pattern = keys.pattern(MM_ECC_SIGN);
  pattern.policy = MM_ECC_STRICT;
  EXPECT_EQ(add(pattern), MM_ERR_ARGUMENT);
  pattern = keys.pattern(MM_ECC_SIGN);
  pattern.count = 0;
  EXPECT_EQ(add(pattern), MM_ERR_ARGUMENT);
  std::uint8_t status = 0;
  pattern = keys.pattern(MM_ECC_SIGN);
  pattern.item_status = &status;
  EXPECT_EQ(add(pattern), MM_ERR_ARGUMENT);
  keys.secrets[2].assign(32, 0);
  EXPECT_EQ(add(keys.pattern(MM_ECC_SIGN)), MM_ERR_KEY);
  EXPECT_EQ(std::string(mm_last_error()), std::string("key 2: ") + mm_status_message(MM_ITEM_ECC_SECRET));
  EXPECT_EQ(number, 77U);
}

}  // namespace
}  // namespace manymod::testing
