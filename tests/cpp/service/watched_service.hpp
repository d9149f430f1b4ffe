// SPDX-License-Identifier: Apache-2.0
// A service whose only operation is controlled by a test, and requests to it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "abi/last_error.hpp"
#include "core/status_error.hpp"
#include "service/service.hpp"

namespace manymod::testing {

using service::BatchArrays;
using service::Limits;
using service::Service;
using service::SingleRequest;
using service::Submission;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

inline constexpr nanoseconds kNoRoom{0}, kLong = std::chrono::minutes(10);

/// A door that threads wait at while it is closed.
class Door {
 public:
  explicit Door(bool open) : open_(open) {}
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++comers_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  /// The threads that have come to it.
  std::size_t comers() {
    const std::scoped_lock lock(mutex_);
    return comers_;
  }
  /// Wait until so many threads have come to it.
  void await(std::size_t comers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return comers_ >= comers; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t comers_ = 0;
  bool open_;
};

/// What a test looks at of an operation that belongs to the service.
struct Watch {
  explicit Watch(bool open = true) : door(open) {}
  Door door;
  std::mutex mutex;
  std::vector<std::size_t> batches;  ///< their sizes
  std::thread::id thread;            ///< of the last one
  mm_status failure = MM_OK;
  std::size_t batches_on_gpus = 0;
  std::atomic<bool> is_released = false;  ///< the operation was destroyed
};

/// The result is the byte of the input plus the key; key 99 does not exist.
class AddKey final : public service::Operation {
 public:
  explicit AddKey(Watch& watch) : watch_(watch) {}
  AddKey(const AddKey&) = delete;
  AddKey& operator=(const AddKey&) = delete;
  ~AddKey() override { watch_.is_released = true; }
  [[nodiscard]] std::size_t output_bytes() const override { return 2; }
  [[nodiscard]] std::size_t batches_on_gpus() const override { return watch_.batches_on_gpus; }
  [[nodiscard]] mm_status run(BatchArrays& batch) const override {
    watch_.door.pass();
    const std::scoped_lock lock(watch_.mutex);
    watch_.batches.push_back(batch.count());
    watch_.thread = std::this_thread::get_id();
    if (watch_.failure != MM_OK) return fail(watch_.failure, "the device is gone");
    for (std::size_t i = 0; i < batch.count(); ++i) {
      const bool known = batch.keys[i] != 99;
      batch.statuses[i] = static_cast<std::uint8_t>(known ? MM_OK : MM_ITEM_RSA_KEY);
      batch.sizes[i] = known ? 1 : 0;
      batch.result().data[2 * i] = static_cast<std::uint8_t>(batch.inputs[i].data[0] + batch.keys[i]);
    }
    return MM_OK;
  }

 private:
  Watch& watch_;
};

inline Limits limits(std::size_t concurrent = 2, std::size_t max_queue = 100'000) {
  return {milliseconds(1), 1000, max_queue, concurrent, false};
}

/// A service that ends with its scope, before what its operation watches.
class OpenService {
 public:
  OpenService(Watch& watch, const Limits& chosen)
      : watch_(watch), service_(std::make_shared<Service>(chosen)) {
    EXPECT_EQ(service_->add(std::make_unique<AddKey>(watch)), 0U);
  }
  OpenService(const OpenService&) = delete;
  OpenService& operator=(const OpenService&) = delete;
  ~OpenService() {
    watch_.door.open();
    service_->close(false);
  }
  Service* operator->() const { return service_.get(); }

 private:
  Watch& watch_;
  std::shared_ptr<Service> service_;
};

inline OpenService make_service(Watch& watch, const Limits& chosen = limits()) { return {watch, chosen}; }

inline mm_service_request request(const std::uint8_t& byte, std::uint32_t key = 1) {
  mm_service_request made{};
  made.struct_size = sizeof made;
  made.key = key;
  made.input = {&byte, 1};
  return made;
}

inline std::shared_ptr<SingleRequest> single(std::uint8_t byte, std::uint32_t key = 1,
                                             std::uint64_t timeout_ns = 0) {
  mm_service_request made = request(byte, key);
  made.timeout_ns = timeout_ns;
  return std::make_shared<SingleRequest>(made, nullptr, nullptr, true);
}

/// Submits a request, and waits until it is being computed, which `watch` holds up.
inline void submit_and_begin(const OpenService& service, Watch& watch,
                             const std::shared_ptr<Submission>& request) {
  service->submit(request, kNoRoom);
  watch.door.await(1);
}

template <class Submit>
mm_status status_of(const Submit& submit) {
  try {
    submit();
    return MM_OK;
  } catch (const StatusError& error) {
    return error.status();
  }
}

inline void expect_sum(Submission& submission, int sum) {
  ASSERT_TRUE(submission.wait(UINT64_MAX));
  const mm_answer answer = submission.summary();
  EXPECT_EQ(answer.status, MM_OK);
  ASSERT_EQ(answer.output.size, 1U);
  EXPECT_EQ(answer.output.data[0], sum);
}

/// Calls a function with the answer.
struct Callback {
  std::function<void(const mm_answer&)> function;
  static void call(const mm_answer* answer, void* user) { static_cast<Callback*>(user)->function(*answer); }
};

}  // namespace manymod::testing
