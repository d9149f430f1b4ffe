// SPDX-License-Identifier: Apache-2.0
#include "modmul/montgomery_lanes/constants.hpp"

#include <algorithm>

#include "arch/scalar/word.hpp"
#include "repr/limbs.hpp"

namespace manymod::montgomery_lanes {
namespace {

/// Numbers in `digits` digits of `width` bits. Moduli are public.
class Digital {
 public:
  Digital(std::size_t digits, unsigned width) : digits_(digits), width_(width) {}

  [[nodiscard]] Digits from_limbs(std::span<const Limb> x) const {
    Digits r{};
    for (std::size_t bit = 0; bit < x.size() * kLimbBits && bit < digits_ * width_; ++bit) {
      r.digit[bit / width_] |= Limb{limbs::test_bit(x, bit)} << bit % width_;
    }
    return r;
  }
  /// a + b, and a - b if b is subtracted, modulo W^L; carry: out of the top.
  Digits sum(const Digits& a, const Digits& b, bool subtract, Limb& carry) const {
    Digits r{};
    carry = subtract ? 1 : 0;
    for (std::size_t i = 0; i < digits_; ++i) {
      carry += a.digit[i] + (subtract ? mask() - b.digit[i] : b.digit[i]);
      r.digit[i] = carry & mask();
      carry >>= width_;
    }
    return r;
  }
  [[nodiscard]] Digits add(const Digits& a, const Digits& b) const {
    Limb carry = 0;
    return sum(a, b, false, carry);
  }
  /// 2^exponent mod p, for p of at most W^L / 2.
  [[nodiscard]] Digits power_of_two(std::size_t exponent, const Digits& p) const {
    Digits r{};
    r.digit[0] = 1;
    for (std::size_t i = 0; i < exponent; ++i) {
      r = add(r, r);
      Limb carry = 0;
      const Digits less = sum(r, p, true, carry);
      if (carry != 0) r = less;
    }
    return r;
  }
  void multiply(Digits (&r)[2], const Digits& a, const Digits& b) const {
    Limb t[2 * kMaxDigits] = {};
    for (std::size_t i = 0; i < digits_; ++i) {
      word::Wide carry = 0;
      for (std::size_t j = 0; j < digits_; ++j) {
        carry += word::Wide{a.digit[i]} * b.digit[j] + t[i + j];
        t[i + j] = static_cast<Limb>(carry) & mask();
        carry >>= width_;
      }
      t[i + digits_] = static_cast<Limb>(carry);
    }
    for (std::size_t i = 0; i < 2 * digits_; ++i) r[i / digits_].digit[i % digits_] = t[i];
  }
  [[nodiscard]] Limb mask() const { return (Limb{1} << width_) - 1; }

 private:
  std::size_t digits_;
  unsigned width_;
};

void set_estimates(Constants& c, std::span<const Limb> p, unsigned digit_bits) {
  const unsigned unit = c.bits > kUnitBits ? c.bits - kUnitBits : 0;
  c.unit_digit = unit / digit_bits;
  c.unit_shift = unit % digit_bits;
  const Limb in_units = limbs::extract_bits(p, unit, kUnitBits);
  // Six digits each less than W in absolute value, and their borrow.
  c.slack = unit == 0 ? 0 : 8;
  c.reciprocal = (Limb{1} << kReciprocalBits) / (in_units + (unit == 0 ? 0 : 1));
}

}  // namespace

Constants make_constants(std::span<const Limb> p, std::size_t digits, unsigned digit_bits) {
  const Digital digital(digits, digit_bits);
  Constants c{};
  c.bits = static_cast<unsigned>(limbs::bit_length_var(p));
  c.limbs = p.size();
  const Digits prime = digital.from_limbs(p);
  for (std::size_t k = 1; k < std::size(c.multiple); ++k) {
    c.multiple[k] = digital.add(c.multiple[k - 1], prime);
  }
  Limb carry = 0;
  c.negated = digital.sum(Digits{}, prime, true, carry);
  c.one = digital.power_of_two(digits * digit_bits, prime);
  c.squared_radix = digital.power_of_two(2 * digits * digit_bits, prime);
  digital.multiply(c.four_squares, c.multiple[2], c.multiple[2]);
  c.quotient = word::negated_inverse(p[0]) & digital.mask();
  set_estimates(c, p, digit_bits);
  c.inverse_exponent.assign(p.begin(), p.end());
  std::vector<Limb> two(p.size());
  two[0] = 2;
  limbs::sub(c.inverse_exponent, p, two);
  // p + 1 = 4 (floor(p / 4) + 1) for p = 3 mod 4.
  std::vector<Limb> one(p.size());
  one[0] = 1;
  c.root_exponent.resize(p.size());
  limbs::shift_right_bits(c.root_exponent, p, 2);
  limbs::add(c.root_exponent, c.root_exponent, one);
  return c;
}

}  // namespace manymod::montgomery_lanes
