/* SPDX-License-Identifier: Apache-2.0 */
/* What older_program.c uses of the C ABI, with the structs as version 0.1 had them first: kMinimumSize of
 * src/abi/struct_size.hpp. It stands for the headers of an older installation and never changes. */
#ifndef MANYMOD_0_1_H
#define MANYMOD_0_1_H

#include <stddef.h>
#include <stdint.h>

enum { MM_OK = 0, MM_ERR_UNSUPPORTED = 76 };
enum { MM_OP_POWMOD = 5, MM_MODULUS_SHARED = 1, MM_RSA_PUBLIC = 0 };

typedef struct mm_plan mm_plan;
typedef struct mm_rsa_key mm_rsa_key;
typedef struct mm_rsa_ring mm_rsa_ring;
typedef int (*mm_progress_fn)(size_t items_done, size_t items_total, void* user);

typedef struct mm_view {
  const uint64_t* limbs;
  size_t count;
  size_t width;
  size_t stride;
  const uint8_t* negative;
} mm_view;

typedef struct mm_result {
  uint64_t* limbs;
  size_t count;
  size_t width;
  size_t stride;
  uint8_t* negative;
} mm_result;

typedef struct mm_plan_options {
  size_t struct_size;
  int op;
  int timing;
  int modulus_kind;
  size_t modulus_bits;
  const char* device;
  const char* variant;
  unsigned threads;
} mm_plan_options;

typedef struct mm_call {
  size_t struct_size;
  size_t count;
  size_t terms;
  mm_view x;
  mm_view y;
  mm_view modulus;
  mm_result result;
  uint8_t* item_status;
  mm_progress_fn progress;
  void* progress_user;
} mm_call;

typedef struct mm_variant_info {
  size_t struct_size;
  const char* name;
  const char* technique;
  int backend;
  unsigned public_ops;
  unsigned secret_ops;
  size_t min_bits, max_bits;
  unsigned instances;
  unsigned threads_per_instance;
  const char* needs;
  const char* summary;
  int usable;
  const char* reason;
} mm_variant_info;

typedef struct mm_device_info {
  size_t struct_size;
  const char* name;
  const char* model;
  int backend;
  const char* features;
  unsigned units;
  uint64_t memory_bytes;
} mm_device_info;

typedef struct mm_bytes {
  const uint8_t* data;
  size_t size;
} mm_bytes;

typedef struct mm_bytes_view {
  size_t count;
  const uint8_t* data;
  size_t size;
  size_t stride;
  const int64_t* offsets;
  const mm_bytes* items;
} mm_bytes_view;

typedef struct mm_bytes_result {
  uint8_t* data;
  size_t count;
  size_t stride;
  size_t* sizes;
} mm_bytes_result;

typedef struct mm_rsa_numbers {
  size_t struct_size;
  mm_bytes n, e, d, p, q, dp, dq, qinv;
  unsigned checks;
} mm_rsa_numbers;

typedef struct mm_rsa_ring_options {
  size_t struct_size;
  const char* device;
  const char* variant;
  unsigned threads;
  int blinding;
} mm_rsa_ring_options;

typedef struct mm_rsa_padding {
  int scheme;
  int hash;
  int mgf_hash;
  int salt_length;
  int prehashed;
  mm_bytes label;
} mm_rsa_padding;

typedef struct mm_rsa_call {
  size_t struct_size;
  int op;
  mm_rsa_padding padding;
  size_t count;
  const uint32_t* key;
  mm_bytes_view input;
  mm_bytes_view signature;
  mm_bytes_result output;
  uint8_t* valid;
  uint8_t* item_status;
  uint8_t* item_recomputed;
  mm_progress_fn progress;
  void* progress_user;
} mm_rsa_call;

int mm_plan_create(const mm_plan_options* options, mm_plan** plan);
int mm_plan_run(mm_plan* plan, const mm_call* call);
void mm_plan_destroy(mm_plan* plan);
int mm_variant_get(size_t index, mm_variant_info* info);
int mm_device_get(size_t position, mm_device_info* info);
int mm_rsa_key_create(const mm_rsa_numbers* numbers, mm_rsa_key** key);
void mm_rsa_key_destroy(mm_rsa_key* key);
int mm_rsa_ring_create(const mm_rsa_ring_options* options, const mm_rsa_key* const* keys, size_t count,
                       mm_rsa_ring** ring);
void mm_rsa_ring_destroy(mm_rsa_ring* ring);
int mm_rsa_run(mm_rsa_ring* ring, const mm_rsa_call* call);
const char* mm_last_error(void);

#endif
