// SPDX-License-Identifier: Apache-2.0
// Threads that outlive calls: chunks of work handed out dynamically, one pool per process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "core/ticker.hpp"

namespace manymod {

/// More threads than this are never used by one call.
inline constexpr unsigned kMaxThreads = 1024;

class ThreadPool {
 public:
  /// One chunk of work; polls the token, which is the calling thread's or a worker's.
  using Body = std::function<void(std::size_t chunk, const StopToken& token)>;

  /// The pool of this process. A forked child, which inherits no threads, gets a pool of its own.
  static ThreadPool& of_this_process();

  /// Call body(0) .. body(chunks - 1), each once, on `threads` threads, the calling one among them (fewer if
  /// there are fewer chunks, the system refuses threads or other calls hold the workers: the pool has one
  /// thread less than the larger of the usable CPUs and the most that any one call could use). `tick` (may be
  /// empty) is called on the calling thread every kTickInterval: while that computes, by way of its token.
  /// Once `stop` is set, by a tick or by anyone else, no further chunk is begun. Several threads may call
  /// this at once.
  /// @throws what the first failing body threw, after all workers have left.
  void run(unsigned threads, std::size_t chunks, const Body& body, std::atomic<bool>& stop, const Tick& tick);

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  struct Run;

  ThreadPool() = default;
  ~ThreadPool() = default;

  std::size_t claim_new_workers_locked(std::size_t threads);
  void start_workers(std::size_t count);
  void worker_loop();
  void withdraw_locked(Run& run);
  void wait_for_workers(Run& run, const Tick& tick, std::unique_lock<std::mutex>& lock);

  long pid_ = 0;
  ThreadPool* inherited_ = nullptr;  ///< the parent process's pool, kept reachable but never touched
  std::mutex mutex_;
  std::condition_variable work_offered_;
  std::vector<Run*> offered_;   ///< runs with open slots, oldest first
  std::size_t open_slots_ = 0;  ///< of all offered runs together
  std::size_t workers_ = 0;     ///< started or about to be
  std::size_t widest_ = 1;      ///< threads that one run can use: CPUs at first, then the most asked for
  std::size_t busy_ = 0;
};

}  // namespace manymod
