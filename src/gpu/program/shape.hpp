// SPDX-License-Identifier: Apache-2.0
// A technique's shapes: the same list makes its kernels (kernel.cuh) and tells the host what there is.
//
// src/modmul/<technique>/shapes.cuda.hpp defines MM_<TECHNIQUE>_SHAPES(SHAPE), a list of
//   SHAPE(threads per instance, digits per thread, threads per block, blocks per multiprocessor)
#pragma once

#include "arch/cuda/thread_group.cuda.hpp"

namespace manymod::gpu {

struct Shape {
  const char* kernel = "";  ///< its name in the device code
  unsigned threads = 1;     ///< per instance
  unsigned per_thread = 1;  ///< digits of a thread
  unsigned block = 1;       ///< threads of a block
  unsigned blocks = 1;      ///< on a multiprocessor at a time
  unsigned words = 0;       ///< see multiplier.hpp: kWords, and so on
  unsigned radix_bits = 0;  ///< 0 where R is no power of two
  unsigned lane_words = 0;
  unsigned shared_words = 0;
  unsigned step = 32;               ///< blocks have a multiple of so many threads
  unsigned block_shared_bytes = 0;  ///< shared memory of a block, besides shared_words of each thread
  unsigned kernel_slots = 0;        ///< of the table: what a kernel keeps for itself, see ProgramJob::slots
  /// In class secret kernels find the table elements of so many digits at a time, and keep them in as many
  /// slots after their own; 0 where they search for each.
  unsigned selections = 0;

  /// Of the table: what follows a program's, in class secret (`scan`) or not.
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
