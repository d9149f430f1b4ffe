// SPDX-License-Identifier: Apache-2.0
// Kernels of the fake driver: device code compiled for the host and called like a launch. Each is registered
// under its name in the library's device code; install_kernels adds those of the library.
//
// To add a kernel in which each thread computes one item, put the work of a thread into a function that host
// and device share (MM_DEVICE; gpu/kernels/residue_item.cuda.hpp is the model) and call add_item_kernel in
// kernels.cpp. Any other kernel without exchanges between threads goes through add_thread_kernel.
//
// Each block gets as much shared memory as the launch requests. All memory is that of the process, so that
// AddressSanitizer finds accesses out of bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "repr/word_memory.hpp"
#include "support/fake_cuda/control.hpp"

namespace fake_cuda {

/// The library's kernels: mm_residue and others with an item a thread, and the programs' kernels of all
/// shapes of row32 and dpf52. Lanes of a group are fibers; a product by several threads takes about 10 us per
/// lane.
FAKE_CUDA_API void install_kernels();

/// The dynamic shared memory of a block.
class SharedMemory {
 public:
  explicit SharedMemory(const Launch& launch)
      // One word even where a kernel has none: its address is not null.
      : words_(std::max(std::size_t{1}, launch.shared_bytes / sizeof(std::uint32_t))),
        threads_(launch.block) {
    forget();
  }

  /// Overwrites the memory, as a new block must not rely on its contents.
  void forget() {
    for (std::uint32_t& word : words_) word = 0xa5a5a5a5u;
  }
  /// The words thread, thread + blockDim, thread + 2 blockDim, ..
  [[nodiscard]] manymod::LaneMemory of(unsigned thread) { return {words_.data() + thread, threads_}; }

 private:
  std::vector<std::uint32_t> words_;
  unsigned threads_;
};

/// One thread of a launch.
struct Thread {
  std::uint32_t index = 0;     ///< blockIdx.x blockDim.x + threadIdx.x
  std::uint32_t count = 0;     ///< of the launch
  manymod::LaneMemory memory;  ///< its column of the block's dynamic shared memory
};

template <class Job>
const Job& argument(void** parameters) {
  return *static_cast<const Job*>(parameters[0]);
}

template <class Call>
void for_each_thread(const Launch& launch, Call&& call) {
  SharedMemory shared(launch);
  for (unsigned block = 0; block < launch.grid; ++block) {
    shared.forget();
    for (unsigned i = 0; i < launch.block; ++i) {
      call(Thread{block * launch.block + i, launch.grid * launch.block, shared.of(i)});
    }
  }
}

/// A kernel with one argument, whose threads do not wait for each other.
template <class Job>
void add_thread_kernel(const char* name, void (*function)(const Job& job, const Thread& thread)) {
  add_kernel(name, [function](const Launch& launch, void** parameters) {
    for_each_thread(launch, [&](const Thread& thread) { function(argument<Job>(parameters), thread); });
  });
}

/// A kernel whose thread i computes item i, if i < job.count: `function(job, item, memory)` or `function(job,
/// item)`.
template <class Job, class... Memory>
void add_item_kernel(const char* name,
                     void (*function)(const Job& job, std::uint32_t item, Memory... memory)) {
  static_assert(sizeof...(Memory) <= 1);
  add_kernel(name, [function](const Launch& launch, void** parameters) {
    for_each_thread(launch, [&](const Thread& thread) {
      const Job& job = argument<Job>(parameters);
      if (thread.index < job.count) function(job, thread.index, Memory(thread.memory)...);
    });
  });
}

}  // namespace fake_cuda
