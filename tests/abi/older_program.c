/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was compiled against the headers of version 0.1 and runs with this version's shared library:
 * no byte behind its structs is read or written, and the answers are right. */
#include <stdio.h>
#include <string.h>

#include "manymod_0_1.h"

/* A struct whose surroundings are 0xff bytes, which would be noticed if the library took them for members. */
#define GUARDED(Struct)           \
  struct {                        \
    Struct is;                    \
    unsigned char behind[4 * 64]; \
  }

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  ++failures;
}

static int untouched(const unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] != 0xff) return 0;
  }
  return 1;
}

#define PREPARE(guarded)                          \
  memset(&(guarded), 0xff, sizeof(guarded));      \
  memset(&(guarded).is, 0, sizeof((guarded).is)); \
  (guarded).is.struct_size = sizeof((guarded).is)

#define EXPECT_UNTOUCHED(guarded) \
  expect(untouched((guarded).behind, sizeof((guarded).behind)), "behind " #guarded)

static void power(void) {
  GUARDED(mm_plan_options) options;
  PREPARE(options);
  options.is.op = MM_OP_POWMOD;
  options.is.modulus_kind = MM_MODULUS_SHARED;
  options.is.modulus_bits = 64;
  options.is.device = "cpu";
  mm_plan* plan = NULL;
  expect(mm_plan_create(&options.is, &plan) == MM_OK, "mm_plan_create");
  if (plan == NULL) return;

  const uint64_t bases[2] = {2, 3};
  const uint64_t exponent = 10;
  const uint64_t modulus = 1000003;
  uint64_t powers[2] = {0, 0};
  GUARDED(mm_call) call;
  PREPARE(call);
  call.is.count = 2;
  call.is.x = (mm_view){bases, 2, 1, 1, NULL};
  call.is.y = (mm_view){&exponent, 1, 1, 1, NULL};
  call.is.modulus = (mm_view){&modulus, 1, 1, 1, NULL};
  call.is.result = (mm_result){powers, 2, 1, 1, NULL};
  expect(mm_plan_run(plan, &call.is) == MM_OK, "mm_plan_run");
  expect(powers[0] == 1024 && powers[1] == 59049, "2^10, 3^10");
  mm_plan_destroy(plan);
}

static void descriptions(void) {
  GUARDED(mm_variant_info) variant;
  PREPARE(variant);
  expect(mm_variant_get(0, &variant.is) == MM_OK, "mm_variant_get");
  expect(variant.is.name != NULL && variant.is.reason != NULL, "a variant's name and reason");
  EXPECT_UNTOUCHED(variant);
  GUARDED(mm_device_info) device;
  PREPARE(device);
  expect(mm_device_get(0, &device.is) == MM_OK, "mm_device_get");
  expect(device.is.name != NULL && strcmp(device.is.name, "cpu") == 0, "the CPU's name");
  EXPECT_UNTOUCHED(device);
}

static void rsa(void) {
  uint8_t n[128]; /* 2^1024 - 105 */
  memset(n, 0xff, sizeof n);
  n[127] = 0x97;
  const uint8_t e = 3;
  GUARDED(mm_rsa_numbers) numbers;
  PREPARE(numbers);
  numbers.is.n = (mm_bytes){n, sizeof n};
  numbers.is.e = (mm_bytes){&e, 1};
  mm_rsa_key* key = NULL;
  const int made = mm_rsa_key_create(&numbers.is, &key);
  if (made == MM_ERR_UNSUPPORTED) {
    puts("without RSA: this build has no libcrypto");
    return;
  }
  expect(made == MM_OK, "mm_rsa_key_create");
  GUARDED(mm_rsa_ring_options) options;
  PREPARE(options);
  options.is.device = "cpu";
  const mm_rsa_key* const keys[1] = {key};
  mm_rsa_ring* ring = NULL;
  expect(key != NULL && mm_rsa_ring_create(&options.is, keys, 1, &ring) == MM_OK, "mm_rsa_ring_create");
  if (ring != NULL) {
    const uint8_t message = 5;
    uint8_t power[128];
    GUARDED(mm_rsa_call) call;
    PREPARE(call);
    call.is.op = MM_RSA_PUBLIC;
    call.is.count = 1;
    call.is.input = (mm_bytes_view){1, &message, 1, 1, NULL, NULL};
    call.is.output = (mm_bytes_result){power, 1, sizeof power, NULL};
    expect(mm_rsa_run(ring, &call.is) == MM_OK, "mm_rsa_run");
    expect(power[0] == 0 && power[127] == 125, "5^3");
  }
  mm_rsa_ring_destroy(ring);
  mm_rsa_key_destroy(key);
}

int main(void) {
  power();
  descriptions();
  rsa();
  if (failures == 0) puts("a program of version 0.1 computes with this library");
  return failures != 0;
}
