// SPDX-License-Identifier: Apache-2.0
// The kernels of technique division32: element-wise operations on rows (row_job.hpp), one work-item for each item.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/reciprocal.clh"
#include "modmul/division32/division.clh"

#define MM_ADD 0
#define MM_SUBTRACT 1

// The layout of division32::RowJob.
typedef struct {
  mm_operand x, y, z;
  mm_operand modulus;
  mm_place result;
  uchar operation;
  uint count;
} mm_row_job;

// {r, low} = x y + r: below 2^(64 W), as (2^(32 W) - 1)^2 + 2^(32 W) - 1 is. On input: r->over = 0.
// On output: low[W] = 0.
static void mm_multiply_add(mm_remainder* r, uint* low, const uint* x, const mm_source y) {
#pragma unroll 1
  for (uint i = 0; i < MM_WORDS; ++i) {
    const uint digit = mm_word(y, i);
    ulong sum = 0;
    MM_EACH_WORD {
      sum += (ulong)x[j] * digit + r->word[j];
      if (j == 0) {
        low[i] = (uint)sum;
      } else {
        r->word[j - 1] = (uint)sum;
      }
      sum >>= 32;
    }
    r->word[MM_WORDS - 1] = (uint)sum;
  }
  low[MM_WORDS] = 0;
}

// r = x + y or x - y + 2 N: below 4 N, as 2^(32 W) <= 2 N.
static void mm_add_or_subtract(mm_remainder* r, const uint* x, const uint* y, const mm_divisor* n, bool subtract) {
  long sum = 0;
  MM_EACH_WORD {
    // 2 N = 2^(32 W + 1) - 2 M
    sum += (long)x[j] + (subtract ? -(long)y[j] - 2 * (long)n->minus[j] : (long)y[j]);
    r->word[j] = (uint)sum;
    sum >>= 32;
  }
  r->over = (uint)sum + (subtract ? 2 : 0);
}

static void mm_compute(uint item, MM_PARAMETERS(mm_row_job)) {
  mm_divisor n;
  mm_start_divisor(&n, MM_NUMBER(job->modulus, item));
  uint x[MM_WORDS];
  mm_load(x, MM_NUMBER(job->x, item));
  mm_remainder r;
  if (job->operation == MM_ADD || job->operation == MM_SUBTRACT) {
    uint y[MM_WORDS];
    mm_load(y, MM_NUMBER(job->y, item));
    mm_add_or_subtract(&r, x, y, &n, job->operation == MM_SUBTRACT);
  } else {
    uint low[MM_WORDS + 1];
    mm_load(r.word, MM_NUMBER(job->z, item));
    r.over = 0;
    mm_multiply_add(&r, low, x, MM_NUMBER(job->y, item));
    mm_extend_by_words(&r, low, &n);
  }
  mm_extend_by_shift(&r, &n, job->modulus.width);
  mm_reduce(&r, &n);
  mm_store_quotient(MM_AT(uint, job->result) + (ulong)item * job->modulus.width, &r, &n, job->modulus.width);
}

__kernel void MM_KERNEL(MM_PARAMETERS(mm_row_job)) {
#pragma unroll 1
  for (uint item = (uint)get_global_id(0); item < job->count; item += (uint)get_global_size(0)) {
    mm_compute(item, job, m0, m1, m2, m3, local_words);
  }
}
