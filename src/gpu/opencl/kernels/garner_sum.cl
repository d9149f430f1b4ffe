// SPDX-License-Identifier: Apache-2.0
// The kernel mm_garner_sum (gpu/kernels/garner_job.hpp), one item per work-item. Timing: constant.
//
// The product q h is computed column by column. `low` and `high` are sums of at most `words` halves of
// products, of one word and of the carry from the column before: with words < 2^16 they stay below 2^49.
#include "gpu/opencl/kernels/job.clh"

__kernel void MM_KERNEL(MM_PARAMETERS(mm_garner_sum_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  const mm_source b = MM_NUMBER(job->b, item), q = MM_NUMBER(job->q, item), h = MM_NUMBER(job->h, item);
  __global uint* const result = MM_AT(uint, job->result) + (ulong)item * job->result_words;
  const uint words = job->words;
  ulong low = 0;
  for (uint column = 0; column < job->result_words; ++column) {
    const uint first = column < words ? 0 : column - words + 1;
    const uint last = column < words ? column : words - 1;
    ulong high = 0;
    low += mm_word(b, column);
    for (uint j = first; j <= last; ++j) {
      const ulong product = (ulong)mm_word(q, j) * mm_word(h, column - j);
      low += (uint)product;
      high += product >> 32;
    }
    result[column] = (uint)low;
    low = (low >> 32) + high;
  }
}
