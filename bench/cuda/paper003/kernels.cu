// SPDX-License-Identifier: Apache-2.0
// Operations on points by one thread for each, for the paper's widths, places of operands and radices, and by
// row32 and dpf52.
#include "forms.hpp"

namespace manymod::bench::paper003 {
namespace {

extern __shared__ std::uint32_t shared_words[];

template <class Technique, ecc::giorgi::Operation kOperation, unsigned kWords>
__device__ __forceinline__ void compute(const ecc::giorgi::PointJob& job) {
  const std::uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= job.count) return;
  const ecc::giorgi::BlockMemory memory{shared_words, threadIdx.x, blockDim.x};
  ecc::giorgi::Item<ecc::giorgi::Numbers<Technique, kWords>>(job, item, memory).template run<kOperation>();
}

}  // namespace
}  // namespace manymod::bench::paper003

#define KERNEL(form, words, operation)                                                                      \
  extern "C" __global__ void __launch_bounds__(                                                             \
      manymod::bench::paper003::kBlock<manymod::bench::paper003::form>,                                     \
      manymod::bench::paper003::kBlocks<manymod::bench::paper003::form, words>)                             \
      paper003_##form##_##operation##_##words(const __grid_constant__ manymod::ecc::giorgi::PointJob job) { \
    manymod::bench::paper003::compute<manymod::bench::paper003::form,                                       \
                                      manymod::ecc::giorgi::Operation::operation, words>(job);              \
  }
#define FORM(form, words) MM_PAPER003_OPERATIONS(KERNEL, form, words)
MM_PAPER003_FORMS(FORM)
