// SPDX-License-Identifier: Apache-2.0
// The queue of a service, with an operation that tests control.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "service/service.hpp"
#include "service/watched_service.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace manymod::testing {
namespace {

TEST(ServiceQueue, AnswersEveryRequestOfManyThreadsOnce) {
  constexpr std::size_t kThreads = 4, kEach = 2000;
  Watch watch;
  std::vector<Callback> callbacks(kThreads * kEach);
  std::vector<std::atomic<int>> right(callbacks.size());
  std::atomic<std::size_t> wrong{0};
  const auto service = make_service(watch);
  std::vector<std::thread> users;
  for (std::size_t user = 0; user < kThreads; ++user) {
    users.emplace_back([&, user] {
      for (std::size_t i = user; i < callbacks.size(); i += kThreads) {
        const auto byte = static_cast<std::uint8_t>(i);
        const auto key = static_cast<std::uint32_t>(user);
        callbacks[i].function = [&, i, sum = static_cast<std::uint8_t>(byte + key)](const mm_answer& answer) {
          const bool good = answer.status == MM_OK && answer.output.size == 1 && answer.output.data[0] == sum;
          if (good) {
            ++right[i];
          } else {
            ++wrong;
          }
        };
        service->submit(
            std::make_shared<SingleRequest>(request(byte, key), Callback::call, &callbacks[i], false), kLong);
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_TRUE(service->close(true));
  EXPECT_TRUE(std::ranges::all_of(right, [](const auto& times) { return times == 1; }));
  EXPECT_EQ(wrong, 0U);
  const mm_service_statistics all = service->statistics();
  EXPECT_EQ(all.accepted, callbacks.size());
  EXPECT_EQ(all.computed, callbacks.size());
  EXPECT_EQ(all.waiting + all.running, 0U);
  EXPECT_EQ(all.batches, watch.batches.size());
  EXPECT_LE(all.queued.p50, all.queued.p95);
  EXPECT_LE(all.queued.p99, all.queued.max);
}

// A request wipes its operands and its result when nobody holds it any more.
TEST(ServiceQueue, AnsweredRequestsAreLetGo) {
  Watch watch;
  const auto service = make_service(watch);
  auto request = single(1);
  const std::weak_ptr<SingleRequest> watched = request;
  service->submit(request, kNoRoom);
  expect_sum(*request, 2);
  request.reset();
  for (int tries = 0; tries < 10'000 && !watched.expired(); ++tries) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(watched.expired());
}

/// How many of these are still there.
std::size_t kept_of(const std::vector<std::weak_ptr<SingleRequest>>& requests) {
  return static_cast<std::size_t>(
      std::ranges::count_if(requests, [](const auto& request) { return !request.expired(); }));
}

// While batches take their time, what was withdrawn behind a request that waits does not stay in memory.
TEST(ServiceQueue, WithdrawnRequestsAreLetGo) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto running = single(1), waiting = single(2);
  submit_and_begin(service, watch, running);
  service->submit(waiting, kNoRoom);
  std::vector<std::weak_ptr<SingleRequest>> cancelled, expiring;
  for (int i = 0; i < 1000; ++i) {
    const auto request = single(3);
    cancelled.push_back(request);
    service->submit(request, kNoRoom);
    EXPECT_EQ(service->cancel(request), 1U);
    EXPECT_EQ(service->cancel(request), 0U);
    EXPECT_LE(kept_of(cancelled), 2U);
  }
  for (int i = 0; i < 100; ++i) {
    const auto request = single(3, 1, 1);
    expiring.push_back(request);
    service->submit(request, kNoRoom);
  }
  for (int tries = 0; tries < 10'000 && kept_of(expiring) > 2; ++tries) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_LE(kept_of(expiring), 2U);
  EXPECT_EQ(service->statistics().waiting, 1U);
  watch.door.open();
  expect_sum(*waiting, 3);
}

TEST(ServiceQueue, AnIdleServiceComputesOnTheCallingThread) {
  Watch watch;
  const auto service = make_service(watch);
  const auto call = single(40, 2);
  ASSERT_TRUE(service->run_here(call));
  expect_sum(*call, 42);
  EXPECT_EQ(watch.thread, std::this_thread::get_id());
  EXPECT_EQ(service->statistics().accepted, 1U);
}

TEST(ServiceQueue, ABusyServiceDoesNot) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto first = single(1);
  submit_and_begin(service, watch, first);
  EXPECT_FALSE(service->run_here(single(2)));
  EXPECT_EQ(service->statistics().accepted, 1U);
  watch.door.open();
  expect_sum(*first, 2);
}

TEST(ServiceQueue, IsBounded) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1, 2));
  const auto running = single(1);
  submit_and_begin(service, watch, running);
  service->submit(single(2), kNoRoom);
  service->submit(single(3), kNoRoom);
  EXPECT_EQ(status_of([&] { service->submit(single(4), kNoRoom); }), MM_ERR_FULL);
  EXPECT_EQ(status_of([&] { service->submit(single(4), milliseconds(2)); }), MM_ERR_FULL);
  EXPECT_EQ(service->statistics().refused, 2U);
  const auto waits = single(5);
  std::thread user([&] { service->submit(waits, kLong); });
  watch.door.open();
  user.join();
  expect_sum(*waits, 6);
}

TEST(ServiceQueue, CancelsWhatHasNotBegun) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto running = single(1), waiting = single(2);
  submit_and_begin(service, watch, running);
  service->submit(waiting, kNoRoom);
  EXPECT_EQ(service->cancel(running), 0U);
  EXPECT_FALSE(running->wait(0));
  EXPECT_EQ(service->cancel(waiting), 1U);
  EXPECT_TRUE(waiting->ended());
  EXPECT_EQ(waiting->summary().status, MM_ITEM_NOT_COMPUTED);
  EXPECT_EQ(service->cancel(waiting), 0U);
  watch.door.open();
  expect_sum(*running, 2);
  EXPECT_TRUE(service->close(true));
  EXPECT_EQ(watch.batches, std::vector<std::size_t>{1});
  EXPECT_EQ(service->statistics().cancelled, 1U);
}

TEST(ServiceQueue, RequestsExpireWhileOthersAreComputed) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto running = single(1);
  submit_and_begin(service, watch, running);
  const auto expires = single(2, 1, 1'000'000), patient = single(3, 1, UINT64_MAX);
  service->submit(patient, kNoRoom);
  service->submit(expires, kNoRoom);
  ASSERT_TRUE(expires->wait(UINT64_MAX));
  EXPECT_EQ(expires->summary().status, MM_ITEM_EXPIRED);
  EXPECT_FALSE(running->ended());
  watch.door.open();
  expect_sum(*running, 2);
  expect_sum(*patient, 4);
  EXPECT_TRUE(service->close(true));
  EXPECT_EQ(service->statistics().expired, 1U);
}

TEST(ServiceQueue, OperationsHaveQueuesOfTheirOwn) {
  Watch first(false), second;
  const auto service = make_service(first, limits(2));
  EXPECT_EQ(service->add(std::make_unique<AddKey>(second)), 1U);
  const auto stuck = single(1);
  service->submit(stuck, kNoRoom);
  first.door.await(1);
  const std::uint8_t twenty = 20;
  mm_service_request other = request(twenty, 3);
  other.operation = 1;
  const auto quick = std::make_shared<SingleRequest>(other, nullptr, nullptr, true);
  service->submit(quick, kNoRoom);
  expect_sum(*quick, 23);
  EXPECT_EQ(status_of([&] { static_cast<void>(service->operation(2)); }), MM_ERR_ARGUMENT);
  first.door.open();
  expect_sum(*stuck, 2);
  service->close(true);
}

#if defined(__unix__) || defined(__APPLE__)
TEST(ServiceQueue, BelongsToItsProcess) {
  Watch watch;
  const auto service = make_service(watch);
  const pid_t child = fork();
  if (child == 0) _exit(service->is_of_this_process() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(service->is_of_this_process());
}
#endif

}  // namespace
}  // namespace manymod::testing
