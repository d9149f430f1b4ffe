// SPDX-License-Identifier: Apache-2.0
// The kernel mm_garner_difference (gpu/kernels/garner_job.hpp), one item per work-item. Timing: constant.
#include "gpu/opencl/kernels/job.clh"

__kernel void MM_KERNEL(MM_PARAMETERS(mm_garner_difference_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  const mm_source a = MM_NUMBER(job->a, item), b = MM_NUMBER(job->b, item), p = MM_NUMBER(job->p, item);
  __global uint* const result = MM_AT(uint, job->result) + (ulong)item * job->words;
  uint borrow = 0;
  for (uint j = 0; j < job->words; ++j) {
    const ulong difference = (ulong)mm_word(a, j) - mm_word(b, j) - borrow;
    borrow = (uint)(difference >> 63);
  }
  // a - b + (borrow ? p : 0): the sum of each word and the carry is below 2^33, above -2^32.
  const uint mask = 0 - borrow;
  long carry = 0;
  for (uint j = 0; j < job->words; ++j) {
    carry += (long)mm_word(a, j) - mm_word(b, j) + (mm_word(p, j) & mask);
    result[j] = (uint)carry;
    carry >>= 32;
  }
}
