// SPDX-License-Identifier: Apache-2.0
#include "modmul/power_of_two.hpp"

#include <algorithm>

namespace manymod {
namespace {

/// t[0..size) = a b mod 2^(64 size). Aliasing: t overlaps neither a nor b.
void low_product(Limb* t, const Limb* a, const Limb* b, std::size_t size) {
  std::fill_n(t, size, Limb{0});
  for (std::size_t i = 0; i < size; ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; i + j < size; ++j) t[i + j] = word::multiply_add(t[i + j], a[j], b[i], carry);
  }
}

/// a = -a mod 2^(64 size).
void negate(std::span<Limb> a) {
  Limb borrow = 0;
  for (Limb& limb : a) limb = word::sub_borrow(0, limb, borrow);
}

}  // namespace

void PowerOfTwoRing::assign(std::size_t k) { bits_ = k; }

void PowerOfTwoRing::mul(Limb* r, const Limb* a, const Limb* b) const {
  constexpr std::size_t kStackLimbs = 32;
  Limb stack[kStackLimbs];
  limbs::Buffer heap;
  Limb* t = stack;
  if (words() > kStackLimbs) {
    heap.require(words());
    t = heap.data();
  }
  low_product(t, a, b, words());
  limbs::truncate_bits({t, words()}, bits_);
  std::copy_n(t, words(), r);
}

void PowerOfTwoRing::set_one(Limb* r) const {
  std::fill_n(r, words(), Limb{0});
  r[0] = 1;
}

void PowerOfTwoRing::reduce(std::span<Limb> r, std::span<const Limb> x, bool negative) const {
  limbs::copy_extend(r, x);
  if (negative) negate(r);
  limbs::truncate_bits(r, bits_);
}

void PowerOfTwoRing::invert(Limb* r, const Limb* a) const {
  limbs::Buffer t(words());
  std::fill_n(r, words(), Limb{0});
  r[0] = Limb{0} - word::negated_inverse(a[0]);
  limbs::truncate_bits({r, words()}, bits_);
  // `correct` is the number of low bits of r that are right; each step doubles it.
  for (std::size_t correct = kLimbBits; correct < bits_; correct *= 2) {
    mul(t.data(), a, r);
    negate(t.first(words()));
    Limb carry = 2;
    for (Limb& limb : t.first(words())) limb = word::add_carry(limb, 0, carry);
    mul(r, r, t.data());
  }
}

void EvenSplit::assign(std::span<const Limb> n) {
  ring_.assign(limbs::trailing_zeros_var(n));
  odd_part_.require(n.size());
  limbs::shift_right_bits(odd_part_.first(n.size()), n, ring_.bits());
  odd_limbs_ = limbs::normalized_size_var(odd_part_.first(n.size()));
  odd_inverse_.require(ring_.words());
  limbs::Buffer residue(ring_.words());
  ring_.reduce(residue.first(ring_.words()), odd_part(), false);
  ring_.invert(odd_inverse_.data(), residue.data());
}

void EvenSplit::combine(std::span<Limb> r, std::span<const Limb> x_m, std::span<const Limb> x_2) const {
  const std::size_t words = ring_.words();
  limbs::Buffer h(words);
  limbs::Buffer residue(words);
  ring_.reduce(residue.first(words), x_m, false);
  limbs::sub(h.first(words), x_2, residue.first(words));
  limbs::truncate_bits(h.first(words), ring_.bits());
  ring_.mul(h.data(), h.data(), odd_inverse_.data());
  // x_m + m h < n fits the limbs of n, so products beyond r's last limb are 0.
  limbs::copy_extend(r, x_m);
  for (std::size_t i = 0; i < words && i < r.size(); ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; i + j < r.size(); ++j) {
      const Limb factor = j < odd_limbs_ ? odd_part_.data()[j] : 0;
      r[i + j] = word::multiply_add(r[i + j], factor, h.data()[i], carry);
    }
  }
}

}  // namespace manymod
