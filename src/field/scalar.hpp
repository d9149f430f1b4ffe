// SPDX-License-Identifier: Apache-2.0
// A field on 64-bit limbs, one instance (field/field.hpp), over scalar64::Montgomery.
//
// Ranges: B = n, and every function reduces fully: 0 <= element < n, R = 2^(64 kLimbs). The magnitudes of
// field/field.hpp are tracked all the same, so that formulas are checked for all backends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "arch/scalar/word.hpp"
#include "field/field.hpp"
#include "modinv/safegcd.hpp"
#include "modmul/scalar64/kernels.hpp"
#include "modmul/scalar64/montgomery.hpp"
#include "repr/limbs.hpp"

namespace manymod::field {

/// Arithmetic modulo an odd n, 1 < n < 2^(64 kLimbs). Functions: see field/field.hpp. Threads may share it.
template <std::size_t kLimbs>
class ScalarField {
 public:
  /// Little-endian limbs.
  struct Element : Carried {
    Limb limb[kLimbs];
  };
  using Mask = Limb;                     ///< all ones or 0
  using Source = std::span<const Limb>;  ///< any number of limbs
  using Sink = std::span<Limb>;          ///< limbs beyond kLimbs become 0; fewer must hold n

  ScalarField(const scalar64::Kernels& kernels, std::span<const Limb> n) : montgomery_(kernels) {
    Limb padded[kLimbs];
    limbs::copy_extend(padded, n);
    montgomery_.assign(padded);
    significant_ = limbs::normalized_size_var(n);
  }

  void zero(Element& r) const {
    Rules::set(r, 1);
    std::fill_n(r.limb, kLimbs, Limb{0});
  }
  void one(Element& r) const {
    Rules::set(r, 1);
    std::copy_n(montgomery_.one(), kLimbs, r.limb);
  }
  void from_limbs(Element& r, Source x) const {
    Rules::set(r, 1);
    Limb scratch[kScratch];
    Limb value[kLimbs];
    montgomery_.to_montgomery(value, x, false, scratch);
    std::copy_n(value, kLimbs, r.limb);
  }
  void to_limbs(Sink x, const Element& a) const {
    check(a);
    Limb value[kLimbs];
    canonical(value, a);
    limbs::copy_extend(x, value);
  }

  // Numbers that are no elements, 0 <= x < n of kLimbs limbs.

  /// r = x mod n, at less cost than from an element. On input: limbs of any number but 0; r does not overlap
  /// them.
  void remainder(Limb* r, Source x) const {
    Limb scratch[kScratch];
    montgomery_.remainder(r, x, scratch);
  }
  /// r = a b mod n. r may be an operand.
  void mul_plain(Limb* r, const Limb* a, const Limb* b) const {
    Limb scratch[kScratch];
    montgomery_.mul_plain(r, a, b, scratch);
  }

  void mul(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::mul(r, a, b);
    Limb scratch[kScratch];
    montgomery_.mul(r.limb, a.limb, b.limb, scratch);
    reduce_product(r);
  }
  void sqr(Element& r, const Element& a) const {
    check(a);
    Rules::sqr(r, a);
    Limb scratch[kScratch];
    montgomery_.sqr(r.limb, a.limb, scratch);
    reduce_product(r);
  }
  void add(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::add(r, a, b);
    limbs::add_mod(r.limb, a.limb, b.limb, n());
  }
  template <unsigned kOfB = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::sub<kOfB>(r, a, b);
    limbs::sub_mod(r.limb, a.limb, b.limb, n());
  }
  template <unsigned kOfA = 1>
  void neg(Element& r, const Element& a) const {
    check(a);
    Rules::neg<kOfA>(r, a);
    limbs::negate_mod(r.limb, a.limb, n());
  }
  /// (a + n (a mod 2)) / 2 < n.
  void half(Element& r, const Element& a) const {
    check(a);
    Rules::half(r, a);
    const Limb mask = word::mask_from_bit(a.limb[0] & 1);
    Limb carry = 0;
    Limb below = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
      const Limb sum = word::add_carry(a.limb[i], n()[i] & mask, carry);
      if (i > 0) r.limb[i - 1] = below >> 1 | sum << (kLimbBits - 1);
      below = sum;
    }
    r.limb[kLimbs - 1] = below >> 1 | carry << (kLimbBits - 1);
  }
  /// Elements are below n: a copy.
  template <unsigned kOfA = kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    check(a);
    Rules::normalize_weak<kOfA>(r, a);
    if (&r != &a) std::copy_n(a.limb, kLimbs, r.limb);
  }
  void cmov(Element& r, const Element& a, Mask mask) const {
    check(a), check(r);
    Rules::cmov(r, a);
    for (std::size_t i = 0; i < kLimbs; ++i) r.limb[i] ^= (r.limb[i] ^ a.limb[i]) & mask;
  }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    check(a);
    Rules::read_reduced(a);
    return word::mask_from_bit(limbs::is_zero(a.limb));
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::read_reduced(a), Rules::read_reduced(b);
    Limb difference = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) difference |= a.limb[i] ^ b.limb[i];
    return word::mask_from_bit(word::is_zero_bit(difference));
  }
  /// By division steps.
  Mask inverse(Element& r, const Element& a) const {
    check(a);
    Limb value[kLimbs];
    canonical(value, a);
    SafeGcd gcd;
    gcd.assign(n().first(significant_));
    const std::span<Limb> low = std::span(value).first(significant_);
    const Limb exists = gcd.invert(low, low);
    from_limbs(r, value);
    return word::mask_from_bit(exists);
  }

 private:
  static constexpr bool kUnrolled = kLimbs <= scalar64::kUnrolledLimbs;
  static constexpr std::size_t kScratch = scalar64::Montgomery::scratch_limbs(kLimbs);

  scalar64::Montgomery montgomery_;
  std::size_t significant_ = 0;  ///< limbs of n without leading zeros

  [[nodiscard]] std::span<const Limb> n() const { return montgomery_.modulus().template first<kLimbs>(); }
  void canonical(Limb* value, const Element& a) const {
    Limb scratch[kScratch];
    montgomery_.from_montgomery(value, a.limb, scratch);
  }
  /// Above kUnrolledLimbs limbs a product of a, b < n comes out at most n + floor(a b / R) < 2 n.
  void reduce_product([[maybe_unused]] Element& r) const {
    if constexpr (!kUnrolled) limbs::reduce_once(r.limb, n());
  }
  void check([[maybe_unused]] const Element& a) const {
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && limbs::less(a.limb, n()) == 1);
  }
};

}  // namespace manymod::field
