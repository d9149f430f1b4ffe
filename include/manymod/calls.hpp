// SPDX-License-Identifier: Apache-2.0
/**
 * @file calls.hpp
 * @brief What calls by manymod.hpp, rsa.hpp and ecc.hpp share: exceptions, where they compute, progress
 * callbacks, asynchronous calls. Those headers include this one.
 */
#ifndef MANYMOD_CALLS_HPP
#define MANYMOD_CALLS_HPP

#if __cplusplus < 202002L
#error "manymod's headers *.hpp are C++20: compile with -std=c++20 (the CMake target manymod::manymod does)"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manymod/manymod.h"

// The inline namespace gives these names other symbols than the library's own, for programs that link it
// statically.
namespace manymod {
inline namespace wrapper {

/// A failed call: its status, and the text of mm_last_error() as what().
class Error : public std::runtime_error {
 public:
  /// what() is the status' name and `message`.
  Error(mm_status status, const std::string& message)
      : std::runtime_error(std::string(mm_status_name(status)) + ": " + message), status_(status) {}
  /// MM_ERR_* of the call.
  [[nodiscard]] mm_status status() const noexcept { return status_; }

 private:
  mm_status status_;
};

/// Throw Error unless `status` is MM_OK.
inline void check(mm_status status) {
  if (status != MM_OK) throw Error(status, mm_last_error());
}

namespace detail {

/// Throw Error with MM_ERR_ARGUMENT unless `right`.
inline void require(bool right, const char* message) {
  if (!right) throw Error(MM_ERR_ARGUMENT, message);
}

/// count * size, the length of an array of `count` items of `size` elements of `bytes` bytes each.
/// @throws Error with MM_ERR_ARGUMENT if no array can be so large
inline std::size_t length_of(std::size_t count, std::size_t size, std::size_t bytes) {
  require(size == 0 || count <= PTRDIFF_MAX / bytes / size, "manymod: larger than any array can be");
  return count * size;
}

}  // namespace detail

/// Device, variant and threads as in mm_plan_options; an empty string is NULL there.
struct Placement {
  std::string device;
  std::string variant;
  unsigned threads = 0;
};

/// Progress callback as mm_progress_fn, but it returns false to stop the call. An exception that it throws
/// stops the call and is rethrown by it.
using Progress = std::function<bool(std::size_t done, std::size_t total)>;

namespace detail {

/// Runs a Progress behind the C ABI and keeps the exception that it throws.
struct ProgressGuard {
  const Progress* progress;
  std::exception_ptr error;

  static int call(std::size_t done, std::size_t total, void* user) {
    auto* self = static_cast<ProgressGuard*>(user);
    try {
      return (*self->progress)(done, total) ? 0 : 1;
    } catch (...) {
      self->error = std::current_exception();
      return 1;
    }
  }
};

/// Hand out the item statuses of a function that returned `status`.
/// @throws Error unless `status` is MM_OK, or MM_ERR_ITEMS with `statuses`
inline void hand_out(mm_status status, const std::vector<std::uint8_t>& item_status,
                     std::vector<mm_status>* statuses) {
  if (status != MM_ERR_ITEMS || statuses == nullptr) check(status);
  if (statuses == nullptr) return;
  statuses->resize(item_status.size());
  std::transform(item_status.begin(), item_status.end(), statuses->begin(),
                 [](std::uint8_t byte) { return static_cast<mm_status>(byte); });
}

/// What every call of the C ABI has besides operands and results: item statuses, and a progress callback
/// whose exception is kept. It cannot be moved, as the call points into it.
class CallOutcome {
 public:
  CallOutcome(std::size_t count, Progress progress)
      : item_status_(count), progress_(std::move(progress)), guard_{&progress_, nullptr} {}
  CallOutcome(const CallOutcome&) = delete;
  CallOutcome& operator=(const CallOutcome&) = delete;

  /// Let the call, an mm_call or the like, report here.
  template <class Call>
  void connect(Call& call) noexcept {
    call.item_status = item_status_.data();
    if (!progress_) return;
    call.progress = &ProgressGuard::call;
    call.progress_user = &guard_;
  }

  /// Hand out the item statuses of the call, which returned `status`. Those of a call that was cancelled are
  /// lost with its results, which the C ABI alone keeps.
  /// @throws the exception of the progress callback; Error unless `status` is MM_OK, or MM_ERR_ITEMS with
  /// `statuses`
  void finish(mm_status status, std::vector<mm_status>* statuses) const {
    if (guard_.error) std::rethrow_exception(guard_.error);
    hand_out(status, item_status_, statuses);
  }

 private:
  std::vector<std::uint8_t> item_status_;
  Progress progress_;
  ProgressGuard guard_;
};

inline const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

/// An asynchronous call. `Owned` has the call, the arrays that it reads and writes, and what becomes of them:
/// get() and finish(status, statuses).
template <class Owned>
class BasicJob {
 public:
  /// Submit the call by submit(call, mm_done_fn, void* user, mm_job**).
  template <class Submit>
  BasicJob(Submit&& submit, std::shared_ptr<Owned> call) : state_(std::make_unique<State>(std::move(call))) {
    auto hold = std::make_unique<Hold>(state_->call);
    check(submit(state_->call->get(), &release, hold.get(), &state_->job));
    [[maybe_unused]] const Hold* const owned_by_the_job = hold.release();
  }

  /// Wait for the results; they can be taken once.
  /// @throws as the call itself would; Error with MM_ERR_ARGUMENT if they were taken before, and in a
  /// callback of a job while this one runs, after which wait() may be called again
  auto wait(std::vector<mm_status>* statuses = nullptr) {
    require(state_ != nullptr, "manymod::Job: no call to wait for");
    const mm_status waited = mm_job_wait(state_->job);
    if (mm_job_ended(state_->job) == 0) check(waited);
    // In a callback the job may have ended after the wait was refused: its outcome is asked for once more.
    const mm_status status = mm_job_wait(state_->job);
    const std::unique_ptr<State> state = std::move(state_);
    return state->call->finish(status, statuses);
  }
  /// Whether wait() would return without waiting.
  [[nodiscard]] bool ended() const noexcept { return !state_ || mm_job_ended(state_->job) != 0; }
  /// Ask it to stop; wait() then throws Error with MM_ERR_CANCELLED unless the call completes first.
  void cancel() noexcept {
    if (state_) mm_job_cancel(state_->job);
  }

 private:
  struct State {
    explicit State(std::shared_ptr<Owned> owned) : call(std::move(owned)) {}
    ~State() {
      mm_job_cancel(job);
      mm_job_destroy(job);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::shared_ptr<Owned> call;
    mm_job* job = nullptr;
  };

  // Owned by the job while it runs, so that the arrays it writes live until `done` has been called.
  using Hold = std::shared_ptr<Owned>;
  static void release(mm_status, void* hold) { delete static_cast<Hold*>(hold); }

  std::unique_ptr<State> state_;
};

}  // namespace detail
}  // namespace wrapper
}  // namespace manymod
#endif
