// SPDX-License-Identifier: Apache-2.0
// The kernel mm_garner_sum (gpu/kernels/garner_job.hpp), one work-item for each item. Timing: constant;
// depends on sizes only.
#include "gpu/opencl/kernels/job.clh"

// b + q h, column by column. `low` and `high` are sums of at most `words` halves of products, of one word and of
// the carry from the previous column: with words < 2^16 they stay below 2^49.
static void mm_sum(__global uint* result, uint result_words, __local uint* memory, uint stride, uint words,
                   const mm_source b, const mm_source q, const mm_source h) {
#pragma unroll 1
  for (uint j = 0; j < words; ++j) {
    memory[j * stride] = mm_word(q, j);
    memory[(words + j) * stride] = mm_word(h, j);
  }
  ulong low = 0;
#pragma unroll 1
  for (uint column = 0; column < result_words; ++column) {
    const uint first = column < words ? 0 : column - words + 1, last = min(column, words - 1);
    ulong high = 0;
    low += mm_word(b, column);
#pragma unroll 1
    for (uint j = first; j <= last; ++j) {
      const ulong product = (ulong)memory[j * stride] * memory[(words + column - j) * stride];
      low += (uint)product;
      high += product >> 32;
    }
    result[column] = (uint)low;
    low = (low >> 32) + high;
  }
}

__kernel void MM_KERNEL(MM_PARAMETERS(mm_garner_sum_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  mm_sum(MM_AT(uint, job->result) + (ulong)item * job->result_words, job->result_words,
         local_words + get_local_id(0), (uint)get_local_size(0), job->words, MM_NUMBER(job->b, item),
         MM_NUMBER(job->q, item), MM_NUMBER(job->h, item));
}
