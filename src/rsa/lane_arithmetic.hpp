// SPDX-License-Identifier: Apache-2.0
// Blinding as many numbers of one key at a time as a vector has lanes. Timing: secret, sizes alone decide.
#pragma once

#include <cstddef>

#include "lanes/moduli.hpp"
#include "rsa/arithmetic.hpp"

namespace manymod::rsa {

/// Of a private key whose n is in every lane of `n`. Its pairs are elements of n's technique, with a random r
/// of its own in each lane. Both must outlive it.
class LaneArithmetic {
 public:
  LaneArithmetic(const lanes::Moduli& n, const PrivateArithmetic& single) : n_(n), single_(single) {}

  [[nodiscard]] std::size_t lanes() const { return n_.kernels().lanes; }
  /// Limbs of an element.
  [[nodiscard]] std::size_t words() const { return n_.words(); }
  /// Limbs of scratch for each function below.
  [[nodiscard]] std::size_t scratch_limbs() const;

  /// As PrivateArithmetic's, for lanes() times `uses` numbers.
  [[nodiscard]] BlindingPair fresh_pair(unsigned uses) const;
  void square(BlindingPair& pair, Limb* scratch) const;

  /// Row by row r = x factor / R mod n, r < n: x r^e or x r^-1 by the factors of a pair. In: lanes() rows of
  /// n's limbs, x < R (of any other x, which a fault may leave, r is some number below n); factor an element.
  /// r may be x.
  void multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const;

 private:
  const lanes::Moduli& n_;
  const PrivateArithmetic& single_;

  /// Where an element begins behind the scratch of `n`.
  [[nodiscard]] std::size_t element_offset() const { return (n_.scratch_words() + 7) / 8 * 8; }
};

}  // namespace manymod::rsa
