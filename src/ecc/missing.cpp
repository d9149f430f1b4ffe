// SPDX-License-Identifier: Apache-2.0
// The functions of ecc.h in a build without libcrypto.
#include "abi/last_error.hpp"
#include "ecc/gpus_of.hpp"
#include "manymod/ecc.h"

namespace {

mm_status no_curves() {
  return manymod::fail(MM_ERR_UNSUPPORTED,
                       "this build has no curves: it was built without libcrypto of OpenSSL 3");
}

}  // namespace

unsigned manymod::ecc::gpus_of(const mm_ecc_plan&) { return 0; }

extern "C" {

int mm_ecc_supported(void) { return 0; }

const mm_ecc_curve* mm_ecc_curve_find(const char*) { return nullptr; }

const mm_ecc_curve* mm_ecc_curve_at(size_t) { return nullptr; }

mm_status mm_ecc_curve_create(const mm_ecc_curve_numbers*, mm_ecc_curve** curve) {
  if (curve != nullptr) *curve = nullptr;
  return no_curves();
}

void mm_ecc_curve_destroy(mm_ecc_curve*) {}

mm_status mm_ecc_curve_get_info(const mm_ecc_curve*, mm_ecc_curve_info*) { return no_curves(); }

mm_status mm_ecc_key_decode(mm_bytes, const mm_ecc_decode_options*, mm_ecc_key** key) {
  if (key != nullptr) *key = nullptr;
  return no_curves();
}

mm_status mm_ecc_key_get_info(const mm_ecc_key*, mm_ecc_key_info*) { return no_curves(); }

void mm_ecc_key_destroy(mm_ecc_key*) {}

mm_status mm_ecc_plan_create(const mm_ecc_curve* const*, size_t, const mm_ecc_plan_options*,
                             mm_ecc_plan** plan) {
  if (plan != nullptr) *plan = nullptr;
  return no_curves();
}

const char* mm_ecc_plan_variant(const mm_ecc_plan*, size_t) { return ""; }

void mm_ecc_plan_destroy(mm_ecc_plan*) {}

mm_status mm_ecc_ring_create(mm_ecc_plan*, const mm_ecc_ring_keys*, mm_ecc_ring** ring) {
  if (ring != nullptr) *ring = nullptr;
  return no_curves();
}

void mm_ecc_ring_destroy(mm_ecc_ring*) {}

const char* mm_ecc_variant_at(size_t) { return nullptr; }

int mm_ecc_variant_usable(const char*, const mm_ecc_curve*) { return 0; }

mm_status mm_ecc_run(mm_ecc_plan*, const mm_ecc_call*) { return no_curves(); }

mm_status mm_ecc_result_bytes(const mm_ecc_plan*, const mm_ecc_call*, size_t*) { return no_curves(); }

mm_status mm_ecc_submit(mm_ecc_plan*, const mm_ecc_call*, mm_done_fn, void*, mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return no_curves();
}

}  // extern "C"
