/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop of secp256k1_ecdsa_verify becomes: ECDSA signatures on secp256k1, in one call. One is genuine,
 * one is of another digest, and one names a public key that is none. */
#include <stdio.h>
#include <string.h>

#include "manymod/ecc.h"

enum { COUNT = 3, KEY = 33, DIGEST = 32, SIGNATURE = 64 };

/* By the private key 1 of the SHA-256 digest of "Satoshi Nakamoto", by RFC 6979; r || s, with low s. */
static const uint8_t kKey[KEY] = {0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0,
                                  0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d,
                                  0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98};
static const uint8_t kDigest[DIGEST] = {0xa0, 0xdc, 0x65, 0xff, 0xca, 0x79, 0x98, 0x73, 0xcb, 0xea, 0x0a,
                                        0xc2, 0x74, 0x01, 0x5b, 0x95, 0x26, 0x50, 0x5d, 0xaa, 0xae, 0xd3,
                                        0x85, 0x15, 0x54, 0x25, 0xf7, 0x33, 0x77, 0x04, 0x88, 0x3e};
static const uint8_t kSignature[SIGNATURE] = {
    0x93, 0x4b, 0x1e, 0xa1, 0x0a, 0x4b, 0x3c, 0x17, 0x57, 0xe2, 0xb0, 0xc0, 0x17, 0xd0, 0xb6, 0x14,
    0x3c, 0xe3, 0xc9, 0xa7, 0xe6, 0xa4, 0xa4, 0x98, 0x60, 0xd7, 0xa6, 0xab, 0x21, 0x0e, 0xe3, 0xd8,
    0x24, 0x42, 0xce, 0x9d, 0x2b, 0x91, 0x60, 0x64, 0x10, 0x80, 0x14, 0x78, 0x3e, 0x92, 0x3e, 0xc3,
    0x6b, 0x49, 0x74, 0x3e, 0x2f, 0xfa, 0x1c, 0x44, 0x96, 0xf0, 0x1a, 0x51, 0x2a, 0xaf, 0xd9, 0xe5};

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

/* One item of `size` bytes behind the other. */
static mm_bytes_view rows(const void* data, size_t size) {
  mm_bytes_view view = {0};
  view.count = COUNT;
  view.data = data;
  view.size = size;
  return view;
}

int main(void) {
  if (!mm_ecc_supported()) return 0;
  uint8_t keys[COUNT][KEY], digests[COUNT][DIGEST], signatures[COUNT][SIGNATURE];
  for (int i = 0; i < COUNT; ++i) {
    memcpy(keys[i], kKey, KEY);
    memcpy(digests[i], kDigest, DIGEST);
    memcpy(signatures[i], kSignature, SIGNATURE);
  }
  digests[1][0] ^= 1;
  keys[2][0] = 5; /* no prefix of SEC 1 */

  const mm_ecc_curve* curve = mm_ecc_curve_find("secp256k1");
  mm_ecc_plan* plan = NULL; /* once, instead of secp256k1_context_create */
  if (mm_ecc_plan_create(&curve, 1, NULL, &plan) != MM_OK) return failed("mm_ecc_plan_create");

  uint8_t ok[COUNT], item_status[COUNT];
  mm_ecc_call call = {0};
  call.struct_size = sizeof call;
  call.op = MM_ECC_VERIFY;
  call.count = COUNT;
  call.point = rows(keys, KEY); /* 33 or 65 bytes, parsed and checked here */
  call.message = rows(digests, DIGEST);
  call.prehashed = 1;
  call.signature = rows(signatures, SIGNATURE); /* as secp256k1_ecdsa_signature_parse_compact takes them */
  call.ok = ok;
  call.item_status = item_status;
  if (mm_ecc_run(plan, &call) != MM_OK) return failed("mm_ecc_run");

  mm_ecc_plan_destroy(plan);
  for (int i = 0; i < COUNT; ++i) printf("%d: %s\n", ok[i], mm_status_message((mm_status)item_status[i]));
  const int right = ok[0] == 1 && ok[1] == 0 && ok[2] == 0 && item_status[2] == MM_ITEM_ECC_POINT;
  return right ? 0 : 1;
}
