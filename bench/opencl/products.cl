// SPDX-License-Identifier: Apache-2.0
// For bench/opencl/kernel_products.py, behind the multiplier of a technique: x = a, then so many times x = x b / R
// mod n, then so many times x = x^2 / R mod n, and r = x / R mod n. Numbers have `words` words. Groups of work-items
// have no squares of their own; their products are in a loop that runs at least once
// (gpu/opencl/kernels/interpreter.clh).
__kernel __attribute__((reqd_work_group_size(MM_BLOCK, 1, 1))) void products(
    __global const uint* n, __global const uint* a, __global const uint* b, __global uint* r, uint words,
    uint multiplications, uint squarings, __local uint* memory) {
  const uint item = (uint)get_global_id(0) / MM_THREADS;
  const mm_source modulus = {n + item * words, words, 0}, first = {a + item * words, words, 0},
                  second = {b + item * words, words, 0}, one = {0, 0, 1};
  mm_multiplier m;
  mm_start(&m, modulus, (uint)get_local_id(0) % MM_THREADS, memory);
  uint x[MM_LANE_WORDS], y[MM_LANE_WORDS];
  mm_from_words(x, first, &m);
  mm_from_words(y, second, &m);
#if MM_THREADS > 1
  uint i = 0;
  do {
    if (i == multiplications) mm_from_words(y, one, &m);
    mm_mul(x, x, y, &m);
  } while (++i <= multiplications);
#else
#pragma unroll 1
  for (uint i = 0; i < multiplications; ++i) mm_mul(x, x, y, &m);
#pragma unroll 1
  for (uint i = 0; i < squarings; ++i) mm_sqr(x, x, &m);
  mm_from_words(y, one, &m);
  mm_mul(x, x, y, &m);
#endif
  mm_to_words(r + item * words, words, x, &m);
}
