/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys, signatures by Ed25519 with the keys of a ring, their verification, and a forged one. */
#include <stdio.h>

#include "manymod/ecc.h"

enum { COUNT = 3, SECRET = 32, POINT = 32, SIGNATURE = 64 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

/* `size` bytes for each item, one behind the other. */
static mm_bytes_view rows(const uint8_t* data, size_t size) {
  mm_bytes_view view = {0};
  view.count = COUNT;
  view.data = data;
  view.size = size;
  return view;
}

int main(void) {
  if (!mm_ecc_supported()) return 0;
  const mm_ecc_curve* curve = mm_ecc_curve_find("Ed25519");
  mm_ecc_plan* plan = NULL;
  if (mm_ecc_plan_create(&curve, 1, NULL, &plan) != MM_OK) return failed("mm_ecc_plan_create");
  printf("variant %s\n", mm_ecc_plan_variant(plan, 0));

  /* Private keys are random numbers; these are for the example only. */
  uint8_t secrets[COUNT * SECRET] = {0};
  for (int i = 0; i < COUNT; ++i) secrets[SECRET * i + SECRET - 1] = (uint8_t)(i + 1);
  uint8_t keys[COUNT * POINT];
  mm_ecc_call call = {0};
  call.struct_size = sizeof call;
  call.op = MM_ECC_PUBLIC_KEY;
  call.count = COUNT;
  call.secret = rows(secrets, SECRET);
  call.output = (mm_bytes_result){keys, COUNT, POINT, NULL};
  if (mm_ecc_run(plan, &call) != MM_OK) return failed("public keys");

  mm_ecc_ring_keys ring_keys = {0};
  ring_keys.struct_size = sizeof ring_keys;
  ring_keys.count = COUNT;
  ring_keys.secret = rows(secrets, SECRET);
  mm_ecc_ring* ring = NULL; /* once, for keys that sign often */
  if (mm_ecc_ring_create(plan, &ring_keys, &ring) != MM_OK) return failed("mm_ecc_ring_create");

  const mm_bytes messages[COUNT] = {
      {(const uint8_t*)"one", 3}, {(const uint8_t*)"two", 3}, {(const uint8_t*)"three", 5}};
  const uint32_t key_of_item[COUNT] = {0, 1, 2};
  uint8_t signatures[COUNT * SIGNATURE];
  mm_ecc_call signing = {0};
  signing.struct_size = sizeof signing;
  signing.op = MM_ECC_SIGN;
  signing.count = COUNT;
  signing.ring = ring; /* in the place of `secret` and `curve` */
  signing.key = key_of_item;
  signing.message.count = COUNT;
  signing.message.items = messages;
  signing.output = (mm_bytes_result){signatures, COUNT, SIGNATURE, NULL};
  if (mm_ecc_run(plan, &signing) != MM_OK) return failed("signatures");

  signatures[SIGNATURE] ^= 1; /* of the second message */
  uint8_t ok[COUNT];
  mm_ecc_call verification = {0};
  verification.struct_size = sizeof verification;
  verification.op = MM_ECC_VERIFY;
  verification.count = COUNT;
  verification.point = rows(keys, POINT);
  verification.message = signing.message;
  verification.signature = rows(signatures, SIGNATURE);
  verification.ok = ok;
  if (mm_ecc_run(plan, &verification) != MM_OK) return failed("verification");
  mm_ecc_ring_destroy(ring);
  mm_ecc_plan_destroy(plan);
  for (int i = 0; i < COUNT; ++i) printf("signature %d: %s\n", i, ok[i] ? "valid" : "not valid");
  return ok[0] == 1 && ok[1] == 0 && ok[2] == 1 ? 0 : 1;
}
