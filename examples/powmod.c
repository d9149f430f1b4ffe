/* SPDX-License-Identifier: Apache-2.0 */
/* Raises four numbers to the power 65537 modulo p = 2^255 - 19 in one call, through the C ABI. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "manymod/manymod.h"

enum { ITEMS = 4, WIDTH = 4 };

static void print_item(const uint64_t* limbs) {
  for (int j = WIDTH - 1; j >= 0; --j) printf("%016" PRIx64, limbs[j]);
  printf("\n");
}

int main(void) {
  /* Little-endian limbs: item i is sum_j base[i][j] * 2^(64 j). */
  const uint64_t base[ITEMS][WIDTH] = {{2}, {3}, {5}, {7}};
  const uint64_t exponent[1] = {65537};
  const uint64_t p[WIDTH] = {0xffffffffffffffedu, 0xffffffffffffffffu, 0xffffffffffffffffu,
                             0x7fffffffffffffffu};
  uint64_t power[ITEMS][WIDTH];
  uint8_t item_status[ITEMS];

  mm_plan_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.op = MM_OP_POWMOD;
  options.modulus_kind = MM_MODULUS_SHARED;
  options.modulus_bits = 255;

  mm_plan* plan = NULL;
  if (mm_plan_create(&options, &plan) != MM_OK) {
    fprintf(stderr, "mm_plan_create: %s\n", mm_last_error());
    return 1;
  }

  mm_call call;
  memset(&call, 0, sizeof call);
  call.struct_size = sizeof call;
  call.count = ITEMS;
  call.x = (mm_view){&base[0][0], ITEMS, WIDTH, WIDTH, NULL};
  call.y = (mm_view){exponent, 1, 1, 1, NULL}; /* one exponent that all items share */
  call.modulus = (mm_view){p, 1, WIDTH, WIDTH, NULL};
  call.result = (mm_result){&power[0][0], ITEMS, WIDTH, WIDTH, NULL};
  call.item_status = item_status;

  const mm_status status = mm_plan_run(plan, &call);
  if (status != MM_OK) {
    fprintf(stderr, "mm_plan_run: %s: %s\n", mm_status_name(status), mm_last_error());
    mm_plan_destroy(plan);
    return 1;
  }

  printf("computed by %s\n", mm_plan_variant(plan));
  for (int i = 0; i < ITEMS; ++i) {
    printf("%" PRIu64 "^65537 mod 2^255-19 = ", base[i][0]);
    print_item(power[i]);
  }
  mm_plan_destroy(plan);

  /* pow(5, 65537, 2**255 - 19) in Python */
  const uint64_t known[WIDTH] = {0x7c72c980d9e5b861u, 0xdd870f513ea59b34u, 0x7051c8d3de0affb2u,
                                 0x720b7cab1772c72au};
  if (memcmp(power[2], known, sizeof known) != 0) {
    fprintf(stderr, "wrong answer for base 5\n");
    return 1;
  }
  return 0;
}
