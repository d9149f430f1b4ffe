// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo 2^k, and the split of an even modulus n = 2^k m with m odd (C. K. Koc, "Montgomery
// reduction with even modulus", IEE Proceedings 141, 1994). Variable-time.
#pragma once

#include <cstddef>
#include <span>

#include "repr/limbs.hpp"

namespace manymod {

/// Residues modulo 2^k, 0 <= value < 2^k, in ceil(k / 64) limbs. Models the concept Monoid with one lane.
class PowerOfTwoRing {
 public:
  /// Prepares for 2^k, k >= 1. Storage is reused from call to call.
  void assign(std::size_t k);

  [[nodiscard]] std::size_t bits() const { return bits_; }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] std::size_t words() const { return limbs_for_bits(bits_); }

  /// r = a b mod 2^k. On input and output: 0 <= value < 2^k. Aliasing: r may be a or b.
  void mul(Limb* r, const Limb* a, const Limb* b) const;
  void sqr(Limb* r, const Limb* a) const { mul(r, a, a); }
  /// r = 1.
  void set_one(Limb* r) const;

  /// r = x mod 2^k, or -|x| mod 2^k if `negative`. On input: |x| of any size; r.size() == words().
  void reduce(std::span<Limb> r, std::span<const Limb> x, bool negative) const;
  /// r = a^-1 mod 2^k by Newton's iteration x <- x (2 - a x). On input: a odd. Aliasing: r is not a.
  void invert(Limb* r, const Limb* a) const;

 private:
  std::size_t bits_ = 1;
};

/// An even modulus n = 2^k m, m odd. Residues modulo the two factors combine by the Chinese remainder
/// theorem:
///   x = x_m + m ((x_2 - x_m) m^-1 mod 2^k),  0 <= x < n.
class EvenSplit {
 public:
  /// Prepares for n, even and not 0.
  void assign(std::span<const Limb> n);

  [[nodiscard]] const PowerOfTwoRing& ring() const { return ring_; }
  /// m without leading zero limbs; {1} if n is a power of two.
  [[nodiscard]] std::span<const Limb> odd_part() const { return odd_part_.first(odd_limbs_); }
  [[nodiscard]] bool odd_part_is_one() const { return odd_limbs_ == 1 && odd_part_.data()[0] == 1; }

  /// r = the x with 0 <= x < n, x = x_m mod m, x = x_2 mod 2^k. On input: x_m < m in the limbs of m, x_2 <
  /// 2^k in ring().words() limbs; r has the limbs of n. Aliasing: r overlaps neither.
  void combine(std::span<Limb> r, std::span<const Limb> x_m, std::span<const Limb> x_2) const;

 private:
  PowerOfTwoRing ring_;
  std::size_t odd_limbs_ = 0;
  limbs::Buffer odd_part_;
  limbs::Buffer odd_inverse_;  ///< m^-1 mod 2^k
};

}  // namespace manymod
