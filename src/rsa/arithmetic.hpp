// SPDX-License-Identifier: Apache-2.0
// Arithmetic on single numbers of a private operation before and after its powers: blinding and the Chinese
// remainder theorem. Timing: constant-time, except where noted.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "modmul/scalar64/montgomery.hpp"
#include "repr/limbs.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

/// r^e and r^-1 mod n for a random r, in Montgomery form with R = 2^(64 limbs of n).
struct BlindingPair {
  limbs::Buffer factor;   ///< r^e R mod n
  limbs::Buffer inverse;  ///< r^-1 R mod n
  unsigned uses_left = 0;
};

/// x = x^exponent mod n in Montgomery form.
///
/// On input: x < n, `scratch`: as for products modulo n. Timing: constant-time in x, variable-time in the
/// exponent.
void raise_to_exponent(Limb* x, const scalar64::Montgomery& n, std::span<const Limb> exponent, Limb* scratch);

/// Precomputed constants of a private key, which must outlive it. Thread-safe.
class PrivateArithmetic {
 public:
  /// On input: a private key.
  explicit PrivateArithmetic(const Key& key);

  /// Limbs of scratch that each function below needs.
  [[nodiscard]] std::size_t scratch_limbs() const;

  /// A pair of a fresh random r that may be used `uses` times.
  /// @throws StatusError MM_ERR_CRYPTO if libcrypto gives no random bytes
  [[nodiscard]] BlindingPair fresh_pair(unsigned uses) const;
  /// Replace the pair of r by that of r^2.
  void square(BlindingPair& pair, Limb* scratch) const;

  [[nodiscard]] const scalar64::Montgomery& modulo_n() const { return n_; }
  [[nodiscard]] const scalar64::Montgomery& modulo_p() const { return p_; }

  /// r = x factor / R mod n, almost reduced: with the factor of a pair, the product of x and its r^e.
  ///
  /// On input: x < n, factor < R, both in n's limbs. On output: r < R, congruent to x factor / R modulo n.
  /// Aliasing: r may be x.
  void multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;
  /// The same, fully reduced. On output: r < n.
  void multiply_reduced(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;

  /// r = the number below n that is a modulo p and b modulo q, by Garner's formula b + q ((a - b) qinv mod
  /// p); with more primes, extended to the residue x modulo each further prime s, whose product of earlier
  /// primes is m, by r + m ((x - r) m^-1 mod s).
  ///
  /// On input: the residue of prime i is residues[i stride ..], below the prime, in p's limbs. On output: r <
  /// n, in n's limbs.
  void combine(Limb* r, const Limb* residues, std::size_t stride, Limb* scratch) const;

 private:
  const Key& key_;
  scalar64::Montgomery n_;
  scalar64::Montgomery p_;
  limbs::Buffer qinv_;                        ///< in Montgomery form modulo p
  std::vector<scalar64::Montgomery> others_;  ///< modulo the primes after p and q

  /// number = the number that is `number` modulo m and `residue` modulo prime i, where m is the product of
  /// the primes before it. On input: number < m, in n's limbs. On output: number < m times the prime.
  void extend(std::span<Limb> number, std::size_t i, const Limb* residue) const;
};

}  // namespace manymod::rsa
