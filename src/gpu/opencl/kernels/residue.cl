// SPDX-License-Identifier: Apache-2.0
// The kernel mm_residue (gpu/kernels/residue_job.hpp): a 2^z mod n, for a of any length, one work-item each.
//
// Long division with one digit of the quotient per step (Knuth, The Art of Computer Programming 2, 4.3.1 D),
// in integers alone, as many GPUs lack double precision. A digit has MM_STEP_BITS bits and is estimated from
// the upper 32 bits of n and the upper 57 bits of the remainder r. The estimate is never too large, so that
// r < (1 + 2^-4) n after every step, and only the last remainder is corrected.
//
// Timing: constant; time and addresses depend on lengths only.
#include "gpu/opencl/kernels/job.clh"
#include "gpu/opencl/kernels/reciprocal.clh"

#define MM_STEP_BITS 24

typedef struct {
  __local uint* n;  // word j at n[j stride]
  __local uint* r;  // the remainder, but for its highest word
  uint stride;
  uint words;    // of n, even
  uint above;    // word `words` of r
  uint shift;    // leading zero bits of n's upper two words
  uint inverse;  // floor(2^63 / (N + 1)), N the upper 32 bits of n, 2^31 <= N < 2^32
} mm_residue_state;

// The upper 64 bits of the words above 2^(32 (words - 3)), shifted left by `shift` < 64.
static ulong mm_upper_bits(ulong high, uint low, uint shift) {
  const ulong next = (ulong)low << 32;
  // `next` reaches the upper word only by shifts, of which none may be by 64.
  return high << shift | next >> 1 >> (63 - shift);
}

// floor(2^bits r / n), or less: then the remainder is below (1 + 2^-5) n + 2^bits.
//
// In units of 2^(32 (words - 1) - shift) the modulus is in [N, N + 1), and u is r 2^24, rounded down. So the
// estimate is at most the quotient q < 2^bits (1 + 2^-4), and its error comes from N + 1 and from `inverse`, each
// less than 2^-31 q < 2^-6, from u, less than 2^-30, and from rounding, less than 1.
static uint mm_quotient(const mm_residue_state* s, uint bits) {
  const uint top = s->words - 1;
  const ulong high = (ulong)s->r[top * s->stride] << 32 | s->r[(top - 1) * s->stride];
  const uint low = s->words > 2 ? s->r[(top - 2) * s->stride] : 0;
  // r < 2^(32 words - shift + 1): its bit above the 64 of `upper` is the last one that `shift` moves out.
  const ulong upper = mm_upper_bits(high, low, s->shift);
  const ulong out = ((ulong)s->above << s->shift) | (high >> 1 >> (63 - s->shift));
  const ulong u = out << 63 | upper >> 1;
  return (uint)(mul_hi(u, (ulong)s->inverse << 32) >> (62 - bits));
}

// r = 2^bits r + word modulo n. On input: 1 <= bits <= MM_STEP_BITS, word < 2^bits; bits = 1 if n has two words.
static void mm_append(mm_residue_state* s, uint word, uint bits) {
  const uint q = mm_quotient(s, bits);
  uint below = word << (32 - bits), taken = 0;
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) {
    const uint own = s->r[j * s->stride];
    const ulong product = (ulong)q * s->n[j * s->stride] + taken;
    const ulong difference = (ulong)(own << bits | below >> (32 - bits)) - (uint)product;
    // product <= (2^32 - 1) 2^32, and its lower word is 0 if the upper one is 2^32 - 1.
    taken = (uint)(product >> 32) + (uint)(difference >> 63);
    s->r[j * s->stride] = (uint)difference;
    below = own;
  }
  s->above = (s->above << bits | below >> (32 - bits)) - taken;
}

// r = r - n if r >= n.
static void mm_subtract_if_not_below(mm_residue_state* s) {
  uint borrow = 0;
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) {
    borrow = (uint)(((ulong)s->r[j * s->stride] - s->n[j * s->stride] - borrow) >> 63);
  }
  const uint mask = 0 - (uint)(s->above >= borrow);
  uint taken = 0;
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) {
    const ulong difference = (ulong)s->r[j * s->stride] - (s->n[j * s->stride] & mask) - taken;
    taken = (uint)(difference >> 63);
    s->r[j * s->stride] = (uint)difference;
  }
  s->above -= taken;
}

// result = r, or -r mod n if `negate`. On input: r < n.
static void mm_store_residue(__global uint* result, uint width, const mm_residue_state* s, bool negate) {
  uint any = 0;
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) any |= s->r[j * s->stride];
  const uint negated = 0 - (uint)(negate && any != 0);
  uint borrow = 0;
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) {
    const uint plain = s->r[j * s->stride];
    const ulong difference = (ulong)s->n[j * s->stride] - plain - borrow;
    borrow = (uint)(difference >> 63);
    result[j] = (plain & ~negated) | ((uint)difference & negated);
  }
  for (uint j = s->words; j < width; ++j) result[j] = 0;
}

// The remainder's start: the upper words of a, which are below n, or 2^(32 (words - 2)) if a has no words.
static void mm_start_residue(mm_residue_state* s, const mm_source n, const mm_source a, uint taken_words) {
#pragma unroll 1
  for (uint j = 0; j < s->words; ++j) {
    s->n[j * s->stride] = mm_word(n, j);
    const uint word = j < taken_words ? a.words[a.count - taken_words + j] : 0;
    s->r[j * s->stride] = a.words == 0 ? (j == s->words - 2) : word;
  }
  const ulong high = (ulong)mm_word(n, s->words - 1) << 32 | mm_word(n, s->words - 2);
  s->above = 0;
  s->shift = (uint)clz(high);
  const ulong top = mm_upper_bits(high, s->words > 2 ? mm_word(n, s->words - 3) : 0, s->shift) >> 32;
  s->inverse = mm_reciprocal(1ul << 31, top + 1);
}

__kernel void MM_KERNEL(MM_PARAMETERS(mm_residue_job)) {
  const uint item = (uint)get_global_id(0), stride = (uint)get_local_size(0);
  if (item >= job->count) return;
  const uint words = job->words, most = words > 2 ? MM_STEP_BITS : 1;
  const mm_source n = MM_NUMBER(job->modulus, item / job->per_modulus);
  mm_source a = {0, 0, 0};
  if (job->value.words != 0) a = MM_NUMBER(job->value, item % job->values);
  const uint taken = min(a.count, words - 2);
  mm_residue_state s = {local_words + get_local_id(0), local_words + words * stride + get_local_id(0), stride, words, 0, 0, 0};
  mm_start_residue(&s, n, a, taken);
  const uint value_bits = 32 * (a.count - taken);
  uint left = value_bits + job->zero_bits;
#pragma unroll 1
  while (left > 0) {
    const uint zeros = min(left, job->zero_bits), above = left - zeros;
    const uint bits = min(most, above > 0 ? above : left);
    left -= bits;
    mm_append(&s, above > 0 ? mm_bits(a, left - zeros, bits) : 0, bits);
  }
  mm_subtract_if_not_below(&s);
  mm_subtract_if_not_below(&s);
  const bool negate = job->negative != 0 && MM_AT(const uchar, job->negative)[item % job->values] != 0;
  mm_store_residue(MM_AT(uint, job->result) + (ulong)item * job->result_width, job->result_width, &s, negate);
}
