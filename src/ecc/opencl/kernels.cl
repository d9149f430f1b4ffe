// SPDX-License-Identifier: Apache-2.0
// Points on curves modulo a prime of MM_FIELD_BITS bits, one work-item for each item: the kernels
// ecc_<a><bits>_<part>, each a program of its own with MM_PART_<part>. What is known of the coefficient a:
// MM_A_zero, MM_A_three (a = -3) or MM_A_any of Weierstrass curves, MM_A_minus (a = -1), MM_A_one or MM_A_twisted (any a)
// of Edwards curves, MM_A_montgomery, of which there are the parts ladder and affine.
#include "gpu/opencl/kernels/job.clh"
#include "ecc/opencl/digits.clh"
#include "modmul/reduced_radix/multiplier.clh"
#include "ecc/opencl/field.clh"
#include "ecc/opencl/points.clh"
#include "ecc/opencl/jobs.clh"

#if defined(MM_PART_multiply) || defined(MM_PART_two)
// Part multiply: k P. Timing: constant. Part two: u G + k P, public. Drivers may copy functions to where they are
// called, so each formula is in one place.
#ifdef MM_PART_two
#define MM_LOAD_MULTIPLE mm_read_table
#else
#define MM_LOAD_MULTIPLE mm_scan_table
#endif
__kernel void MM_KERNEL(MM_PARAMETERS(mm_point_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  mm_curve curve;
  mm_start_curve(&curve, MM_AT(const uint, job->curve.rows));
  const mm_curve* const c = &curve;
  mm_point table[MM_ENTRIES], sum, entry;
  mm_load_affine(&entry, MM_ROW(const uint, job->x, item), MM_ROW(const uint, job->y, item), c);
  table[0] = sum = entry;
  const mm_source k = {MM_ROW(const uint, job->scalar, item), job->curve.scalar_words, 0};
  // First the other entries of the table, then the digits of k from the highest on.
  const uint digits = mm_digit_count(job->curve.order_bits), of_k = MM_ENTRIES + digits;
#ifdef MM_PART_two
  // Then those of u, whose table does not need doublings.
  __global const uint* const base = MM_AT(const uint, job->table);
  const mm_source u = {MM_ROW(const uint, job->base_scalar, item), job->curve.scalar_words, 0};
  const uint steps = of_k + digits;
#else
  const uint steps = of_k;
#endif
#pragma unroll 1
  for (uint step = 1; step < steps; ++step) {
    if (step == MM_ENTRIES) mm_set_neutral(&sum, c);
#ifdef MM_PART_two
    if (step >= of_k) mm_read_base(&entry, base, step - of_k, mm_booth_digit(u, MM_WINDOW, step - of_k), c);
#endif
    if (step >= MM_ENTRIES && step < of_k) {
#pragma unroll 1
      for (uint i = 1; i <= MM_WINDOW; ++i) mm_twice(&sum, &sum, i == MM_WINDOW, c);
      MM_LOAD_MULTIPLE(&entry, table, mm_booth_digit(k, MM_WINDOW, of_k - 1 - step), c);
    }
    // Entries are added to others, and the multiple of P to that of G.
    const uint with_t = step < MM_ENTRIES || (step + 1 >= of_k && step + 1 < steps);
    mm_add(&sum, &sum, &entry, with_t, c);
    if (step < MM_ENTRIES) table[step] = sum;
  }
  mm_store_point(MM_AT(uint, job->result), job->count, item, &sum, c);
}

#elif defined(MM_PART_base)
// k G. Timing: constant.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_point_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  mm_curve curve;
  mm_start_curve(&curve, MM_AT(const uint, job->curve.rows));
  const mm_curve* const c = &curve;
  __global const uint* const table = MM_AT(const uint, job->table);
  mm_point sum, entry;
  mm_set_neutral(&sum, c);
  const mm_source k = {MM_ROW(const uint, job->scalar, item), job->curve.scalar_words, 0};
#pragma unroll 1
  for (uint i = 0; i < mm_digit_count(job->curve.order_bits); ++i) {
    mm_scan_base(&entry, table, i, mm_booth_digit(k, MM_WINDOW, i), c);
    mm_add(&sum, &sum, &entry, 1, c);
  }
  mm_store_point(MM_AT(uint, job->result), job->count, item, &sum, c);
}

#elif defined(MM_PART_ladder)
// u of k P from u of P, as X / Z, for the lowest MM_FIELD_BITS bits of k (RFC 7748, section 5). Timing: constant.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_point_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  mm_curve curve;
  mm_start_curve(&curve, MM_AT(const uint, job->curve.rows));
  const mm_curve* const c = &curve;
  mm_element u;
  mm_load_number(&u, MM_ROW(const uint, job->x, item), &c->f);
  // Infinity and P.
  mm_pair pair = {{c->f.one, c->f.one}, {u, c->f.one}};
  mm_field_small(&pair.low.z, 0);
  const mm_source k = {MM_ROW(const uint, job->scalar, item), MM_ROW_WORDS, 0};
  uint swapped = 0;  // a mask: whether pair.high is the multiple so far
#pragma unroll 1
  for (uint bit = MM_FIELD_BITS; bit > 0; --bit) {
    const uint mask = mm_opaque(0 - mm_bits(k, bit - 1, 1));
    mm_step_ladder(&pair, mask ^ swapped, &u, c);
    swapped = mask;
  }
  mm_field_select(&pair.low.x, &pair.high.x, swapped);
  mm_field_select(&pair.low.z, &pair.high.z, swapped);
  __global uint* const result = MM_AT(uint, job->result);
  mm_store_element(MM_COORDINATE(result, 0, job->count, item), &pair.low.x, &c->f);
  mm_store_element(MM_COORDINATE(result, 2, job->count, item), &pair.low.z, &c->f);
}

#elif defined(MM_PART_terms) || defined(MM_PART_points)
// Sums of elements, public. Part terms: of affine points, two each or those that references name. Part points: of
// points that are sums themselves.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_sum_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  if (job->made != 0 && item >= *MM_AT(const uint, job->made)) return;
  mm_curve curve;
  mm_start_curve(&curve, MM_AT(const uint, job->curve.rows));
  const mm_curve* const c = &curve;
  mm_point sum, element;
  mm_set_neutral(&sum, c);
  const bool in_groups = job->elements.first != 0, has_references = job->references != 0;
  const uint first = in_groups ? MM_AT(const uint, job->elements.first)[item] : 2 * item;
  const uint size = in_groups ? MM_AT(const uint, job->elements.size)[item] : 2;
#pragma unroll 1
  for (uint i = 0; i < size; ++i) {
    const uint reference = has_references ? MM_AT(const uint, job->references)[first + i] : first + i;
#ifdef MM_PART_terms
    // Without references, point `item` of either set.
    const uint set = has_references ? 0 : i;
    mm_load_affine(&element, MM_ROW(const uint, job->x[set], reference / 2),
                   MM_ROW(const uint, job->y[set], reference / 2), c);
    const uint negative = (has_references ? reference : 0) ^ job->negates;
    mm_negate_where(&element, 0 - (negative & 1), c);
#else
    if (reference == MM_NO_POINT) continue;
    mm_load_point(&element, MM_AT(const uint, job->points), job->point_count, reference, c);
#endif
    mm_add(&sum, &sum, &element, 1, c);
  }
  mm_store_point(MM_AT(uint, job->result), job->count, item, &sum, c);
}

#elif defined(MM_PART_check)
// Whether the number is below n.
static bool mm_is_below(__global const uint* a, __global const uint* n) {
  uint borrow = 0;
#pragma unroll 1
  for (uint j = 0; j < MM_ROW_WORDS; ++j) borrow = (uint)(((ulong)a[j] - n[j] - borrow) >> 63);
  return borrow != 0;
}

// Clears the flags of points that are not on the curve, or have coordinates that are not below p.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_point_job)) {
  const uint item = (uint)get_global_id(0);
  if (item >= job->count) return;
  mm_curve curve;
  __global const uint* const rows = MM_AT(const uint, job->curve.rows);
  mm_start_curve(&curve, rows);
  const mm_curve* const c = &curve;
  __global const uint* const x = MM_ROW(const uint, job->x, item);
  __global const uint* const y = MM_ROW(const uint, job->y, item);
  mm_point p;
  mm_load_affine(&p, x, y, c);
  mm_element t;
  MM_SQR(t, p.x);
  MM_SUM(t, t, curve.a);
  MM_MUL(t, t, p.x);
  MM_SUM(t, t, curve.b);
  MM_SQR(p.y, p.y);
  MM_SUB(t, t, p.y, 1);
  MM_REDUCE(t, t);
  const bool in_range = mm_is_below(x, rows + MM_PRIME * MM_ROW_WORDS) && mm_is_below(y, rows + MM_PRIME * MM_ROW_WORDS);
  if (!in_range || mm_field_is_zero(&t, &curve.f) == 0) MM_AT(uchar, job->valid)[item] = 0;
}

#elif defined(MM_PART_affine)
// Z of an item, or 1 in place of 0, so that it leaves the others of its chain alone. @return a mask: whether it is 0.
static uint mm_load_divisor(mm_element* z, __global const uint* row, const mm_field* f) {
  mm_load_element(z, row, f);
  const uint infinite = mm_field_is_zero(z, f);
  mm_field_select(z, &f->one, infinite);
  return infinite;
}

// X / Z, or 0 at infinity.
static void mm_store_quotient(__global uint* row, __global const uint* coordinate, const mm_element* inverse,
                              uint infinite, const mm_field* f) {
  mm_element quotient, zero;
  mm_load_element(&quotient, coordinate, f);
  mm_field_mul(&quotient, &quotient, inverse, f);
  mm_field_small(&zero, 0);
  mm_field_select(&quotient, &zero, infinite);
  mm_store_number(row, &quotient, f);
}

// X / Z and Y / Z, or 0 where Z is 0. Each work-item inverts once for the chain of items of its number modulo
// job->threads (Montgomery's trick). Timing: constant.
__kernel void MM_KERNEL(MM_PARAMETERS(mm_affine_job)) {
  const uint thread = (uint)get_global_id(0), count = job->count, step = job->threads;
  if (thread >= min(step, count)) return;
  __global const uint* const rows = MM_AT(const uint, job->curve.rows);
  __global const uint* const point = MM_AT(const uint, job->point);
  __global uint* const scratch = MM_AT(uint, job->scratch);
  mm_field field;
  mm_start_field(&field, rows + MM_PRIME * MM_ROW_WORDS, rows + MM_RADIX_SQUARED * MM_ROW_WORDS);
  const mm_field* const f = &field;
  mm_element inverse = f->one, z;
  const uint links = (count - 1 - thread) / step + 1;
#pragma unroll 1
  for (uint link = 0; link < links; ++link) {
    const uint item = thread + link * step;
    mm_store_element(MM_COORDINATE(scratch, 0, count, item), &inverse, f);
    mm_load_divisor(&z, MM_COORDINATE(point, 2, count, item), f);
    mm_field_mul(&inverse, &inverse, &z, f);
  }
  mm_field_inverse(&inverse, &inverse, rows + MM_INVERSE_EXPONENT * MM_ROW_WORDS, f);
#pragma unroll 1
  for (uint link = links; link > 0; --link) {
    const uint item = thread + (link - 1) * step;
    mm_element own;
    const uint infinite = mm_load_divisor(&z, MM_COORDINATE(point, 2, count, item), f);
    mm_load_element(&own, MM_COORDINATE(scratch, 0, count, item), f);
    mm_field_mul(&own, &own, &inverse, f);
    mm_field_mul(&inverse, &inverse, &z, f);
    mm_store_quotient(MM_ROW(uint, job->x, item), MM_COORDINATE(point, 0, count, item), &own, infinite, f);
    if (job->y.words != 0) {
      mm_store_quotient(MM_ROW(uint, job->y, item), MM_COORDINATE(point, 1, count, item), &own, infinite, f);
    }
    if (job->infinity != 0) MM_AT(uchar, job->infinity)[item] = (uchar)(infinite & 1);
  }
}
#endif
