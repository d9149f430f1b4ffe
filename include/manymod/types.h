/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * @brief C ABI of manymod: operations, timing classes and the arrays of a batch. manymod.h includes it.
 */
#ifndef MANYMOD_TYPES_H
#define MANYMOD_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest width of a modulus in bits; on GPUs 8192. Bases may be wider, exponents up to 2^32 - 64 bits. */
#define MM_MAX_MODULUS_BITS 16384

/** Operations. x, y, z, n: the item's first, second and third operand and modulus. With terms: x_t, y_t for
 * 0 <= t < terms. */
typedef enum mm_op {
  MM_OP_ADDMOD = 0,            /**< x + y mod n */
  MM_OP_SUBMOD = 1,            /**< x - y mod n */
  MM_OP_NEGMOD = 2,            /**< -x mod n */
  MM_OP_MULMOD = 3,            /**< x * y mod n */
  MM_OP_SQRMOD = 4,            /**< x^2 mod n */
  MM_OP_POWMOD = 5,            /**< x^y mod n, y of any sign */
  MM_OP_INVMOD = 6,            /**< x^-1 mod n */
  MM_OP_MULTI_POWMOD = 7,      /**< prod_{t < terms} x_t^(y_t) mod n */
  MM_OP_FIXED_BASE_POWMOD = 8, /**< g^y mod n with a precomputed comb of g; see mm_fixed_base */
  MM_OP_FMAMOD = 9,            /**< x * y + z mod n */
  MM_OP_SUMMOD = 10,           /**< sum_{t < terms} x_t mod n */
  MM_OP_PRODMOD = 11,          /**< prod_{t < terms} x_t mod n */
  MM_OP_DOTMOD = 12            /**< sum_{t < terms} x_t * y_t mod n */
} mm_op;
#define MM_OP_COUNT 13

/**
 * Timing class. MM_TIMING_PUBLIC is variable-time. MM_TIMING_SECRET is constant-time and offered for every
 * operation but MM_OP_MULTI_POWMOD: time and memory accesses depend only on the number of items, the widths
 * of the arrays, the signs, the statuses, and for each modulus its bit length, its parity and whether it is
 * 0, 1 or -1. It needs odd moduli. A variant that is not constant-time is never used for it.
 * docs/security.md states what is covered.
 */
typedef enum mm_timing { MM_TIMING_PUBLIC = 0, MM_TIMING_SECRET = 1 } mm_timing;

/** How the items of a batch use moduli. */
typedef enum mm_modulus_kind {
  MM_MODULUS_EACH = 0,  /**< one modulus per item */
  MM_MODULUS_SHARED = 1 /**< one modulus for the whole batch; its precomputation is kept in the plan */
} mm_modulus_kind;

/** A batch that is read. */
typedef struct mm_view {
  const uint64_t* limbs;
  size_t count;            /**< the batch size, or 1 for one integer that every item uses */
  size_t width;            /**< limbs per item, >= 1 */
  size_t stride;           /**< limbs from one item to the next, >= width; 0 means width */
  const uint8_t* negative; /**< NULL: no item is negative; else `count` bytes, nonzero for a negative item */
} mm_view;

/** A batch that is written. Results are zero-extended to `width`. */
typedef struct mm_result {
  uint64_t* limbs;
  size_t count;      /**< the batch size */
  size_t width;      /**< limbs per item, >= the width of the modulus view */
  size_t stride;     /**< limbs from one item to the next, >= width; 0 means width */
  uint8_t* negative; /**< `count` bytes, 1 for a negative result, else 0. May be NULL if the modulus view has
                        no signs */
} mm_result;

/**
 * Progress callback, called on the thread that computes the call about every 100 ms, if at all.
 * @return 0 to continue, any other value to stop: the call then returns MM_ERR_CANCELLED within a fraction of
 *         a second
 */
typedef int (*mm_progress_fn)(size_t items_done, size_t items_total, void* user);

#ifdef __cplusplus
}
#endif
#endif
