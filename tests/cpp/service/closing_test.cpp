// SPDX-License-Identifier: Apache-2.0
// Services that are closed or stopped while requests wait and callbacks run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "service/service.hpp"
#include "service/watched_service.hpp"

namespace manymod::testing {
namespace {

TEST(ServiceClosing, ClosingDrainsOrDrops) {
  for (const bool drain : {true, false}) {
    Watch watch(false);
    const auto service = make_service(watch, limits(1));
    const auto running = single(1), waiting = single(2);
    submit_and_begin(service, watch, running);
    service->submit(waiting, kNoRoom);
    std::thread closer([&] { EXPECT_TRUE(service->close(drain)); });
    if (!drain) {
      EXPECT_TRUE(waiting->wait(UINT64_MAX));
    }
    watch.door.open();
    closer.join();
    EXPECT_TRUE(running->ended());
    ASSERT_TRUE(waiting->ended());
    EXPECT_EQ(waiting->summary().status, drain ? MM_OK : MM_ITEM_NOT_COMPUTED);
    EXPECT_EQ(status_of([&] { service->submit(single(3), kLong); }), MM_ERR_CLOSED);
    EXPECT_FALSE(service->run_here(single(3)));
    EXPECT_TRUE(service->close(drain));
  }
}

TEST(ServiceClosing, StoppingDoesNotWait) {
  for (const bool drain : {true, false}) {
    Watch watch(false);
    const auto service = make_service(watch, limits(1));
    const auto running = single(1), waiting = single(2);
    submit_and_begin(service, watch, running);
    service->submit(waiting, kNoRoom);
    service->stop(drain);
    EXPECT_FALSE(running->ended());
    EXPECT_EQ(waiting->ended(), !drain);
    EXPECT_EQ(status_of([&] { service->submit(single(3), kLong); }), MM_ERR_CLOSED);
    watch.door.open();
    EXPECT_TRUE(service->close(true));
    EXPECT_TRUE(running->ended());
    EXPECT_EQ(waiting->summary().status, drain ? MM_OK : MM_ITEM_NOT_COMPUTED);
  }
}

TEST(ServiceClosing, ClosingWakesThoseThatWaitForRoom) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1, 1));
  submit_and_begin(service, watch, single(1));
  service->submit(single(2), kNoRoom);
  std::thread user([&] { EXPECT_EQ(status_of([&] { service->submit(single(3), kLong); }), MM_ERR_CLOSED); });
  while (status_of([&] { service->submit(single(3), kNoRoom); }) != MM_ERR_FULL) std::this_thread::yield();
  std::thread closer([&] { service->close(true); });
  user.join();
  watch.door.open();
  closer.join();
}

// Whoever closes a service may free what callbacks use. `withdraw` answers a request on another thread, whose
// callback is held up meanwhile.
template <class Withdraw>
void expect_close_waits_for(const Withdraw& withdraw, bool drain) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto running = single(1);
  submit_and_begin(service, watch, running);
  Door door(false);
  std::atomic<bool> answered = false;
  Callback callback{[&](const mm_answer& answer) {
    EXPECT_EQ(answer.status, MM_ITEM_NOT_COMPUTED);
    door.pass();
    answered = true;
  }};
  const std::uint8_t byte = 2;
  const auto withdrawn = std::make_shared<SingleRequest>(request(byte), Callback::call, &callback, false);
  service->submit(withdrawn, kNoRoom);
  std::thread withdrawer([&] { withdraw(service, withdrawn); });
  door.await(1);
  watch.door.open();
  std::thread closer([&] {
    EXPECT_TRUE(service->close(drain));
    EXPECT_TRUE(answered);
  });
  std::this_thread::sleep_for(milliseconds(50));  // for a closer that would not wait
  door.open();
  withdrawer.join();
  closer.join();
}

TEST(ServiceClosing, CloseWaitsForTheAnswersOfWhatOthersCancel) {
  const auto cancel = [](const OpenService& service, const std::shared_ptr<SingleRequest>& request) {
    EXPECT_EQ(service->cancel(request), 1U);
  };
  expect_close_waits_for(cancel, true);
}

TEST(ServiceClosing, CloseWaitsForTheAnswersOfWhatOthersStop) {
  const auto stop = [](const OpenService& service, const std::shared_ptr<SingleRequest>& /*request*/) {
    service->stop(false);
  };
  expect_close_waits_for(stop, false);
}

// Tickets own the service together with whoever destroys it, and remain usable.
TEST(ServiceClosing, KeysAreReleasedBeforeTickets) {
  Watch watch;
  const auto service = make_service(watch, limits(1));
  const auto answered = single(1);
  service->submit(answered, kNoRoom);
  EXPECT_TRUE(service->close(true));
  EXPECT_FALSE(watch.is_released);
  service->release_operations();
  EXPECT_TRUE(watch.is_released);
  EXPECT_EQ(service->cancel(answered), 0U);
  expect_sum(*answered, 2);
}

TEST(ServiceClosing, CallbacksSubmitAndCloseWithoutWaiting) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1, 1));
  const auto follower = single(10);
  bool closed = true;
  mm_status full = MM_OK;
  Callback callback{[&](const mm_answer&) {
    service->submit(follower, kLong);
    full = status_of([&] { service->submit(single(11), kLong); });
    closed = service->close(true);
    throw 1;  // is discarded
  }};
  const std::uint8_t one = 1;
  service->submit(std::make_shared<SingleRequest>(request(one), Callback::call, &callback, false), kNoRoom);
  watch.door.open();
  expect_sum(*follower, 11);
  EXPECT_TRUE(service->close(true));
  EXPECT_FALSE(closed);
  EXPECT_EQ(full, MM_ERR_FULL);
}

// A callback that calls another service, whose callback would wait for the first one for ever.
TEST(ServiceClosing, CallbacksWithinCallbacksAreThoseOfBothServices) {
  Watch watch, other_watch;
  const auto service = make_service(watch), other = make_service(other_watch);
  const std::uint8_t byte = 1;
  int inner = 0, outer = 0;
  Callback in_both{[&](const mm_answer&) {
    inner = (service->in_callback() ? 1 : 0) + (other->in_callback() ? 2 : 0);
    EXPECT_FALSE(service->close(false));
  }};
  Callback in_one{[&](const mm_answer&) {
    EXPECT_TRUE(
        other->run_here(std::make_shared<SingleRequest>(request(byte), Callback::call, &in_both, false)));
    outer = (service->in_callback() ? 1 : 0) + (other->in_callback() ? 2 : 0);
  }};
  EXPECT_TRUE(
      service->run_here(std::make_shared<SingleRequest>(request(byte), Callback::call, &in_one, false)));
  EXPECT_EQ(inner, 3);
  EXPECT_EQ(outer, 1);
  EXPECT_FALSE(service->in_callback());
}

}  // namespace
}  // namespace manymod::testing
