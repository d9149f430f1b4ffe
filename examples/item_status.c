/* SPDX-License-Identifier: Apache-2.0 */
/* Powers modulo one shared 127-bit modulus, one of which does not exist: statuses item by item. */
#include <inttypes.h>
#include <stdio.h>

#include "manymod/manymod.h"

enum { COUNT = 4, WIDTH = 2 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

int main(void) {
  /* Little-endian limbs. Bases 3, 2^64 + 5, 7, 0; exponents 65537, 65537, 0, -1; modulus 2^127 - 1. */
  const uint64_t bases[COUNT * WIDTH] = {3, 0, 5, 1, 7, 0, 0, 0};
  const uint64_t exponents[COUNT] = {65537, 65537, 0, 1};
  const uint8_t exponent_is_negative[COUNT] = {0, 0, 0, 1};
  const uint64_t modulus[WIDTH] = {UINT64_MAX, UINT64_MAX >> 1};
  uint64_t powers[COUNT * WIDTH];
  uint8_t statuses[COUNT];

  mm_plan_options options = {0};
  options.struct_size = sizeof options;
  options.op = MM_OP_POWMOD;
  options.timing = MM_TIMING_PUBLIC;
  options.modulus_kind = MM_MODULUS_SHARED;
  options.modulus_bits = 127;
  mm_plan* plan = NULL;
  if (mm_plan_create(&options, &plan) != MM_OK) return failed("mm_plan_create");
  printf("variant %s\n", mm_plan_variant(plan));

  mm_call call = {0};
  call.struct_size = sizeof call;
  call.count = COUNT;
  call.x = (mm_view){bases, COUNT, WIDTH, 0, NULL};
  call.y = (mm_view){exponents, COUNT, 1, 0, exponent_is_negative};
  call.modulus = (mm_view){modulus, 1, WIDTH, 0, NULL};
  call.result = (mm_result){powers, COUNT, WIDTH, 0, NULL};
  call.item_status = statuses;

  const mm_status status = mm_plan_run(plan, &call);
  mm_plan_destroy(plan);
  if (status != MM_OK && status != MM_ERR_ITEMS) return failed("mm_plan_run");

  for (int i = 0; i < COUNT; ++i) {
    if (statuses[i] == MM_OK) {
      printf("%d: 0x%016" PRIx64 "%016" PRIx64 "\n", i, powers[2 * i + 1], powers[2 * i]);
    } else {
      printf("%d: %s\n", i, mm_status_message((mm_status)statuses[i]));
    }
  }
  const int right = status == MM_ERR_ITEMS && powers[0] == 0xd8eb760e6301408u &&
                    powers[1] == 0x37002cd96c28f67u && powers[4] == 1 && statuses[2] == MM_OK &&
                    statuses[3] == MM_ITEM_NOT_INVERTIBLE;
  return right ? 0 : 1;
}
