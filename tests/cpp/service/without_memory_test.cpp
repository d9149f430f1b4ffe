// SPDX-License-Identifier: Apache-2.0
// Answers and the end of a service when there is no memory. Sanitizers have allocators of their own.
#ifndef MANYMOD_SANITIZED
#include "service/without_memory.hpp"

#include <memory>
#include <optional>

#include "service/watched_service.hpp"

namespace manymod::testing {
namespace {

/// Fails, and leaves its thread without memory.
class Exhausting final : public service::Operation {
 public:
  [[nodiscard]] std::size_t output_bytes() const override { return 2; }
  [[nodiscard]] std::size_t batches_on_gpus() const override { return 0; }
  [[nodiscard]] mm_status run(BatchArrays&) const override {
    const mm_status status = fail(MM_ERR_DEVICE, "a message that is longer than a short string");
    guard_.emplace();
    return status;
  }

 private:
  mutable std::optional<WithoutMemory> guard_;
};

TEST(ServiceWithoutMemory, AnswersABatchThatFailed) {
  const auto service = std::make_shared<Service>(limits(1));
  ASSERT_EQ(service->add(std::make_unique<Exhausting>()), 0U);
  const auto request = single(1);
  service->submit(request, kNoRoom);
  ASSERT_TRUE(request->wait(static_cast<std::uint64_t>(kLong.count())));
  EXPECT_EQ(request->summary().status, MM_ERR_DEVICE);
  EXPECT_TRUE(service->close(false));
}

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
