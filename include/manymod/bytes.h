/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bytes.h
 * @brief C ABI of manymod: byte strings and hash functions, which rsa.h and ecc.h share.
 */
#ifndef MANYMOD_BYTES_H
#define MANYMOD_BYTES_H

#include "manymod/manymod.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that the caller owns. data may be NULL if size is 0. */
typedef struct mm_bytes {
  const uint8_t* data;
  size_t size;
} mm_bytes;

/**
 * Byte strings that are read, in one of three forms:
 * - `items` is not NULL: `count` pointers and sizes;
 * - else `offsets` is not NULL: item i is data[offsets[i] .. offsets[i + 1]), with count + 1 offsets that are
 *   nonnegative and do not descend (Arrow's large_binary);
 * - else item i is the `size` bytes at data + i * stride.
 */
typedef struct mm_bytes_view {
  size_t count; /**< N, or 1: the same bytes for every item */
  const uint8_t* data;
  size_t size;
  size_t stride; /**< >= size; 0 means size */
  const int64_t* offsets;
  const mm_bytes* items;
} mm_bytes_view;

/** Byte strings that are written: item i at data + i * stride. An item with a status other than MM_OK is
 * zeroed, but never past the stride. */
typedef struct mm_bytes_result {
  uint8_t* data;
  size_t count;  /**< N */
  size_t stride; /**< at least the longest result of the call */
  size_t* sizes; /**< NULL, or N sizes, 0 for an item with a status other than MM_OK */
} mm_bytes_result;

/** Hash functions. */
typedef enum mm_hash {
  MM_HASH_NONE = 0,
  MM_SHA1 = 1, /**< for OAEP and for verifying old signatures */
  MM_SHA224 = 2,
  MM_SHA256 = 3,
  MM_SHA384 = 4,
  MM_SHA512 = 5,
  MM_SHA512_224 = 6,
  MM_SHA512_256 = 7,
  MM_SHA3_224 = 8,
  MM_SHA3_256 = 9,
  MM_SHA3_384 = 10,
  MM_SHA3_512 = 11,
  MM_SHAKE128 =
      12, /**< with RSA for PSS only (RFC 8702): digests of 32 bytes; the mask is SHAKE's own output */
  MM_SHAKE256 = 13, /**< likewise, digests of 64 bytes */
  MM_SM3 = 14       /**< GB/T 32905, for SM2 */
} mm_hash;
#define MM_HASH_COUNT 15

/**
 * Length of a digest.
 * @param hash any value
 * @return the length in bytes; 0 for MM_HASH_NONE and unknown values, and for all in a library built without
 * libcrypto
 */
MM_API size_t mm_hash_size(mm_hash hash);

#ifdef __cplusplus
}
#endif
#endif
