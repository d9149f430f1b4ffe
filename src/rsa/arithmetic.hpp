// SPDX-License-Identifier: Apache-2.0
// What a private operation does to single numbers around its powers: blinding and the Chinese remainder
// theorem, modulo the numbers of one key. Timing: secret, sizes alone decide.
#pragma once

#include <cstddef>
#include <span>

#include "modmul/scalar64/montgomery.hpp"
#include "repr/limbs.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

/// r^e and r^-1 mod n for a random r, in Montgomery form.
struct BlindingPair {
  limbs::Buffer factor;   ///< r^e R mod n
  limbs::Buffer inverse;  ///< r^-1 R mod n
  unsigned uses_left = 0;
};

/// The fastest that this processor runs.
const scalar64::Kernels& fastest_kernels();

/// x = x^exponent in Montgomery form modulo n. Timing: the exponent is public. `scratch`: as for n's
/// products.
void raise_to_exponent(Limb* x, const scalar64::Montgomery& n, std::span<const Limb> exponent, Limb* scratch);

/// Of a private key, which must outlive it. Safe to use from several threads.
class PrivateArithmetic {
 public:
  explicit PrivateArithmetic(const Key& key);

  /// Limbs of scratch for each function below.
  [[nodiscard]] std::size_t scratch_limbs() const;

  /// A pair for a fresh random r, good for `uses` numbers.
  /// @throws StatusError MM_ERR_CRYPTO without randomness
  [[nodiscard]] BlindingPair fresh_pair(unsigned uses) const;
  /// The pair of r^2.
  void square(BlindingPair& pair, Limb* scratch) const;

  [[nodiscard]] const scalar64::Montgomery& modulo_n() const { return n_; }
  [[nodiscard]] const scalar64::Montgomery& modulo_p() const { return p_; }

  /// r = x factor / R mod n up to a multiple of n, r < R: x r^e. x < n; n's limbs. r may be x.
  void multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;
  /// The same, reduced: r < n.
  void multiply_reduced(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;

  /// r = the number below n that is a mod p and b mod q (Garner): b + q ((a - b) qinv mod p).
  /// In: a < p and b < q, each in p's limbs. Out: n's limbs.
  void combine(Limb* r, const Limb* a, const Limb* b, Limb* scratch) const;

 private:
  const Key& key_;
  scalar64::Montgomery n_;
  scalar64::Montgomery p_;
  limbs::Buffer qinv_;  ///< in Montgomery form modulo p
};

}  // namespace manymod::rsa
