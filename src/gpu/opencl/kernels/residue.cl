// SPDX-License-Identifier: Apache-2.0
// The kernel mm_residue (gpu/kernels/residue_job.hpp), one item per work-item: division bit by bit.
// Timing: constant; time and addresses depend on lengths only.
#include "gpu/opencl/kernels/job.clh"

// Word j of the remainder, and of the modulus.
#define R(j) local_words[(j) * stride + lane]
#define N(j) local_words[((j) + words) * stride + lane]

// r = r - n if that is not negative. In: r < 2 n, `above` its word `words`.
void reduce(__local uint* local_words, uint words, uint stride, uint lane, uint above) {
  uint borrow = 0;
  for (uint j = 0; j < words; ++j) {
    const ulong difference = (ulong)R(j) - N(j) - borrow;
    borrow = (uint)(difference >> 63);
  }
  const uint mask = 0 - (uint)(above >= borrow);
  borrow = 0;
  for (uint j = 0; j < words; ++j) {
    const ulong difference = (ulong)R(j) - (N(j) & mask) - borrow;
    R(j) = (uint)difference;
    borrow = (uint)(difference >> 63);
  }
}

__kernel void MM_KERNEL(MM_PARAMETERS(mm_residue_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  const uint words = job->words, stride = (uint)get_local_size(0), lane = (uint)get_local_id(0);
  const mm_source n = MM_NUMBER(job->modulus, item / job->per_modulus);
  const uint number = item % job->values;
  mm_source value = {0, 0, 0};
  if (job->value.words != 0) value = MM_NUMBER(job->value, number);
  for (uint j = 0; j < words; ++j) N(j) = mm_word(n, j);
  // The upper words of the value, or 2^(32 (words - 2)): below n.
  const uint top = job->value.words == 0 ? words - 1 : min(value.count, words - 2);
  const uint left = job->value.words == 0 ? 0 : value.count - top;
  for (uint j = 0; j < words; ++j) {
    R(j) = job->value.words == 0 ? (uint)(j == words - 2) : j < top ? mm_word(value, left + j) : 0;
  }
  const uint bits = 32 * left + job->zero_bits;
  for (uint i = 0; i < bits; ++i) {
    const uint at = 32 * left - 1 - i;
    uint in = i < 32 * left ? mm_word(value, at / 32) >> (at % 32) & 1 : 0;
    for (uint j = 0; j < words; ++j) {
      const uint word = R(j);
      R(j) = word << 1 | in;
      in = word >> 31;
    }
    reduce(local_words, words, stride, lane, in);
  }
  uint any = 0;
  for (uint j = 0; j < words; ++j) any |= R(j);
  const bool negative = job->negative != 0 && MM_AT(const uchar, job->negative)[number] != 0;
  const uint negated = 0 - (uint)(negative && any != 0);
  __global uint* const result = MM_AT(uint, job->result) + (ulong)item * job->result_width;
  uint borrow = 0;
  for (uint j = 0; j < words; ++j) {
    const uint plain = R(j);
    const ulong difference = (ulong)N(j) - plain - borrow;
    borrow = (uint)(difference >> 63);
    result[j] = (plain & ~negated) | ((uint)difference & negated);
  }
  for (uint j = words; j < job->result_width; ++j) result[j] = 0;
}
