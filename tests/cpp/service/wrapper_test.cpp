// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper of services: futures, exceptions, verdicts.
#include "manymod/service.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

using wrapper::Error;
using wrapper::Patience;

/// A service that signs and verifies with one key on P-256.
struct Signing {
  EccPlan plan = cpu_plan(EccCurve("P-256"));
  Bytes secret = small_secret(32, 3);
  Bytes point = plan.public_keys({&secret, 1})[0];
  wrapper::Service service{{.max_concurrent = 2}};
  std::size_t sign = service.add(plan, pattern(MM_ECC_SIGN)),
              verify = service.add(plan, pattern(MM_ECC_VERIFY));

  [[nodiscard]] mm_ecc_call pattern(mm_ecc_op op) const {
    mm_ecc_call call{};
    call.struct_size = sizeof call;
    call.op = op;
    call.count = 1;
    const Bytes& key = op == MM_ECC_SIGN ? secret : point;
    (op == MM_ECC_SIGN ? call.secret : call.point) =
        mm_bytes_view{1, key.data(), key.size(), 0, nullptr, nullptr};
    return call;
  }
};

template <class Function>
mm_status status_of(const Function& function) {
  try {
    function();
    return MM_OK;
  } catch (const Error& error) {
    return error.status();
  }
}

TEST(ServiceWrapper, FuturesAndCallsGiveTheSame) {
  Signing x;
  std::vector<std::future<Bytes>> futures;
  for (std::uint8_t i = 0; i < 20; ++i) futures.push_back(x.service.submit(x.sign, Bytes{i}));
  for (std::uint8_t i = 0; i < 20; ++i) {
    const Bytes message{i};
    const Bytes signature = futures[i].get();
    EXPECT_EQ(signature, x.service.call(x.sign, message));
    EXPECT_TRUE(x.service.verify(x.verify, message, signature));
    EXPECT_FALSE(x.service.verify(x.verify, Bytes{99}, signature));
    EXPECT_FALSE(x.service.verify(x.verify, message, Bytes{1, 2}));
    EXPECT_TRUE(x.service.submit_verify(x.verify, message, signature).get());
    EXPECT_FALSE(x.service.submit_verify(x.verify, Bytes{99}, signature).get());
    EXPECT_FALSE(x.service.submit_verify(x.verify, message, Bytes{1, 2}).get());
  }
  x.service.close();
  EXPECT_EQ(x.service.statistics().accepted, 160U);
}

TEST(ServiceWrapper, StatusesAreExceptions) {
  Signing x;
  const Bytes message{1};
  EXPECT_EQ(status_of([&] { x.service.submit(x.sign, message, 7).get(); }), MM_ITEM_ECC_CURVE);
  EXPECT_EQ(status_of([&] { x.service.call(x.sign, message, 7); }), MM_ITEM_ECC_CURVE);
  EXPECT_EQ(status_of([&] { x.service.verify(x.verify, message, message, 7); }), MM_ITEM_ECC_CURVE);
  EXPECT_EQ(status_of([&] { x.service.submit_verify(x.verify, message, message, 7).get(); }),
            MM_ITEM_ECC_CURVE);
  EXPECT_EQ(status_of([&] { x.service.call(9, message); }), MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { x.service.call(x.sign, message, 0, {}, 10); }), MM_ERR_ARGUMENT);
  x.service.stop();
  x.service.close(false);
  EXPECT_EQ(status_of([&] { static_cast<void>(x.service.submit(x.sign, message)); }), MM_ERR_CLOSED);
}

// As unsigned numbers they would be centuries.
TEST(ServiceWrapper, NegativeDurationsAreRefused) {
  using std::chrono::nanoseconds;
  Signing x;
  const Bytes message{1};
  const Patience past{.timeout = nanoseconds(-1)};
  const Patience no_room{.room = nanoseconds(-1)};
  EXPECT_EQ(status_of([&] { x.service.call(x.sign, message, 0, past); }), MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { static_cast<void>(x.service.submit(x.sign, message, 0, no_room)); }),
            MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([] { const wrapper::Service service({.deadline = nanoseconds(-1)}); }),
            MM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { x.service.call(x.sign, message, 0, {.room = nanoseconds(0)}); }), MM_OK);
}

}  // namespace
}  // namespace manymod::testing
