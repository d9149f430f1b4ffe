// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the prime m of a channel on the host. "Montgomery form" of x is x 2^32 mod m. Functions
// are constant-time except where stated: no branch and no address depends on a value.
#pragma once

#include <cstdint>

#include "arch/scalar/word.hpp"

namespace manymod::rns {

class ChannelField {
 public:
  /// On input: m is an odd prime, m < 2^31.
  explicit ChannelField(std::uint32_t m)
      : m_(m),
        negative_inverse_(static_cast<std::uint32_t>(word::negated_inverse(m))),
        one_(static_cast<std::uint32_t>((std::uint64_t{1} << 32) % m)),
        form_of_radix_(static_cast<std::uint32_t>(std::uint64_t{one_} * one_ % m)) {}

  [[nodiscard]] std::uint32_t modulus() const { return m_; }
  [[nodiscard]] std::uint32_t negative_inverse() const { return negative_inverse_; }
  /// The Montgomery form of 1: 2^32 mod m.
  [[nodiscard]] std::uint32_t one() const { return one_; }
  /// The Montgomery form of 2^32: 2^64 mod m.
  [[nodiscard]] std::uint32_t radix() const { return form_of_radix_; }

  /// T / 2^32 mod m, in [0, m). On input: 0 <= T < 2^32 m, so that T + q m < 2^33 m <= 2^64.
  [[nodiscard]] std::uint32_t reduce(std::uint64_t t) const {
    const std::uint32_t q = static_cast<std::uint32_t>(t) * negative_inverse_;
    return subtract_once(static_cast<std::uint32_t>((t + std::uint64_t{q} * m_) >> 32));
  }
  /// a b / 2^32 mod m, in [0, m). On input: a b < 2^32 m.
  [[nodiscard]] std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
    return reduce(std::uint64_t{a} * b);
  }
  /// The Montgomery form of an integer x < 2^32.
  [[nodiscard]] std::uint32_t form(std::uint32_t x) const { return multiply(x, form_of_radix_); }
  /// floor(2^32 a / m) for 0 <= a < m. 2^32 a less its residue modulo m is an exact multiple of m, so the
  /// quotient is found modulo 2^32.
  [[nodiscard]] std::uint32_t quotient(std::uint32_t a) const { return form(a) * negative_inverse_; }
  /// -a mod m, in [0, m). On input: 0 <= a < m.
  [[nodiscard]] std::uint32_t negate(std::uint32_t a) const { return subtract_once(m_ - a); }

  /// a^exponent, with a and the result in Montgomery form. On input: 0 <= a < m. Variable-time in the
  /// exponent.
  [[nodiscard]] std::uint32_t power(std::uint32_t a, std::uint32_t exponent) const {
    std::uint32_t r = one_;
    for (unsigned bit = 32; bit-- > 0;) {
      r = multiply(r, r);
      if ((exponent >> bit & 1) != 0) r = multiply(r, a);
    }
    return r;
  }
  /// 1 / a by Fermat's little theorem, in Montgomery form; 0 for a = 0.
  [[nodiscard]] std::uint32_t inverse(std::uint32_t a) const { return power(a, m_ - 2); }

 private:
  std::uint32_t m_;
  std::uint32_t negative_inverse_;
  std::uint32_t one_;
  std::uint32_t form_of_radix_;

  // a, or a - m if a >= m. On input: a <= 2 m.
  [[nodiscard]] std::uint32_t subtract_once(std::uint32_t a) const {
    const std::uint32_t difference = a - m_;
    return difference + (m_ & static_cast<std::uint32_t>(word::mask_from_bit(difference >> 31)));
  }
};

}  // namespace manymod::rns
