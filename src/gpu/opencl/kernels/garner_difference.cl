// SPDX-License-Identifier: Apache-2.0
// The kernel mm_garner_difference (gpu/kernels/garner_job.hpp), one work-item for each item. Timing: constant;
// depends on sizes only.
#include "gpu/opencl/kernels/job.clh"

static void mm_difference(__global uint* result, __local uint* memory, uint stride, uint words, const mm_source a,
                          const mm_source b, const mm_source p) {
  uint borrow = 0;
#pragma unroll 1
  for (uint j = 0; j < words; ++j) {
    const ulong difference = (ulong)mm_word(a, j) - mm_word(b, j) - borrow;
    memory[j * stride] = (uint)difference;
    borrow = (uint)(difference >> 63);
  }
  const uint mask = 0 - borrow;
  ulong sum = 0;
#pragma unroll 1
  for (uint j = 0; j < words; ++j) {
    sum += (ulong)memory[j * stride] + (mm_word(p, j) & mask);
    result[j] = (uint)sum;
    sum >>= 32;
  }
}

__kernel void MM_KERNEL(MM_PARAMETERS(mm_garner_difference_job)) {
  const uint item = (uint)get_global_id(0), words = job->words;
  if (item >= job->count) return;
  mm_difference(MM_AT(uint, job->result) + (ulong)item * words, local_words + get_local_id(0),
                (uint)get_local_size(0), words, MM_NUMBER(job->a, item), MM_NUMBER(job->b, item),
                MM_NUMBER(job->p, item));
}
