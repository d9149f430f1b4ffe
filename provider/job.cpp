// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace manymod::provider {
namespace {

/// A descriptor that becomes readable. The wait context and the requests under way share it: a server may
/// free a connection, and with it the wait context, while an answer is still to come.
class Event {
 public:
  Event() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Event() { close(descriptor_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void set() const { static_cast<void>(eventfd_write(descriptor_, 1)); }
  void clear() const {
    eventfd_t value = 0;
    static_cast<void>(eventfd_read(descriptor_, &value));
  }

 private:
  const int descriptor_;
};

/// The answer to one request, for its job.
class Pending {
 public:
  explicit Pending(std::shared_ptr<Event> event) : event_(std::move(event)) {}

  /// The event is set before the job can see that the answer is complete: set after the job has cleared it,
  /// it would resume the connection's next job again and again.
  void complete(Answer&& answer) {
    {
      const std::scoped_lock lock(mutex_);
      answer_ = std::move(answer);
      complete_ = true;
      event_->set();
    }
    completed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return complete_; });
  }
  /// Waits 1 ms at most. @return whether the answer is complete
  [[nodiscard]] bool wait_briefly() {
    std::unique_lock lock(mutex_);
    return completed_.wait_for(lock, std::chrono::milliseconds(1), [this] { return complete_; });
  }
  /// On input: it is complete.
  [[nodiscard]] Answer take() {
    event_->clear();
    return std::move(answer_);
  }

 private:
  const std::shared_ptr<Event> event_;
  std::mutex mutex_;
  std::condition_variable completed_;
  bool complete_ = false;
  Answer answer_;
};

/// The key under which wait contexts keep this provider's event.
constexpr char kEventKey = 0;

void release_event(ASYNC_WAIT_CTX*, const void*, OSSL_ASYNC_FD, void* event) {
  delete static_cast<std::shared_ptr<Event>*>(event);
}

std::shared_ptr<Event> event_of(ASYNC_WAIT_CTX* context) {
  OSSL_ASYNC_FD descriptor = -1;
  void* kept = nullptr;
  if (ASYNC_WAIT_CTX_get_fd(context, &kEventKey, &descriptor, &kept) != 0) {
    return *static_cast<std::shared_ptr<Event>*>(kept);
  }
  auto event = std::make_unique<std::shared_ptr<Event>>(std::make_shared<Event>());
  if (ASYNC_WAIT_CTX_set_wait_fd(context, &kEventKey, (*event)->descriptor(), event.get(), release_event) ==
      0) {
    throw std::bad_alloc();
  }
  return *event.release();
}

}  // namespace

void on_thread_of_its_own(const std::function<void()>& body) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

Answer compute_in_job(ASYNC_JOB* job, PrivateKey& key, const Request& request) {
  if (!key.is_prepared(request)) on_thread_of_its_own([&] { key.prepare(request); });
  const auto pending = std::make_shared<Pending>(event_of(ASYNC_get_wait_ctx(job)));
  key.submit(request, [pending](Answer&& answer) { pending->complete(std::move(answer)); });
  // If the job cannot be paused, this thread waits for the answer. A pause also returns early if the job was
  // resumed before its answer, and at once within ASYNC_block_pause(3), which cannot be told apart. Before
  // the next pause the thread then waits for 1 ms at most, because it may have other jobs to run.
  do {
    if (ASYNC_pause_job() == 0) pending->wait();
  } while (!pending->wait_briefly());
  return pending->take();
}

}  // namespace manymod::provider
