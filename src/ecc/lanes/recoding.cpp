// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/recoding.hpp"

#include <algorithm>
#include <cstddef>

#include "arch/scalar/word.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::lanes {
namespace {

constexpr std::size_t kScalarLimbs = 4;
constexpr const EndomorphismNumbers& kNumbers = kSecp256k1Endomorphism;

/// Numbers modulo 2^192, negative ones by their complement.
struct Half {
  Limb limb[kHalfLimbs];
};

/// r -= c x for c of kHalfLimbs limbs, or c = 1 or 0 in a mask.
void subtract_product(Half& r, const Limb (&c)[kHalfLimbs], const Limb (&x)[kHalfLimbs]) {
  Limb product[kHalfLimbs] = {};
  for (std::size_t i = 0; i < kHalfLimbs; ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; i + j < kHalfLimbs; ++j) {
      product[i + j] = word::multiply_add(product[i + j], c[i], x[j], carry);
    }
  }
  Limb borrow = 0;
  for (std::size_t i = 0; i < kHalfLimbs; ++i) r.limb[i] = word::sub_borrow(r.limb[i], product[i], borrow);
}

/// r += x
void add(Half& r, const Limb (&x)[kHalfLimbs]) {
  Limb carry = 0;
  for (std::size_t i = 0; i < kHalfLimbs; ++i) r.limb[i] = word::add_carry(r.limb[i], x[i], carry);
}

/// round(k g / 2^384), of kHalfLimbs limbs
void rounded_quotient(Limb (&c)[kHalfLimbs], std::span<const Limb, kScalarLimbs> k,
                      const Limb (&g)[kScalarLimbs]) {
  Limb product[2 * kScalarLimbs] = {};
  for (std::size_t i = 0; i < kScalarLimbs; ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < kScalarLimbs; ++j) {
      product[i + j] = word::multiply_add(product[i + j], k[i], g[j], carry);
    }
    product[i + kScalarLimbs] = carry;
  }
  // The fraction is in the lowest 6 limbs. The quotient is below 2^128.
  Limb carry = product[5] >> (kLimbBits - 1);
  c[0] = word::add_carry(product[6], 0, carry);
  c[1] = word::add_carry(product[7], 0, carry);
  c[2] = carry;
  wipe(product);
}

/// The number as its magnitude and sign.
void set_signed(SignedScalar& r, const Half& x) {
  r.negative = word::mask_from_bit(x.limb[kHalfLimbs - 1] >> (kLimbBits - 1));
  Limb carry = r.negative & 1;
  for (std::size_t i = 0; i < kHalfLimbs; ++i) {
    r.magnitude[i] = word::add_carry(x.limb[i] ^ r.negative, 0, carry);
  }
}

/// k1 + k2 lambda = k mod n: see ecc/endomorphism.hpp.
void split_halves(Half& k1, Half& k2, std::span<const Limb, kScalarLimbs> k) {
  Limb c1[kHalfLimbs], c2[kHalfLimbs];
  rounded_quotient(c1, k, kNumbers.g1);
  rounded_quotient(c2, k, kNumbers.g2);
  k1 = {{k[0], k[1], k[2]}};
  k2 = {};
  subtract_product(k1, c1, kNumbers.a1);
  subtract_product(k1, c2, kNumbers.a2);
  Limb minus_c1[kHalfLimbs], borrow = 0;
  for (std::size_t i = 0; i < kHalfLimbs; ++i) minus_c1[i] = word::sub_borrow(0, c1[i], borrow);
  subtract_product(k2, minus_c1, kNumbers.minus_b1);
  subtract_product(k2, c2, kNumbers.a1);
  for (auto* secret : {&c1, &c2, &minus_c1}) wipe(*secret);
}

}  // namespace

void make_odd(SignedScalar& r, std::span<const Limb> k, std::span<const Limb> n) {
  r.negative = word::mask_from_bit(~k[0] & 1);
  // With even k, n - k = n + ~k + 1.
  Limb borrow = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const Limb difference = word::sub_borrow(n[i], k[i], borrow);
    r.magnitude[i] = k[i] ^ ((k[i] ^ difference) & r.negative);
  }
}

void round_up_to_odd(SignedScalar& r, std::span<const Limb> k) {
  std::copy(k.begin(), k.end(), r.magnitude.begin());
  r.negative = word::mask_from_bit(~k[0] & 1);
  r.magnitude[0] |= 1;
}

void split_odd(SignedScalar& r1, SignedScalar& r2, std::span<const Limb, 4> k) {
  Half k1, k2;
  split_halves(k1, k2, k);
  // Make both odd: see ecc/endomorphism.hpp.
  const Limb first = word::mask_from_bit(~k1.limb[0] & 1);
  Limb part[kHalfLimbs], minus_part[kHalfLimbs], borrow = 0;
  for (std::size_t i = 0; i < kHalfLimbs; ++i) {
    part[i] = kNumbers.a1[i] & first;
    minus_part[i] = word::sub_borrow(0, kNumbers.minus_b1[i] & first, borrow);
  }
  add(k1, part);
  add(k2, minus_part);
  const Limb second[kHalfLimbs] = {~k2.limb[0] & 1};
  subtract_product(k1, second, kNumbers.a2);
  subtract_product(k2, second, kNumbers.a1);
  set_signed(r1, k1);
  set_signed(r2, k2);
  wipe(k1.limb);
  wipe(k2.limb);
}

void split(SignedScalar& r1, SignedScalar& r2, std::span<const Limb, 4> k) {
  Half k1, k2;
  split_halves(k1, k2, k);
  set_signed(r1, k1);
  set_signed(r2, k2);
  wipe(k1.limb);
  wipe(k2.limb);
}

}  // namespace manymod::ecc::lanes
