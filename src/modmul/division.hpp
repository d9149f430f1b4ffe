// SPDX-License-Identifier: Apache-2.0
// Remainders by any modulus, odd or even: long division with a precomputed reciprocal. Variable time.
#pragma once

#include <cstddef>
#include <span>

#include "repr/limbs.hpp"

namespace manymod {

/// A modulus n >= 1 of L limbs (top limb not 0), prepared for division: shifted so that its top bit is set,
/// with the reciprocal of its top two limbs (Moller and Granlund, "Improved division by invariant integers",
/// 2011).
class Divisor {
 public:
  /// Storage is reused from call to call.
  void assign(std::span<const Limb> n);

  [[nodiscard]] std::size_t limbs() const { return limbs_; }
  [[nodiscard]] static constexpr std::size_t scratch_limbs(std::size_t dividend_limbs) {
    return dividend_limbs + 1;
  }

  /// r = u mod n, r.size() == L. scratch: scratch_limbs(u.size()) limbs. r may overlap u.
  void remainder_var(std::span<Limb> r, std::span<const Limb> u, Limb* scratch) const;

 private:
  std::size_t limbs_ = 0;
  unsigned shift_ = 0;
  Limb reciprocal_ = 0;
  limbs::Buffer shifted_;  ///< n 2^shift, then its complement 2^(64 L) - n 2^shift: L limbs each

  [[nodiscard]] Limb remainder_one_limb(std::span<const Limb> u) const;
};

}  // namespace manymod
