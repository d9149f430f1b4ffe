// SPDX-License-Identifier: Apache-2.0
// The executor: runs a workload of independent items, on the calling thread where it is short, else on the
// library's threads with progress and a way to stop. Batches of powers and products (batch.hpp), RSA's steps
// on rows and the sorting of large batches are its clients.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/ticker.hpp"
#include "exec/chunking.hpp"
#include "exec/progress.hpp"

namespace manymod {

/// The number of CPU threads of calls that do not specify one: the number given to set_default_threads(),
/// else the number of CPUs that this process may use.
unsigned default_threads();
/// Set it, at most kMaxThreads; 0 restores the default. @return the new number
unsigned set_default_threads(unsigned threads);

/// How a workload is run.
struct Schedule {
  bool on_pool = false;  ///< else on the calling thread, unobserved and without a way to stop
  unsigned threads = 1;  ///< the calling one included
};

/// The schedule for work of `cost_ns`. `threads`: as requested, 0 for default_threads(). Each of the `gpus`
/// GPUs that compute it gets several threads: while one chunk is computed, the next is uploaded and the
/// results of the previous one are stored.
Schedule schedule_for(double cost_ns, unsigned threads, unsigned gpus, bool observed);

/// @return whether to stop. Called about ten times a second on the calling thread, with the number of items
/// done so far; a request to stop comes too late when all are done. Empty: the call has no progress callback.
using StopQuery = std::function<bool(std::size_t done)>;
/// Computes the items of one chunk; called from several threads at a time. May return early once a stop is
/// requested.
using ChunkBody = std::function<void(const Chunk& chunk, const StopToken& stop)>;

/// Cut the workload into chunks and run them on the thread pool.
/// @return false if `wants_stop` requested a stop; no chunk begins after that
/// @throws the exception of the first failing chunk, after all threads have left the run
bool execute_on_pool(std::span<const WorkPart> parts, unsigned threads, const StopQuery& wants_stop,
                     const ChunkBody& body);

/// Run body(chunk, stop) for chunks that together contain each item of each part exactly once.
/// @return false if `wants_stop` requested a stop
/// @throws the exception of a chunk
template <class Body>
bool execute(std::span<const WorkPart> parts, const Schedule& schedule, const StopQuery& wants_stop,
             const Body& body) {
  if (schedule.on_pool) return execute_on_pool(parts, schedule.threads, wants_stop, std::cref(body));
  for (std::size_t part = 0; part < parts.size(); ++part) {
    body(Chunk{part, 0, parts[part].items}, StopToken());
  }
  return true;
}

/// Run visit(begin, end, stop) for ranges that together contain each item of `part` exactly once.
/// @return false if the caller requested a stop
template <class Visit>
bool execute_ranges(const WorkPart& part, const Schedule& schedule, const ProgressPart& progress,
                    const Visit& visit) {
  StopQuery wants_stop;
  if (progress.observed()) {
    wants_stop = [&progress, &part](std::size_t done) {
      return progress.wants_stop(static_cast<double>(done) / static_cast<double>(part.items));
    };
  }
  return execute(std::span(&part, 1), schedule, wants_stop,
                 [&](const Chunk& chunk, const StopToken& stop) { visit(chunk.begin, chunk.end, stop); });
}

/// The same for `count` items that cost about `item_ns` each, on up to `threads` threads (0:
/// default_threads()).
template <class Visit>
bool execute_ranges(std::size_t count, double item_ns, unsigned threads, const ProgressPart& progress,
                    const Visit& visit) {
  const WorkPart part = uniform_part(count, item_ns);
  return execute_ranges(part, schedule_for(part.total_ns, threads, 0, progress.observed()), progress, visit);
}

}  // namespace manymod
