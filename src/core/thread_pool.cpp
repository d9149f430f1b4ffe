// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include "core/cpu_features.hpp"
#include "core/library_thread.hpp"

namespace manymod {

// The work of one call. It lives on the caller's stack; all members but the atomics are guarded by the pool's
// mutex.
struct ThreadPool::Run {
  const Body* body;
  std::size_t chunks;
  std::atomic<bool>* stop;
  std::size_t open_slots;
  std::atomic<std::size_t> next{0};
  std::size_t active = 0;
  std::exception_ptr error;
  std::condition_variable finished;

  Run(const Body& body_in, std::size_t chunks_in, std::atomic<bool>& stop_in, std::size_t slots)
      : body(&body_in), chunks(chunks_in), stop(&stop_in), open_slots(slots) {}

  // Claim the next chunk. @return false if none is left or a stop was requested.
  bool take(std::size_t& chunk) {
    if (stop->load(std::memory_order_relaxed)) return false;
    chunk = next.fetch_add(1, std::memory_order_relaxed);
    return chunk < chunks;
  }

  [[nodiscard]] bool done() const { return open_slots == 0 && active == 0; }

  // Compute chunks until none is left. @return the exception of a chunk that failed, which stops the run.
  std::exception_ptr work(Ticker* ticker) {
    const StopToken token(stop, ticker);
    try {
      for (std::size_t chunk = 0; take(chunk);) {
        (*body)(chunk, token);
        if (ticker != nullptr) ticker->poll_clock();
      }
    } catch (...) {
      stop->store(true, std::memory_order_relaxed);
      return std::current_exception();
    }
    return nullptr;
  }
};

// The pool is never destroyed: its threads may still wait in it while the process exits, and a child can
// neither use nor destroy a mutex that another thread held at the fork.
ThreadPool& ThreadPool::of_this_process() {
  static std::atomic<ThreadPool*> current{nullptr};
  const long pid = process_id();
  ThreadPool* pool = current.load(std::memory_order_acquire);
  while (pool == nullptr || pool->pid_ != pid) {
    auto* fresh = new ThreadPool();
    fresh->pid_ = pid;
    fresh->most_threads_ = std::min(usable_cpu_count(), kMaxThreads);
    fresh->inherited_ = pool;
    if (current.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
  }
  return *pool;
}

// The number of workers that the caller must start for a run of `threads` threads; workers_ counts them
// already. A run without workers is computed by its caller, so their number need not grow with the number of
// concurrent runs.
std::size_t ThreadPool::claim_new_workers_locked(std::size_t threads) {
  most_threads_ = std::max(most_threads_, threads);
  const std::size_t idle = workers_ - busy_;
  if (idle >= open_slots_) return 0;
  const std::size_t claimed = std::min(open_slots_ - idle, most_threads_ - 1 - workers_);
  workers_ += claimed;
  return claimed;
}

// Called without the lock, as starting a thread may take longer than a short run.
void ThreadPool::start_workers(std::size_t count) {
  if (count == 0) return;
  try {
    for (; count > 0; --count) start_library_thread([this] { worker_loop(); });
  } catch (...) {  // the system cannot start more threads: the existing ones do the work
    const std::lock_guard lock(mutex_);
    workers_ -= count;
  }
}

// Offer `run` to no further workers.
void ThreadPool::withdraw_locked(Run& run) {
  open_slots_ -= run.open_slots;
  run.open_slots = 0;
  std::erase(offered_, &run);
}

void ThreadPool::worker_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_offered_.wait(lock, [this] { return !offered_.empty(); });
    Run& run = *offered_.front();
    --open_slots_;
    if (--run.open_slots == 0) offered_.erase(offered_.begin());
    ++run.active;
    ++busy_;
    lock.unlock();
    std::exception_ptr error = run.work(nullptr);
    lock.lock();
    --busy_;
    if (error && !run.error) run.error = std::move(error);
    withdraw_locked(run);  // it has no chunks left for further workers
    --run.active;
    // Under the lock, as the run is destroyed with its caller's frame once the caller sees it done.
    if (run.done()) run.finished.notify_one();
  }
}

// Wait until no worker uses `run`; the caller's ticks continue meanwhile.
void ThreadPool::wait_for_workers(Run& run, const Tick& tick, std::unique_lock<std::mutex>& lock) {
  const auto done = [&run] { return run.done(); };
  if (!tick) {
    run.finished.wait(lock, done);
    return;
  }
  while (!run.finished.wait_for(lock, kTickInterval, done)) {
    if (run.stop->load(std::memory_order_relaxed)) continue;
    lock.unlock();
    if (tick()) run.stop->store(true, std::memory_order_relaxed);
    lock.lock();
  }
}

void ThreadPool::run(unsigned threads, std::size_t chunks, const Body& body, std::atomic<bool>& stop,
                     const Tick& tick) {
  const auto wanted = std::min<std::size_t>({threads, kMaxThreads, chunks});
  if (wanted == 0) return;
  Run run(body, chunks, stop, wanted - 1);
  std::unique_lock lock(mutex_, std::defer_lock);
  if (run.open_slots > 0) {
    lock.lock();
    offered_.push_back(&run);
    open_slots_ += run.open_slots;
    const std::size_t fresh = claim_new_workers_locked(wanted);
    const std::size_t sleeping = std::min(wanted - 1, workers_ - busy_ - fresh);
    lock.unlock();
    for (std::size_t slot = 0; slot < sleeping; ++slot) work_offered_.notify_one();
    start_workers(fresh);
  }
  Ticker ticker(tick, stop);
  std::exception_ptr error = run.work(tick ? &ticker : nullptr);
  lock.lock();
  if (run.open_slots > 0) withdraw_locked(run);  // late workers would find no chunks
  if (error && !run.error) run.error = std::move(error);
  wait_for_workers(run, tick, lock);
  lock.unlock();
  if (run.error) std::rethrow_exception(run.error);
}

}  // namespace manymod
