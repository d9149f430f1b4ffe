// SPDX-License-Identifier: Apache-2.0
// A technique's shapes: one list both defines the kernels (kernel.cuh) and describes them to the host.
//
// src/modmul/<technique>/shapes.cuda.hpp defines MM_<TECHNIQUE>_SHAPES(SHAPE), a list of
//   SHAPE(threads per instance, digits per thread, threads per block, blocks per multiprocessor)
#pragma once

#include "arch/cuda/thread_group.cuda.hpp"

namespace manymod::gpu {

struct Shape {
  const char* kernel = "";  ///< its name in the device code
  unsigned threads = 1;     ///< per instance
  unsigned per_thread = 1;  ///< digits per thread, or another number that tells the technique's shapes apart
  unsigned block = 1;       ///< most threads of a block
  unsigned blocks = 1;      ///< resident on a multiprocessor
  // kWords, kRadixBits, kLaneWords and kSharedWords of the multiplier (multiplier.cuda.hpp).
  unsigned words = 0;
  unsigned radix_bits = 0;
  unsigned lane_words = 0;
  unsigned shared_words = 0;
  unsigned step = 32;               ///< the number of threads of a block is a multiple of it
  unsigned block_shared_bytes = 0;  ///< shared memory of a block, in addition to shared_words per thread
  unsigned kernel_slots = 0;        ///< table slots that the kernel uses for itself, see ProgramJob::slots
  /// In constant time, kernels select the table elements of that many digits together, and store them in as
  /// many slots after their own slots; 0 if they select each element when it is needed.
  unsigned selections = 0;
  /// See KernelId::source; the source takes the shape by macros.
  const char* source = "";
  bool takes_pieces = false;  ///< whether the kernel reads ProgramJob::pieces
  /// The cost of reading a table element in constant time, in multiplications, as measured; 0: as
  /// window_choice.hpp estimates it.
  double scan_cost = 0;

  /// Table slots that follow the program's slots; `scan`: in constant time.
  [[nodiscard]] constexpr unsigned more_slots(bool scan) const {
    return kernel_slots + (scan ? selections : 0);
  }
};

template <template <class, unsigned> class Multiplier, unsigned kThreads, unsigned kPerThread>
constexpr Shape make_shape(const char* kernel, unsigned block, unsigned blocks) {
  using M = Multiplier<cuda::ThreadGroup<kThreads>, kPerThread>;
  return {kernel,    kThreads,      kPerThread,    block,          blocks,
          M::kWords, M::kRadixBits, M::kLaneWords, M::kSharedWords};
}

}  // namespace manymod::gpu
