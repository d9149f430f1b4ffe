// SPDX-License-Identifier: Apache-2.0
// Remainders modulo any modulus, odd or even, in constant time.
#pragma once

#include <cstddef>
#include <span>

#include "core/ticker.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// A modulus n >= 1 of L limbs, prepared for division: its top 64 bits, from its highest set bit on, and
/// their reciprocal. Preparing costs some 64 short steps for any L, so that a modulus that is used once is
/// prepared as well.
class ConstantTimeDivisor {
 public:
  /// Prepares for n, which is referenced. On input: the top limb of n is not 0. Timing: constant, except that
  /// the bit length of n is public.
  void assign(std::span<const Limb> n);

  /// r = x mod n, or -|x| mod n if `negative`. On input: r.size() == L; |x| of any size. On output: r < n;
  /// some residue if a stop was requested. Aliasing: r does not overlap x. Timing: constant, the size and the
  /// sign of x are public.
  void remainder(std::span<Limb> r, std::span<const Limb> x, bool negative, const StopToken& stop = {}) const;

 private:
  std::span<const Limb> n_;
  unsigned shift_ = 0;   ///< zero bits at the top of n
  limbs::Buffer words_;  ///< the top limb of n 2^shift, and its reciprocal

  [[nodiscard]] Limb top() const { return words_.data()[0]; }
  [[nodiscard]] Limb reciprocal() const { return words_.data()[1]; }
  void reduce(std::span<Limb> r, Limb over) const;
  [[nodiscard]] Limb quotient(Limb u1, Limb u0) const;
  [[nodiscard]] Limb shifted(Limb high, Limb low) const;
};

}  // namespace manymod
