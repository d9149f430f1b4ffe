// SPDX-License-Identifier: Apache-2.0
// RSA keys of the tests for the fuzzing harnesses, and what is expected of a key that the library accepted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpp/rsa/test_primes.hpp"
#include "fuzz/bignum.hpp"
#include "fuzz/choices.hpp"
#include "manymod/rsa.h"

namespace manymod::fuzz {

struct FreeRsa {
  void operator()(mm_rsa_key* key) const { mm_rsa_key_destroy(key); }
  void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
};
using Key = std::unique_ptr<mm_rsa_key, FreeRsa>;
using Ring = std::unique_ptr<mm_rsa_ring, FreeRsa>;

inline Number number_of_hex(const char* digits) {
  BIGNUM* number = nullptr;
  require(BN_hex2bn(&number, digits) > 0, "the oracle failed");
  return Number(number);
}

/// The numbers of a key, in the order of mm_rsa_numbers.
enum Part : std::uint8_t { kN, kE, kD, kP, kQ, kDp, kDq, kQinv, kParts };

/// The numbers of the test key at `index` in kTestPrimes.
struct KeyNumbers {
  std::array<Number, kParts> part;

  explicit KeyNumbers(std::size_t index) {
    const testing::TestPrimes& primes = testing::kTestPrimes[index];
    part[kE] = number_of_hex(primes.e);
    part[kP] = number_of_hex(primes.p);
    part[kQ] = number_of_hex(primes.q);
    part[kN] = product(part[kP], part[kQ]);
    const Number p1 = minus(part[kP], 1);
    const Number q1 = minus(part[kQ], 1);
    Number common(BN_new());
    Number order(BN_new());
    did(BN_gcd(common.get(), p1.get(), q1.get(), scratch()));
    did(BN_div(order.get(), nullptr, product(p1, q1).get(), common.get(), scratch()));
    part[kD] = inverse(part[kE], order);
    part[kDp] = remainder(part[kD], p1);
    part[kDq] = remainder(part[kD], q1);
    part[kQinv] = inverse(part[kQ], part[kP]);
  }
};

/// The public numbers of a key are in their ranges, the key is described truly, and a private operation of it
/// is undone by the public one. `primes_are_known`: p and q are prime, so that no item may fail its check.
inline void check_key(const mm_rsa_key* key, bool primes_are_known) {
  mm_rsa_key_info info{};
  info.struct_size = sizeof info;
  require(mm_rsa_key_get_info(key, &info) == MM_OK, "mm_rsa_key_get_info");
  Bytes n_bytes(info.modulus_bytes);
  Bytes e_bytes(info.exponent_bytes);
  require(mm_rsa_key_get_public(key, n_bytes.data(), e_bytes.data()) == MM_OK, "mm_rsa_key_get_public");
  const Number n = number_of_bytes(n_bytes);
  const Number e = number_of_bytes(e_bytes);
  const auto bits = static_cast<std::size_t>(BN_num_bits(n.get()));
  require(bits == info.modulus_bits && (bits + 7) / 8 == info.modulus_bytes, "sizes of n");
  require(bits >= MM_RSA_MIN_BITS && bits <= MM_RSA_MAX_BITS && BN_is_odd(n.get()), "range of n");
  require(BN_is_odd(e.get()) && !BN_is_one(e.get()) && BN_cmp(e.get(), n.get()) < 0, "range of e");
  require(static_cast<std::size_t>(BN_num_bytes(e.get())) == info.exponent_bytes, "size of e");
  if (info.is_private == 0) return;

  mm_rsa_ring* created = nullptr;
  require(mm_rsa_ring_create(nullptr, &key, 1, &created) == MM_OK, "mm_rsa_ring_create");
  const Ring ring(created);
  const Bytes message(info.modulus_bytes - 1, 0x5A);
  Bytes result(info.modulus_bytes);
  std::uint8_t item_status = 0;
  mm_rsa_call call{};
  call.struct_size = sizeof call;
  call.op = MM_RSA_PRIVATE;
  call.count = 1;
  call.input = {1, message.data(), message.size(), 0, nullptr, nullptr};
  call.output = {result.data(), 1, result.size(), nullptr};
  call.item_status = &item_status;
  const mm_status status = mm_rsa_run(ring.get(), &call);
  const Number found = number_of_bytes(result);
  // The item of a key that is restricted to a padding has another status.
  if (status == MM_ERR_ITEMS && (!primes_are_known || item_status != MM_ITEM_RSA_FAULT)) {
    require(item_status != MM_OK && BN_is_zero(found.get()), "an item without a result");
    return;
  }
  require(status == MM_OK && item_status == MM_OK, "a private operation of an accepted key failed");
  require(same(power(found, e, n), number_of_bytes(message)), "a wrong result of a private operation");
}

}  // namespace manymod::fuzz
