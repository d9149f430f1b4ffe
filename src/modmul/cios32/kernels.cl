// SPDX-License-Identifier: Apache-2.0
// Montgomery products of 32-bit words with 64-bit sums (CIOS; Koc, Acar, Kaliski 1996), one item per
// work-item. Timing: constant.
#include "gpu/opencl/kernels/job.clh"

#define WORDS MM_PER_THREAD

typedef struct {
  uint word[WORDS];
} element;

typedef struct {
  element n;
  uint inverse;  // -1 / n mod 2^32
} modulus;

// r = a - n if above 2^(32 WORDS) + a >= n, else a.
element reduced(const element* a, uint above, const element* n) {
  element r;
  uint borrow = 0;
  for (uint j = 0; j < WORDS; ++j) {
    const ulong difference = (ulong)a->word[j] - n->word[j] - borrow;
    r.word[j] = (uint)difference;
    borrow = (uint)(difference >> 63);
  }
  const uint keep = 0 - (uint)(above < borrow);
  for (uint j = 0; j < WORDS; ++j) r.word[j] = (a->word[j] & keep) | (r.word[j] & ~keep);
  return r;
}

// a b / R mod n in [0, n) if a b < n R.
element product(const element* a, const element* b, const modulus* m) {
  element t;
  uint above = 0;
  for (uint j = 0; j < WORDS; ++j) t.word[j] = 0;
  for (uint i = 0; i < WORDS; ++i) {
    const uint b_i = b->word[i];
    ulong sum = (ulong)a->word[0] * b_i + t.word[0];
    const uint q = (uint)sum * m->inverse;
    ulong product_carry = sum >> 32;
    ulong quotient_carry = ((ulong)q * m->n.word[0] + (uint)sum) >> 32;
    for (uint j = 1; j < WORDS; ++j) {
      sum = (ulong)a->word[j] * b_i + t.word[j] + product_carry;
      product_carry = sum >> 32;
      sum = (ulong)q * m->n.word[j] + (uint)sum + quotient_carry;
      quotient_carry = sum >> 32;
      t.word[j - 1] = (uint)sum;
    }
    sum = (ulong)above + product_carry + quotient_carry;
    t.word[WORDS - 1] = (uint)sum;
    above = (uint)(sum >> 32);
  }
  return reduced(&t, above, &m->n);
}

element from_source(const mm_source a) {
  element r;
  for (uint j = 0; j < WORDS; ++j) r.word[j] = mm_word(a, j);
  return r;
}

// Word j of slot e of a work-item: neighbouring work-items have neighbouring words.
typedef struct {
  __global uint* words;
  uint threads;
} table;

element from_table(const table t, uint slot) {
  element r;
  for (uint j = 0; j < WORDS; ++j) r.word[j] = t.words[((ulong)slot * WORDS + j) * t.threads];
  return r;
}

uint digit_of(const mm_source exponent, __global const mm_step* step) {
  if (step->digit_stride == 1) return mm_bits(exponent, step->digit_first, step->digit_count);
  uint value = 0;
  for (uint b = 0; b < step->digit_count; ++b) {
    value |= mm_bits(exponent, step->digit_first + b * step->digit_stride, 1) << b;
  }
  return value;
}

element chosen(const table t, uint first, uint count, uint wanted, bool scan) {
  if (!scan) return from_table(t, first + wanted);
  element r;
  for (uint j = 0; j < WORDS; ++j) r.word[j] = 0;
  for (uint e = 0; e < 1u << count; ++e) {
    const uint mask = 0 - (uint)(e == wanted);
    for (uint j = 0; j < WORDS; ++j) {
      r.word[j] |= t.words[((ulong)(first + e) * WORDS + j) * t.threads] & mask;
    }
  }
  return r;
}

__kernel __attribute__((reqd_work_group_size(MM_BLOCK, 1, 1))) void MM_KERNEL(MM_PARAMETERS(mm_program_job)) {
  const uint threads = (uint)get_global_size(0), thread = (uint)get_global_id(0);
  table own = {0, threads}, comb = {0, job->comb_threads};
  if (job->table != 0) own.words = MM_AT(uint, job->table) + thread;
  if (job->comb != 0) comb.words = MM_AT(uint, job->comb);
  __global const mm_step* const steps = MM_AT(const mm_step, job->steps);
  for (uint item = thread; item < job->count; item += threads) {
    modulus m;
    m.n = from_source(MM_NUMBER(job->modulus, item));
    uint inverse = m.n.word[0];  // right to 3 bits, and to twice as many after each step
    for (uint i = 0; i < 4; ++i) inverse *= 2 - m.n.word[0] * inverse;
    m.inverse = 0 - inverse;
    element x;
    for (uint j = 0; j < WORDS; ++j) x.word[j] = 0;
    for (uint s = 0; s < job->step_count; ++s) {
      __global const mm_step* const step = steps + s;
      for (uint i = 0; i < step->squarings; ++i) x = product(&x, &x, &m);
      if (step->source != MM_SOURCE_NONE) {
        element y;
        if (step->source == MM_SOURCE_SLOT) {
          y = from_table(own, step->index);
        } else if (step->source == MM_SOURCE_DIGIT || step->source == MM_SOURCE_COMB) {
          const uint wanted = digit_of(MM_NUMBER(job->operands[step->digit_exponent], item), step);
          y = chosen(step->source == MM_SOURCE_COMB ? comb : own, step->index, step->digit_count, wanted, job->scan != 0);
        } else if (step->source == MM_SOURCE_ONE) {
          const mm_source one = {0, 0, 1};
          y = from_source(one);
        } else if (step->source == MM_SOURCE_START) {
          y = from_source(MM_NUMBER(job->start, item));
        } else {
          y = from_source(MM_NUMBER(job->operands[step->index], item));
        }
        if (step->load) x = y;
        for (uint i = 0; i < step->multiplications; ++i) x = product(&x, &y, &m);
      }
      if (step->store) {
        for (uint j = 0; j < WORDS; ++j) own.words[((ulong)step->slot * WORDS + j) * threads] = x.word[j];
      }
    }
    __global uint* const result = MM_AT(uint, job->result) + (ulong)item * job->result_width;
    for (uint j = 0; j < job->result_width; ++j) result[j] = x.word[j];
  }
}
