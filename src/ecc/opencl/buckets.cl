// SPDX-License-Identifier: Apache-2.0
// Which points of a sum of many multiples are added to which (ecc/device/sum_jobs.hpp), public: the kernels
// ecc_rows_<part>, each a program of its own with MM_PART_<part>. They are those of ecc/cuda/buckets.cuda.hpp, which
// explains them.
#include "gpu/opencl/kernels/job.clh"
#include "ecc/opencl/booth.clh"
#include "ecc/opencl/jobs.clh"

#define MM_COUNTER(place, index) ((volatile __global uint*)MM_AT(uint, place) + (index))

#if defined(MM_PART_digits)
// Counts the terms of buckets, or writes their references.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_digits_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count || MM_AT(const uchar, job->good)[item] == 0) return;
  const mm_source k = {MM_ROW(const uint, job->scalar, item), job->words, 0};
  for (uint window = 0; window < job->windows; ++window) {
    const mm_signed_digit digit = mm_booth_digit(k, job->width, window);
    if (digit.index == 0) continue;
    const uint bucket = (window << (job->width - 1)) + digit.index - 1;
    if (job->references == 0) {
      atomic_inc(MM_COUNTER(job->size, bucket));
    } else {
      const uint place = atomic_inc(MM_COUNTER(job->next, bucket));
      MM_AT(uint, job->references)[place] = 2 * item + (digit.negative & 1);
    }
  }
}

#elif defined(MM_PART_pieces)
__kernel void MM_KERNEL(MM_PARAMETERS(mm_pieces_job)) {
  const uint group = (uint)get_global_id(0);
  if (group >= job->count) return;
  const uint size = MM_AT(const uint, job->groups.size)[group];
  if (job->places != 0) {
    const uint place = atomic_add(MM_COUNTER(job->places, 0), size);
    MM_AT(uint, job->groups.first)[group] = place;
    MM_AT(uint, job->next)[group] = place;
  }
  const uint first = MM_AT(const uint, job->groups.first)[group], pieces = (size + job->most - 1) / job->most;
  const uint piece = atomic_add(MM_COUNTER(job->made, 0), pieces);
  MM_AT(uint, job->pieces.first)[group] = piece;
  MM_AT(uint, job->pieces.size)[group] = pieces;
  uint from = 0;
  for (uint i = 0; i < pieces; ++i) {
    const uint to = (uint)((ulong)size * (i + 1) / pieces);
    MM_AT(uint, job->elements.first)[piece + i] = first + from;
    MM_AT(uint, job->elements.size)[piece + i] = to - from;
    from = to;
  }
}

#elif defined(MM_PART_bits)
__kernel void MM_KERNEL(MM_PARAMETERS(mm_bits_job)) {
  const uint place = (uint)get_global_id(0);
  if (place >= job->count) return;
  const uint group = place / job->slots, slot = place % job->slots;
  const uint window = group / job->width, bit = group % job->width;
  const bool is_highest = bit + 1 == job->width;
  const uint above = slot >> bit << bit, digit = (above << 1) + (1u << bit) + (slot - above);
  const uint bucket = (window << (job->width - 1)) + digit - 1;
  const bool has_one = (!is_highest || slot == 0) && MM_AT(const uint, job->buckets.size)[bucket] != 0;
  MM_AT(uint, job->references)[place] = has_one ? MM_AT(const uint, job->buckets.first)[bucket] : MM_NO_POINT;
  if (slot != 0) return;
  MM_AT(uint, job->groups.first)[group] = place;
  MM_AT(uint, job->groups.size)[group] = is_highest ? 1 : job->slots;
}
#endif
