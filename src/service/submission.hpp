// SPDX-License-Identifier: Apache-2.0
// What is submitted to a service at once: a request, or an array of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "abi/items.hpp"
#include "abi/written_ranges.hpp"
#include "manymod/service.h"
#include "repr/wipe.hpp"
#include "service/operation.hpp"
#include "service/pace.hpp"

namespace manymod::service {

/// A time of the C ABI, clamped so that adding it to a time point cannot overflow.
constexpr std::chrono::nanoseconds bounded(std::uint64_t ns) {
  constexpr std::uint64_t kForever = std::uint64_t{1} << 61;
  return std::chrono::nanoseconds(ns < kForever ? ns : kForever);
}

/// The operands of one request.
struct Operands {
  std::uint32_t key;
  mm_bytes input, signature;
};

/// `count` requests of one operation. Each is answered once, by the thread that computes it or withdraws it;
/// when all are answered, the submission ends.
class Submission {
 public:
  /// `timeout_ns`: after acceptance; 0: none
  Submission(std::size_t operation, std::size_t count, std::uint64_t timeout_ns)
      : operation_(operation), count_(count), timeout_(bounded(timeout_ns)), unanswered_(count) {}
  virtual ~Submission() = default;
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  [[nodiscard]] std::size_t operation() const { return operation_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::chrono::nanoseconds timeout() const { return timeout_; }

  /// @throws StatusError MM_ERR_ARGUMENT if the operation does not take such requests
  virtual void require_suited(const Operation&) const {}
  [[nodiscard]] virtual Operands operands(std::size_t request) const = 0;
  /// Several threads may answer different requests at a time. What `answer` points to is copied.
  virtual void answer(std::size_t request, const mm_answer& answer) noexcept = 0;
  /// Note that `requests` more of them are answered, and end the submission with the last.
  void answered(std::size_t requests) noexcept;

  /// Wait for the end. @return false if that takes longer.
  [[nodiscard]] bool wait(std::uint64_t timeout_ns);
  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// What mm_ticket_answer gives. On input: ended().
  [[nodiscard]] virtual mm_answer summary() const = 0;

  // The following belong to the service and are guarded by its lock.
  Clock::time_point accepted{};  ///< unchanged from then on: read without the lock as well
  std::size_t begun = 0;         ///< requests from here on wait

  [[nodiscard]] std::size_t waiting() const { return count_ - begun; }
  [[nodiscard]] bool has_expired(Clock::time_point now) const {
    return timeout_.count() != 0 && now - accepted >= timeout_;
  }

 protected:
  /// Call the callback, if there is one.
  virtual void notify() noexcept = 0;

 private:
  const std::size_t operation_, count_;
  const std::chrono::nanoseconds timeout_;
  std::atomic<std::size_t> unanswered_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::condition_variable end_;
};

/// One request, with copies of its operands.
class SingleRequest final : public Submission {
 public:
  /// `keep`: whether the answer is read by summary().
  /// @throws StatusError MM_ERR_NULL
  SingleRequest(const mm_service_request& request, mm_answer_fn done, void* user, bool keep);
  ~SingleRequest() override;

  void require_suited(const Operation& operation) const override;
  [[nodiscard]] Operands operands(std::size_t request) const override;
  void answer(std::size_t request, const mm_answer& answer) noexcept override;
  [[nodiscard]] mm_answer summary() const override;

 private:
  void notify() noexcept override {}

  const std::uint32_t key_;
  const std::size_t input_size_, signature_size_;
  const mm_answer_fn done_;
  void* const user_;
  const bool keep_;
  std::vector<std::uint8_t> operands_;  ///< input, then signature
  mm_answer answer_{};                  ///< without the arrays it points to
  std::vector<std::uint8_t> output_;
  std::string message_;
};

/// Requests in the caller's arrays.
class RequestArray final : public Submission {
 public:
  /// `row_bytes`: of the longest result; 0 for verifications.
  /// @throws StatusError MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP
  RequestArray(const mm_service_requests& requests, std::size_t row_bytes, mm_done_fn done, void* user);

  [[nodiscard]] Operands operands(std::size_t request) const override;
  void answer(std::size_t request, const mm_answer& answer) noexcept override;
  [[nodiscard]] mm_answer summary() const override;

 private:
  void notify() noexcept override;
  void check_output(std::size_t row_bytes, WrittenRanges& written) const;
  void keep_failure(const mm_answer& answer) noexcept;

  const mm_service_requests arrays_;
  const std::size_t row_bytes_;
  const mm_done_fn done_;
  void* const user_;
  const std::vector<std::uint32_t> keys_;  ///< empty: key 0 for all
  const ItemsIn input_;
  std::optional<ItemsIn> signature_;
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  mm_status failure_ = MM_OK;  ///< of the first call that failed
  std::string failure_message_;
};

/// Whether the status of a request counts as a failure: not for signatures that are not valid.
[[nodiscard]] bool is_failure(const mm_answer& answer);

}  // namespace manymod::service
