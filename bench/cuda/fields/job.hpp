// SPDX-License-Identifier: Apache-2.0
// What the program fields and its kernels share: the kernels' argument and their list.
#pragma once

#include <cstdint>

// PRIME(name, bits, class): the fields of common curves.
#define MM_FIELD_PRIMES(PRIME)       \
  PRIME(curve25519, 255, Curve25519) \
  PRIME(secp256k1, 256, Secp256k1)   \
  PRIME(p256, 256, P256)             \
  PRIME(sm2, 256, Sm2)               \
  PRIME(p384, 384, P384)             \
  PRIME(p521, 521, P521)

// KERNEL(technique, prime, operation) for one prime.
#define MM_FIELD_OPERATIONS(KERNEL, technique, prime) \
  KERNEL(technique, prime, mul)                       \
  KERNEL(technique, prime, sqr)                       \
  KERNEL(technique, prime, add)                       \
  KERNEL(technique, prime, sub)
#define MM_FIELD_KERNELS(KERNEL, prime)       \
  MM_FIELD_OPERATIONS(KERNEL, special, prime) \
  MM_FIELD_OPERATIONS(KERNEL, row32, prime)   \
  MM_FIELD_OPERATIONS(KERNEL, dpf52, prime)

namespace manymod::bench {

inline constexpr unsigned kFieldThreads = 128;  ///< of a block
/// Shared memory of a block, in words of a thread: what multipliers of 521 bits may need.
inline constexpr unsigned kFieldSharedWords = 32;

/// Items of `width` 32-bit words each; a thread has one. result = x after `steps` operations x = x op y.
struct FieldJob {
  const std::uint32_t* x;
  const std::uint32_t* y;
  const std::uint32_t* prime;  ///< one number of `width` words
  std::uint32_t* result;
  std::uint32_t count;
  std::uint32_t steps;
  std::uint32_t width;
};

}  // namespace manymod::bench
