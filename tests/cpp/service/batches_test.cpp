// SPDX-License-Identifier: Apache-2.0
// How a service makes batches of its requests, how many it computes at a time, and what a failed one answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "service/service.hpp"
#include "service/watched_service.hpp"

namespace manymod::testing {
namespace {

TEST(ServiceBatches, ArraysAndSinglesShareBatches) {
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

TEST(ServiceBatches, HaveNoVerdictsOfTheBatchBefore) {
  BatchArrays arrays;
  arrays.begin(2, 0);
  arrays.valid = {1, 1};
  arrays.begin(2, 64);  // signatures, whose operation writes no verdicts
  EXPECT_EQ(arrays.valid, (std::vector<std::uint8_t>{0, 0}));
}

TEST(ServiceBatches, UnderLoadBatchesFill) {
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

TEST(ServiceBatches, BatchesAreBounded) {
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
TEST(ServiceBatches, BatchesOnGpusHaveALimitOfTheirOwn) {
  constexpr std::size_t kInAll = 8, kOnGpus = 4, kRequests = 20;
  Watch on_gpus(false), on_cpu(false);
  on_gpus.batches_on_gpus = kOnGpus;
  Limits chosen = limits(kInAll);
  chosen.max_batch = 1;
  chosen.more_on_gpus = true;
  const auto service = make_service(on_gpus, chosen);
  const std::size_t other = service->add(std::make_unique<AddKey>(on_cpu));
  const std::uint8_t byte = 1;
  mm_service_request of_other = request(byte);
  of_other.operation = static_cast<std::uint32_t>(other);
  for (std::size_t i = 0; i < kRequests; ++i) service->submit(single(byte), kNoRoom);
  on_gpus.door.await(kOnGpus);
  for (std::size_t i = 0; i < kRequests; ++i) {
    service->submit(std::make_shared<SingleRequest>(of_other, nullptr, nullptr, true), kNoRoom);
  }
  on_cpu.door.await(kInAll - kOnGpus);
  EXPECT_EQ(on_gpus.door.comers(), kOnGpus);
  EXPECT_EQ(on_cpu.door.comers(), kInAll - kOnGpus);
  EXPECT_EQ(service->statistics().running, kInAll);
  EXPECT_FALSE(service->run_here(single(byte)));
  on_gpus.door.open();
  on_cpu.door.open();
  EXPECT_TRUE(service->close(true));
  EXPECT_EQ(service->statistics().computed, 2 * kRequests);
}

TEST(ServiceBatches, ComputesSeveralBatchesAtTheSameTime) {
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

TEST(ServiceBatches, AFailedBatchAnswersItsRequestsWithTheFailure) {
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

TEST(ServiceBatches, AnArrayHasTheFirstFailureOfItsCalls) {
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

}  // namespace
}  // namespace manymod::testing
