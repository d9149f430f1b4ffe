// SPDX-License-Identifier: Apache-2.0
// Powers and square roots modulo a prime p. Variable-time: for public points.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "field/field.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::scalar64 {

/// r = a^exponent, by fixed windows. m(a) = m(r) = 1. Aliasing: r may be a.
template <field::Field F>
void power_var(const F& f, typename F::Element& r, const typename F::Element& a,
               std::span<const Limb> exponent) {
  constexpr std::size_t kWidth = 4;
  typename F::Element table[1 << kWidth], result;
  f.one(table[0]);
  for (std::size_t i = 1; i < std::size(table); ++i) f.mul(table[i], table[i - 1], a);
  f.one(result);
  const std::size_t windows = (limbs::bit_length_var(exponent) + kWidth - 1) / kWidth;
  for (std::size_t i = windows; i-- > 0;) {
    for (std::size_t bit = 0; bit < kWidth && i + 1 < windows; ++bit) f.sqr(result, result);
    f.mul(result, result, table[limbs::extract_bits(exponent, i * kWidth, kWidth)]);
  }
  r = result;
}

/// Whether a is a square modulo p, by Euler's criterion; also for 0. On input: m(a) = 1, p an odd prime.
template <field::Field F>
bool is_square_var(const F& f, const typename F::Element& a, std::span<const Limb> p) {
  std::vector<Limb> half(p.size());
  limbs::shift_right_bits(half, p, 1);
  typename F::Element power, one;
  power_var(f, power, a, half);
  f.one(one);
  return (f.is_zero(a) | f.equal(power, one)) != 0;
}

/// Square roots modulo a prime p, by Tonelli and Shanks (Handbook of Applied Cryptography, algorithm 3.34).
/// With p - 1 = 2^s q, q odd, a root takes one power of nearly the length of p, and less than s^2 products.
template <field::Field F>
class SquareRoots {
 public:
  using Element = typename F::Element;

  /// On input: the modulus p of the field, an odd prime.
  SquareRoots(const F& f, std::span<const Limb> p) : half_q_(p.size()) {
    std::vector<Limb> q(p.begin(), p.end());
    q[0] -= 1;
    twos_ = limbs::trailing_zeros_var(q);
    limbs::shift_right_bits(half_q_, q, twos_ + 1);
    limbs::shift_right_bits(q, std::vector<Limb>(q), twos_);
    Element one, candidate;
    f.one(one);
    candidate = one;
    do {
      f.add(candidate, candidate, one);
      f.template normalize_weak<2>(candidate, candidate);
    } while (is_square_var(f, candidate, p));
    power_var(f, root_, candidate, q);
  }

  /// r^2 = a; @return false, with r unchanged, if a is no square. m(a) = m(r) = 1.
  bool root_var(const F& f, Element& r, const Element& a) const {
    Element w, x, t, one;
    f.one(one);
    if (f.is_zero(a) != 0) {
      r = a;
      return true;
    }
    power_var(f, w, a, half_q_);
    f.mul(x, a, w);
    f.mul(t, x, w);
    // x^2 = a t, and the order of t divides 2^order, where that of c is 2^order.
    Element c = root_;
    for (std::size_t order = twos_; f.equal(t, one) == 0;) {
      const std::size_t smaller = order_of(f, t, one, order);
      if (smaller == order) return false;
      for (std::size_t i = smaller + 1; i < order; ++i) f.sqr(c, c);
      f.mul(x, x, c);
      f.sqr(c, c);
      f.mul(t, t, c);
      order = smaller;
    }
    r = x;
    return true;
  }

 private:
  std::vector<Limb> half_q_;  ///< (q - 1) / 2
  std::size_t twos_ = 0;      ///< s
  Element root_;              ///< of unity, of order 2^s

  /// The least i with a^(2^i) = 1, or `most` if there is none below.
  static std::size_t order_of(const F& f, const Element& a, const Element& one, std::size_t most) {
    Element power = a;
    std::size_t i = 0;
    for (; i < most && f.equal(power, one) == 0; ++i) f.sqr(power, power);
    return i;
  }
};

}  // namespace manymod::ecc::scalar64
