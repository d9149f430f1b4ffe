// SPDX-License-Identifier: Apache-2.0
// Blinding of several numbers of one key at once, one in each lane of a vector. Timing: constant-time.
#pragma once

#include <cstddef>

#include "lanes/moduli.hpp"
#include "rsa/arithmetic.hpp"

namespace manymod::rsa {

/// Vector counterpart of PrivateArithmetic for a key whose modulus is in every lane of `n`. Its pairs are
/// elements of n's technique with an independent random r in each lane. `n` and `single` must outlive it.
class LaneArithmetic {
 public:
  LaneArithmetic(const lanes::Moduli& n, const PrivateArithmetic& single) : n_(n), single_(single) {}

  [[nodiscard]] std::size_t lanes() const { return n_.kernels().lanes; }
  /// Limbs of an element.
  [[nodiscard]] std::size_t words() const { return n_.words(); }
  /// Limbs of scratch that each function below needs.
  [[nodiscard]] std::size_t scratch_limbs() const;

  /// A pair that may be used `uses` times, for lanes() numbers each time.
  /// @throws StatusError MM_ERR_CRYPTO if libcrypto gives no random bytes
  [[nodiscard]] BlindingPair fresh_pair(unsigned uses) const;
  /// Replace the r of each lane by r^2.
  void square(BlindingPair& pair, Limb* scratch) const;

  /// r_i = x_i factor_i / R mod n for each lane i: x r^e or x r^-1 with the two members of a pair.
  ///
  /// On input: lanes() rows x_i < R of n's limbs (for a larger x_i, which a fault may leave, r_i is some
  /// number below n); `factor`: an element. On output: rows r_i < n of n's limbs. Aliasing: r may be x.
  void multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;

 private:
  const lanes::Moduli& n_;
  const PrivateArithmetic& single_;

  /// Offset of the element that follows the scratch of `n`, a multiple of 8 limbs.
  [[nodiscard]] std::size_t element_offset() const { return (n_.scratch_words() + 7) / 8 * 8; }
};

}  // namespace manymod::rsa
