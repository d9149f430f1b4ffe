// SPDX-License-Identifier: Apache-2.0
// The thread pool of the process, which hands out the chunks of calls dynamically.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "core/ticker.hpp"

namespace manymod {

/// Largest number of threads that one call uses.
inline constexpr unsigned kMaxThreads = 1024;

/// Worker threads that all calls share. Thread-safe.
class ThreadPool {
 public:
  /// Computes one chunk and polls the token, which belongs to the thread that runs it.
  using Body = std::function<void(std::size_t chunk, const StopToken& token)>;

  /// The pool of this process. A forked child inherits no threads and gets a new pool.
  static ThreadPool& of_this_process();

  /// Call body(0) .. body(chunks - 1) once each on `threads` threads, one of them the calling thread. Fewer
  /// threads are used if there are fewer chunks, if the system cannot start threads or if other calls occupy
  /// the workers: the pool has max(usable CPUs, largest thread count of any call so far) - 1 workers.
  ///
  /// `tick`, which may be empty, is called on the calling thread every kTickInterval; while that thread
  /// computes, its token calls it. Once `stop` is set, by a tick or by another thread, no further chunk
  /// begins. Thread-safe.
  /// @throws the exception of the first body that failed, after all workers have left the run
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
  ThreadPool* inherited_ = nullptr;  ///< the pool of the parent process, kept reachable, never used
  std::mutex mutex_;
  std::condition_variable work_offered_;
  std::vector<Run*> offered_;     ///< runs with open slots, oldest first
  std::size_t open_slots_ = 0;    ///< sum of the open slots of all offered runs
  std::size_t workers_ = 0;       ///< workers that are started or about to be
  std::size_t most_threads_ = 1;  ///< usable CPUs, or the largest thread count of a run if that is larger
  std::size_t busy_ = 0;          ///< workers that compute
};

}  // namespace manymod
