// SPDX-License-Identifier: Apache-2.0
// The functions of rsa.h in a build without libcrypto.
#include "abi/last_error.hpp"
#include "manymod/rsa.h"
#include "rsa/gpus_of.hpp"

namespace {

mm_status no_rsa() {
  return manymod::fail(MM_ERR_UNSUPPORTED,
                       "this build has no RSA: it was built without libcrypto of OpenSSL 3");
}

}  // namespace

unsigned manymod::rsa::gpus_of(const mm_rsa_ring&) { return 0; }

extern "C" {

int mm_rsa_supported(void) { return 0; }

mm_status mm_rsa_key_create(const mm_rsa_numbers*, mm_rsa_key** key) {
  if (key != nullptr) *key = nullptr;
  return no_rsa();
}

mm_status mm_rsa_key_decode(mm_bytes, const mm_rsa_decode_options*, mm_rsa_key** key) {
  if (key != nullptr) *key = nullptr;
  return no_rsa();
}

mm_status mm_rsa_key_get_info(const mm_rsa_key*, mm_rsa_key_info*) { return no_rsa(); }

mm_status mm_rsa_key_get_public(const mm_rsa_key*, uint8_t*, uint8_t*) { return no_rsa(); }

void mm_rsa_key_destroy(mm_rsa_key*) {}

mm_status mm_rsa_ring_create(const mm_rsa_ring_options*, const mm_rsa_key* const*, size_t,
                             mm_rsa_ring** ring) {
  if (ring != nullptr) *ring = nullptr;
  return no_rsa();
}

mm_status mm_rsa_ring_get_info(const mm_rsa_ring*, mm_rsa_ring_info*) { return no_rsa(); }

const char* mm_rsa_ring_variant(const mm_rsa_ring*, size_t, int, size_t) { return ""; }

void mm_rsa_ring_destroy(mm_rsa_ring*) {}

size_t mm_hash_size(mm_hash) { return 0; }

mm_status mm_rsa_run(mm_rsa_ring*, const mm_rsa_call*) { return no_rsa(); }

mm_status mm_rsa_submit(mm_rsa_ring*, const mm_rsa_call*, mm_done_fn, void*, mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return no_rsa();
}

}  // extern "C"
