/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys, signatures by ECDSA on P-256, their verification, and what becomes of a forged one. */
#include <stdio.h>

#include "manymod/ecc.h"

enum { COUNT = 3, SECRET = 32, POINT = 33, SIGNATURE = 64 };

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
  const mm_ecc_curve* curve = mm_ecc_curve_find("P-256");
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
  call.point_format = MM_ECC_COMPRESSED;
  call.output = (mm_bytes_result){keys, COUNT, POINT, NULL};
  if (mm_ecc_run(plan, &call) != MM_OK) return failed("public keys");

  const mm_bytes messages[COUNT] = {
      {(const uint8_t*)"one", 3}, {(const uint8_t*)"two", 3}, {(const uint8_t*)"three", 5}};
  uint8_t signatures[COUNT * SIGNATURE];
  call.op = MM_ECC_SIGN;
  call.message.count = COUNT;
  call.message.items = messages;
  call.point_format = MM_ECC_UNCOMPRESSED;
  call.output = (mm_bytes_result){signatures, COUNT, SIGNATURE, NULL};
  if (mm_ecc_run(plan, &call) != MM_OK) return failed("signatures");

  signatures[SIGNATURE] ^= 1; /* of the second message */
  uint8_t ok[COUNT];
  mm_ecc_call verification = {0};
  verification.struct_size = sizeof verification;
  verification.op = MM_ECC_VERIFY;
  verification.count = COUNT;
  verification.point = rows(keys, POINT);
  verification.message = call.message;
  verification.signature = rows(signatures, SIGNATURE);
  verification.ok = ok;
  if (mm_ecc_run(plan, &verification) != MM_OK) return failed("verification");
  mm_ecc_plan_destroy(plan);
  for (int i = 0; i < COUNT; ++i) printf("signature %d: %s\n", i, ok[i] ? "valid" : "not valid");
  return ok[0] == 1 && ok[1] == 0 && ok[2] == 1 ? 0 : 1;
}
