// SPDX-License-Identifier: Apache-2.0
// The end of a service when there is no memory. Sanitizers have allocators of their own.
#ifndef MANYMOD_SANITIZED
#include "service/without_memory.hpp"

#include "service/watched_service.hpp"

namespace manymod::testing {
namespace {

TEST(ServiceWithoutMemory, Stops) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto first = single(1), second = single(2), third = single(3);
  submit_and_begin(service, watch, first);
  service->submit(second, kNoRoom);
  service->submit(third, kNoRoom);
  {
    const WithoutMemory guard;
    service->stop(false);
  }
  for (const auto& dropped : {second, third}) {
    ASSERT_TRUE(dropped->wait(0));
    EXPECT_EQ(dropped->summary().status, MM_ITEM_NOT_COMPUTED);
    EXPECT_EQ(service->cancel(dropped), 0U);
  }
  EXPECT_EQ(status_of([&] { service->submit(single(4), kNoRoom); }), MM_ERR_CLOSED);
  EXPECT_EQ(service->statistics().cancelled, 2U);
  EXPECT_EQ(service->statistics().waiting, 0U);
  watch.door.open();
  expect_sum(*first, 2);
  EXPECT_TRUE(service->close(false));
}

}  // namespace
}  // namespace manymod::testing
#endif
