/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of crypto_mb's mbx_exp_mb8 becomes: secret exponents and a modulus for each item, of any number
 * of items. The moduli are primes, so that x^n = x mod n. */
#include <stdio.h>
#include <string.h>

#include "manymod/manymod.h"

enum { ITEMS = 11, WORDS = 10, BITS = 64 * WORDS };

int main(void) {
  /* 2^521 - 1 and 2^607 - 1 in turn, as little-endian words, one number behind the other. */
  uint64_t base[ITEMS][WORDS] = {{0}}, modulus[ITEMS][WORDS], exponent[ITEMS][WORDS], power[ITEMS][WORDS];
  for (int i = 0; i < ITEMS; ++i) {
    const int bits = i % 2 == 0 ? 521 : 607;
    for (int j = 0; j < WORDS; ++j) {
      const int left = bits - 64 * j;
      modulus[i][j] = left >= 64 ? UINT64_MAX : left > 0 ? (UINT64_C(1) << left) - 1 : 0;
    }
    base[i][i % 8] = (uint64_t)i + 2;
    memcpy(exponent[i], modulus[i], sizeof exponent[i]);
  }

  mm_plan_options options = {0};
  options.struct_size = sizeof options;
  options.op = MM_OP_POWMOD;
  options.timing = MM_TIMING_SECRET;
  options.modulus_kind = MM_MODULUS_EACH;
  options.modulus_bits = BITS;
  mm_plan* plan = NULL; /* once; mbx_exp_BufferSize has no counterpart */
  if (mm_plan_create(&options, &plan) != MM_OK) {
    fprintf(stderr, "mm_plan_create: %s\n", mm_last_error());
    return 1;
  }

  uint8_t item_status[ITEMS];
  mm_call call = {0};
  call.struct_size = sizeof call;
  call.count = ITEMS; /* any number, not 8 */
  call.x = (mm_view){&base[0][0], ITEMS, WORDS, 0, NULL};
  call.y = (mm_view){&exponent[0][0], ITEMS, WORDS, 0, NULL};
  call.modulus = (mm_view){&modulus[0][0], ITEMS, WORDS, 0, NULL};
  call.result = (mm_result){&power[0][0], ITEMS, WORDS, 0, NULL};
  call.item_status = item_status; /* instead of the mbx_status of each lane */
  const mm_status status = mm_plan_run(plan, &call);

  printf("computed by %s\n", mm_plan_variant_for(plan, ITEMS));
  mm_plan_destroy(plan);
  if (status != MM_OK) {
    fprintf(stderr, "mm_plan_run: %s\n", mm_status_message(status));
    return 1;
  }
  return memcmp(power, base, sizeof power) == 0 ? 0 : 1;
}
