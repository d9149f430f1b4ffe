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

TEST(ServiceQueue, ArraysAndSinglesShareBatches) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  const auto first = single(1);
  submit_and_begin(service, watch, first);
  std::vector<std::uint8_t> inputs(100), outputs(300, 0xee), statuses(100, 0xee);
  std::vector<std::uint32_t> keys(100, 5);
  std::vector<std::size_t> sizes(100, 77);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<std::uint8_t>(i);
  keys[7] = 99;
  mm_service_requests many{};
  many.count = inputs.size();
  many.key = keys.data();
  many.input = {100, inputs.data(), 1, 0, nullptr, nullptr};
  many.output = {outputs.data(), 100, 3, sizes.data()};
  many.item_status = statuses.data();
  const auto array = std::make_shared<service::RequestArray>(many, 2, nullptr, nullptr);
  service->submit(array, kNoRoom);
  const auto last = single(2);
  service->submit(last, kNoRoom);
  watch.door.open();
  expect_sum(*first, 2);
  expect_sum(*last, 3);
  ASSERT_TRUE(array->wait(UINT64_MAX));
  EXPECT_EQ(array->summary().status, MM_ERR_ITEMS);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(statuses[i], i == 7 ? MM_ITEM_RSA_KEY : MM_OK);
    EXPECT_EQ(outputs[3 * i], i == 7 ? 0 : i + 5);
    EXPECT_EQ(outputs[3 * i + 1], 0);     // behind the result
    EXPECT_EQ(outputs[3 * i + 2], 0xee);  // between the rows
    EXPECT_EQ(sizes[i], i == 7 ? 0U : 1U);
  }
  EXPECT_LT(watch.batches.size(), 102U);
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

TEST(ServiceQueue, ClosingDrainsOrDrops) {
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

TEST(ServiceQueue, StoppingDoesNotWait) {
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

TEST(ServiceQueue, ClosingWakesThoseThatWaitForRoom) {
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

TEST(ServiceQueue, AFailedBatchAnswersItsRequestsWithTheFailure) {
  Watch watch;
  watch.failure = MM_ERR_DEVICE;
  const auto service = make_service(watch);
  const auto request = single(1);
  service->submit(request, kNoRoom);
  ASSERT_TRUE(request->wait(UINT64_MAX));
  EXPECT_EQ(request->summary().status, MM_ERR_DEVICE);
  EXPECT_STREQ(request->summary().message, "the device is gone");
  EXPECT_EQ(request->summary().output.size, 0U);
  service->close(true);
  EXPECT_EQ(service->statistics().failed, 1U);
}

TEST(ServiceQueue, AnArrayHasTheFirstFailureOfItsCalls) {
  Watch watch;
  watch.failure = MM_ERR_DEVICE;
  Limits small = limits(1);
  small.max_batch = 2;
  const auto service = make_service(watch, small);
  std::vector<std::uint8_t> inputs(7), outputs(14, 0xee), statuses(7);
  mm_service_requests many{};
  many.count = 7;
  many.input = {7, inputs.data(), 1, 0, nullptr, nullptr};
  many.output = {outputs.data(), 7, 2, nullptr};
  many.item_status = statuses.data();
  const auto array = std::make_shared<service::RequestArray>(many, 2, nullptr, nullptr);
  service->submit(array, kNoRoom);
  ASSERT_TRUE(array->wait(UINT64_MAX));
  EXPECT_EQ(array->summary().status, MM_ERR_DEVICE);
  EXPECT_STREQ(array->summary().message, "the device is gone");
  EXPECT_EQ(statuses, std::vector<std::uint8_t>(7, MM_ITEM_NOT_COMPUTED));
  EXPECT_EQ(outputs, std::vector<std::uint8_t>(14));
}

TEST(ServiceQueue, BatchesAreBounded) {
  Watch watch(false);
  Limits small = limits(1);
  small.max_batch = 4;
  const auto service = make_service(watch, small);
  const auto first = single(1);
  submit_and_begin(service, watch, first);
  std::vector<std::shared_ptr<SingleRequest>> requests;
  for (std::size_t i = 0; i < 10; ++i) {
    requests.push_back(single(1));
    service->submit(requests.back(), kNoRoom);
  }
  watch.door.open();
  EXPECT_TRUE(service->close(true));
  EXPECT_LE(*std::ranges::max_element(watch.batches), 4U);
  EXPECT_EQ(service->statistics().computed, 11U);
}

// While as many batches of the GPUs' operation are computed as may be, its other requests wait, and those of
// another operation do not wait for them.
TEST(ServiceQueue, BatchesOnGpusHaveALimitOfTheirOwn) {
  constexpr std::size_t kInAll = 8, kOnGpu = 2, kGpus = 2, kRequests = 20;
  Watch on_gpus(false), on_cpu(false);
  on_gpus.gpus = kGpus;
  Limits chosen = limits(kInAll);
  chosen.max_batch = 1;
  chosen.max_on_gpu = kOnGpu;
  const auto service = make_service(on_gpus, chosen);
  const std::size_t other = service->add(std::make_unique<AddKey>(on_cpu));
  const std::uint8_t byte = 1;
  mm_service_request of_other = request(byte);
  of_other.operation = static_cast<std::uint32_t>(other);
  for (std::size_t i = 0; i < kRequests; ++i) service->submit(single(byte), kNoRoom);
  on_gpus.door.await(kGpus * kOnGpu);
  for (std::size_t i = 0; i < kRequests; ++i) {
    service->submit(std::make_shared<SingleRequest>(of_other, nullptr, nullptr, true), kNoRoom);
  }
  on_cpu.door.await(kInAll - kGpus * kOnGpu);
  EXPECT_EQ(on_gpus.door.comers(), kGpus * kOnGpu);
  EXPECT_EQ(on_cpu.door.comers(), kInAll - kGpus * kOnGpu);
  EXPECT_EQ(service->statistics().running, kInAll);
  EXPECT_FALSE(service->run_here(single(byte)));
  on_gpus.door.open();
  on_cpu.door.open();
  EXPECT_TRUE(service->close(true));
  EXPECT_EQ(service->statistics().computed, 2 * kRequests);
}

TEST(ServiceQueue, ComputesSeveralBatchesAtTheSameTime) {
  Watch watch(false);
  const auto service = make_service(watch, limits(3));
  std::vector<std::shared_ptr<SingleRequest>> requests;
  for (std::size_t i = 0; i < 3; ++i) {
    requests.push_back(single(1));
    service->submit(requests.back(), kNoRoom);
    watch.door.await(i + 1);
  }
  service->submit(single(2), kNoRoom);
  EXPECT_EQ(service->statistics().running, 3U);
  EXPECT_EQ(service->statistics().waiting, 1U);
  watch.door.open();
  for (const auto& request : requests) expect_sum(*request, 2);
}

TEST(ServiceQueue, CallbacksSubmitAndCloseWithoutWaiting) {
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

TEST(ServiceQueue, UnderLoadBatchesFill) {
  Watch watch(false);
  const auto service = make_service(watch, limits(1));
  std::vector<std::shared_ptr<SingleRequest>> requests;
  for (std::size_t i = 0; i < 500; ++i) {
    requests.push_back(single(1));
    service->submit(requests.back(), kNoRoom);
  }
  watch.door.open();
  for (const auto& request : requests) expect_sum(*request, 2);
  service->close(true);
  EXPECT_LT(watch.batches.size(), 500U);
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

TEST(ServiceQueue, CloseWaitsForTheAnswersOfWhatOthersCancel) {
  const auto cancel = [](const OpenService& service, const std::shared_ptr<SingleRequest>& request) {
    EXPECT_EQ(service->cancel(request), 1U);
  };
  expect_close_waits_for(cancel, true);
}

TEST(ServiceQueue, CloseWaitsForTheAnswersOfWhatOthersStop) {
  const auto stop = [](const OpenService& service, const std::shared_ptr<SingleRequest>& /*request*/) {
    service->stop(false);
  };
  expect_close_waits_for(stop, false);
}

// A callback that calls another service, whose callback would wait for the first one for ever.
TEST(ServiceQueue, CallbacksWithinCallbacksAreThoseOfBothServices) {
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
