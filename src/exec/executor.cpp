// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/thread_pool.hpp"

namespace manymod {
namespace {

// Below this, waking threads (some 50 us until they all run) costs more than it gains.
constexpr double kWorthThreadsNs = 150e3;
// Shorter calls need neither progress nor a way to stop.
constexpr double kWorthProgressNs = 20e6;
// One chunk is computed while the operands of the next are uploaded and the results of the previous are
// stored.
constexpr unsigned kThreadsPerGpu = 3;

std::atomic<unsigned> threads_setting{0};

}  // namespace

unsigned default_threads() {
  const unsigned setting = threads_setting.load(std::memory_order_relaxed);
  return setting != 0 ? setting : std::min(usable_cpu_count(), kMaxThreads);
}

unsigned set_default_threads(unsigned threads) {
  threads_setting.store(std::min(threads, kMaxThreads), std::memory_order_relaxed);
  return default_threads();
}

Schedule schedule_for(double cost_ns, unsigned threads, unsigned gpus, bool observed) {
  if (cost_ns < kWorthThreadsNs) return {false, 1};
  if (threads == 0) threads = default_threads();
  threads = std::max(threads, std::min(kThreadsPerGpu * gpus, kMaxThreads));
  const bool worth_observing = observed && cost_ns >= kWorthProgressNs;
  return {threads > 1 || worth_observing, threads};
}

bool execute_on_pool(std::span<const WorkPart> parts, unsigned threads, const StopQuery& wants_stop,
                     const ChunkBody& body) {
  const std::vector<Chunk> chunks = cut_chunks(parts, threads);
  std::atomic<bool> stop{false};
  const std::size_t items = std::transform_reduce(parts.begin(), parts.end(), std::size_t{0}, std::plus(),
                                                  [](const WorkPart& part) { return part.items; });
  std::atomic<std::size_t> done{0};
  bool stopped = false;
  Tick tick;
  if (wants_stop) {
    tick = [&] {
      const std::size_t now = done.load(std::memory_order_relaxed);
      stopped = wants_stop(now) && now < items;  // there is nothing left to stop
      return stopped;
    };
  }
  const ThreadPool::Body run_chunk = [&](std::size_t index, const StopToken& token) {
    body(chunks[index], token);
    done.fetch_add(chunks[index].size(), std::memory_order_relaxed);
  };
  ThreadPool::of_this_process().run(threads, chunks.size(), run_chunk, stop, tick);
  return !stopped;
}

}  // namespace manymod
