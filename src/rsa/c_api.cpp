// SPDX-License-Identifier: Apache-2.0
// The functions of rsa.h: they check pointers and struct sizes, own the objects and turn exceptions into
// statuses.
#include <memory>
#include <string>
#include <vector>

#include "abi/job.hpp"
#include "abi/last_error.hpp"
#include "abi/required.hpp"
#include "crypto/libcrypto.hpp"
#include "manymod/rsa.h"
#include "repr/bytes.hpp"
#include "rsa/gpus_of.hpp"
#include "rsa/key.hpp"
#include "rsa/ring.hpp"

struct mm_rsa_key {
  std::shared_ptr<const manymod::rsa::Key> key;
};

struct mm_rsa_ring {
  manymod::rsa::Ring ring;
};

namespace {

using manymod::required;
using manymod::required_struct;

mm_rsa_key_info describe(const manymod::rsa::Key& key) {
  mm_rsa_key_info info{};
  info.modulus_bits = key.bits();
  info.modulus_bytes = key.bytes();
  info.exponent_bytes = key.exponent_bytes();
  info.is_private = key.is_private() ? 1 : 0;
  info.primes = key.primes();
  info.pss = key.pss();
  return info;
}

std::vector<std::shared_ptr<const manymod::rsa::Key>> keys_of(const mm_rsa_key* const* keys,
                                                              std::size_t count) {
  if (count != 0) required(keys, "keys");
  std::vector<std::shared_ptr<const manymod::rsa::Key>> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = required(keys[i], ("keys[" + std::to_string(i) + "]").c_str()).key;
  }
  return all;
}

}  // namespace

unsigned manymod::rsa::gpus_of(const mm_rsa_ring& ring) { return ring.ring.gpus(); }

extern "C" {

int mm_rsa_supported(void) { return 1; }

mm_status mm_rsa_key_create(const mm_rsa_numbers* numbers, mm_rsa_key** key) {
  if (key != nullptr) *key = nullptr;
  return manymod::guarded([&] {
    mm_rsa_key*& created = required(key, "key");
    created = new mm_rsa_key{manymod::rsa::key_from_numbers(required_struct(numbers, "numbers"))};
    return MM_OK;
  });
}

mm_status mm_rsa_key_decode(mm_bytes encoded, const mm_rsa_decode_options* options, mm_rsa_key** key) {
  if (key != nullptr) *key = nullptr;
  return manymod::guarded([&] {
    mm_rsa_key*& created = required(key, "key");
    const mm_rsa_decode_options chosen =
        options == nullptr ? mm_rsa_decode_options{} : required_struct(options, "options");
    created = new mm_rsa_key{manymod::rsa::key_from_encoding(encoded, chosen)};
    return MM_OK;
  });
}

mm_status mm_rsa_key_get_info(const mm_rsa_key* key, mm_rsa_key_info* info) {
  return manymod::guarded([&] {
    mm_rsa_key_info& out = required(info, "info");
    manymod::struct_to_caller(describe(*required(key, "key").key), out, "info");
    return MM_OK;
  });
}

mm_status mm_rsa_key_get_public(const mm_rsa_key* key, uint8_t* n, uint8_t* e) {
  return manymod::guarded([&] {
    const manymod::rsa::Key& numbers = *required(key, "key").key;
    std::uint8_t& modulus = required(n, "n");
    std::uint8_t& exponent = required(e, "e");
    manymod::bytes_from_limbs({&modulus, numbers.bytes()}, numbers.n());
    manymod::bytes_from_limbs({&exponent, numbers.exponent_bytes()}, numbers.e());
    return MM_OK;
  });
}

void mm_rsa_key_destroy(mm_rsa_key* key) { delete key; }

mm_status mm_rsa_ring_create(const mm_rsa_ring_options* options, const mm_rsa_key* const* keys, size_t count,
                             mm_rsa_ring** ring) {
  if (ring != nullptr) *ring = nullptr;
  return manymod::guarded([&] {
    mm_rsa_ring*& created = required(ring, "ring");
    const mm_rsa_ring_options chosen =
        options == nullptr ? mm_rsa_ring_options{} : required_struct(options, "options");
    created = new mm_rsa_ring{{chosen, keys_of(keys, count)}};
    return MM_OK;
  });
}

mm_status mm_rsa_ring_get_info(const mm_rsa_ring* ring, mm_rsa_ring_info* info) {
  return manymod::guarded([&] {
    mm_rsa_ring_info& out = required(info, "info");
    manymod::struct_to_caller(required(ring, "ring").ring.info(), out, "info");
    return MM_OK;
  });
}

const char* mm_rsa_ring_variant(const mm_rsa_ring* ring, size_t key, int private_operation, size_t items) {
  return ring == nullptr ? "" : ring->ring.variant_name(key, private_operation != 0, items).c_str();
}

void mm_rsa_ring_destroy(mm_rsa_ring* ring) { delete ring; }

size_t mm_hash_size(mm_hash hash) {
  const manymod::crypto::HashFacts* facts = manymod::crypto::find_hash(hash);
  return facts == nullptr ? 0 : facts->size;
}

mm_status mm_rsa_run(mm_rsa_ring* ring, const mm_rsa_call* call) {
  return manymod::guarded([&] {
    const manymod::crypto::QuietErrors quiet;
    return required(ring, "ring").ring.run(required_struct(call, "call"));
  });
}

mm_status mm_rsa_submit(mm_rsa_ring* ring, const mm_rsa_call* call, mm_done_fn done, void* user,
                        mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return manymod::guarded([&] {
    mm_job*& submitted = required(job, "job");
    const auto run = [&target = required(ring, "ring").ring](const mm_rsa_call& copied) {
      const manymod::crypto::QuietErrors quiet;
      return target.run(copied);
    };
    manymod::submit_call(required_struct(call, "call"), run, {done, user}, submitted);
    return MM_OK;
  });
}

}  // extern "C"
