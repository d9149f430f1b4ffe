// SPDX-License-Identifier: Apache-2.0
// Remainders modulo any modulus, odd or even, by long division with a precomputed reciprocal. Variable-time.
#pragma once

#include <cstddef>
#include <span>

#include "core/ticker.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// A modulus n >= 1 of L limbs, prepared for division: n is shifted left until its top bit is set, and the
/// reciprocal of the shifted top two limbs is stored (Moller and Granlund, "Improved division by invariant
/// integers", IEEE Transactions on Computers 60, 2011).
class Divisor {
 public:
  /// Prepares for n. On input: the top limb of n is not 0. Storage is reused from call to call.
  void assign(std::span<const Limb> n);

  [[nodiscard]] std::size_t limbs() const { return limbs_; }
  /// Limbs of scratch for a dividend of that many limbs.
  [[nodiscard]] static constexpr std::size_t scratch_limbs(std::size_t dividend_limbs) {
    return dividend_limbs + 1;
  }

  /// r = u mod n. On input: r.size() == L; u of any size; scratch has scratch_limbs(u.size()) limbs. If a
  /// stop is requested, r is some residue. Aliasing: r may overlap u, scratch overlaps neither. Timing:
  /// variable.
  void remainder_var(std::span<Limb> r, std::span<const Limb> u, Limb* scratch,
                     const StopToken& stop = {}) const;

 private:
  std::size_t limbs_ = 0;
  unsigned shift_ = 0;
  Limb reciprocal_ = 0;
  limbs::Buffer shifted_;  ///< n 2^shift, then its complement 2^(64 L) - n 2^shift; L limbs each

  /// The case L = 1. On input: u is not empty.
  [[nodiscard]] Limb remainder_one_limb(std::span<const Limb> u) const;
};

}  // namespace manymod
