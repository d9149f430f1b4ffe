// SPDX-License-Identifier: Apache-2.0
#include "rsa/arithmetic.hpp"

#include <algorithm>

#include "crypto/random.hpp"
#include "modexp/windows.hpp"
#include "modinv/safegcd.hpp"

namespace manymod::rsa {
namespace {

// A random r with 0 < r < n of `bits` bits, by rejection sampling: the rejected candidates are independent of
// r, so their number reveals nothing about it.
void random_below(std::span<Limb> r, std::span<const Limb> n, std::size_t bits) {
  do {
    crypto::private_random_bytes(r);
    limbs::truncate_bits(r, bits);
  } while ((limbs::less(r, n) & (limbs::is_zero(r) ^ 1)) == 0);
}

// sum += x, which has at most as many limbs; the carry is lost.
void add_to(std::span<Limb> sum, std::span<const Limb> x) {
  Limb carry = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = word::add_carry(sum[i], i < x.size() ? x[i] : Limb{0}, carry);
  }
}

}  // namespace

void raise_to_exponent(Limb* x, const scalar64::Montgomery& n, std::span<const Limb> exponent,
                       Limb* scratch) {
  const scalar64::Montgomery* const modulus = &n;
  const scalar64::MontgomeryLanes multiplier({&modulus, 1}, scratch);
  const SlidingSchedule schedule = best_sliding_schedule(exponent);
  limbs::Buffer workspace(sliding_window_workspace(multiplier, schedule));
  sliding_window_power(multiplier, x, x, schedule, workspace.data(), {});
}

PrivateArithmetic::PrivateArithmetic(const Key& key)
    : key_(key), n_(scalar64::fastest_kernels()), p_(scalar64::fastest_kernels()), qinv_(key.p().size()) {
  n_.assign(key.n());
  p_.assign(key.p());
  limbs::Buffer scratch(scratch_limbs());
  p_.to_montgomery(qinv_.data(), key.qinv(), false, scratch.data());
  for (std::size_t i = 2; i < key.primes(); ++i)
    others_.emplace_back(scalar64::fastest_kernels()).assign(key.prime(i));
}

std::size_t PrivateArithmetic::scratch_limbs() const {
  const std::size_t halves = key_.p().size() + key_.q().size();
  return scalar64::Montgomery::scratch_limbs(std::max(key_.limbs(), key_.p().size())) + key_.p().size() +
         halves;
}

BlindingPair PrivateArithmetic::fresh_pair(unsigned uses) const {
  const std::size_t limbs = key_.limbs();
  limbs::Buffer scratch(scratch_limbs());
  BlindingPair pair{limbs::Buffer(limbs), limbs::Buffer(limbs), uses};
  const std::span<Limb> factor = pair.factor.first(limbs);
  const std::span<Limb> inverse = pair.inverse.first(limbs);
  SafeGcd inverter;
  inverter.assign(key_.n());
  limbs::Buffer plain(limbs);
  const std::span<Limb> r = plain.first(limbs);
  // A number without an inverse would reveal a factor of n; its probability is negligible.
  do {
    random_below(r, key_.n(), key_.bits());
  } while (inverter.invert(inverse, r) == 0);
  n_.to_montgomery(factor.data(), r, false, scratch.data());
  raise_to_exponent(factor.data(), n_, key_.e(), scratch.data());
  std::copy(inverse.begin(), inverse.end(), r.begin());
  n_.to_montgomery(inverse.data(), r, false, scratch.data());
  return pair;
}

void PrivateArithmetic::square(BlindingPair& pair, Limb* scratch) const {
  n_.sqr(pair.factor.data(), pair.factor.data(), scratch);
  n_.sqr(pair.inverse.data(), pair.inverse.data(), scratch);
}

void PrivateArithmetic::multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const {
  n_.mul(r, x, factor, scratch);
}

void PrivateArithmetic::multiply_reduced(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const {
  // x < n and factor < R give x factor / R + n < 2n.
  multiply(r, x, factor, scratch);
  limbs::reduce_once({r, key_.limbs()}, key_.n());
}

void PrivateArithmetic::combine(Limb* r, const Limb* residues, std::size_t stride, Limb* scratch) const {
  const std::span<const Limb> p = key_.p();
  const std::span<const Limb> q = key_.q();
  const std::span<const Limb> b(residues + stride, p.size());
  const std::span<Limb> factor(scratch, p.size());
  const std::span<Limb> product(scratch + p.size(), p.size() + q.size());
  Limb* rest = scratch + 2 * p.size() + q.size();
  // After a fault the residues may not be reduced, so nothing before the product relies on their range.
  const Limb borrow = limbs::sub(factor, {residues, p.size()}, b);
  limbs::add_if(factor, factor, p, borrow);
  p_.mul(factor.data(), factor.data(), qinv_.data(), rest);
  limbs::reduce_once(factor, p);
  p_.kernels().product(product.data(), factor.data(), p.size(), q.data(), q.size());
  add_to(product, b);
  if (others_.empty()) {
    // b < q gives b + q (p - 1) < p q = n: the limbs beyond those of n are 0.
    std::copy_n(product.begin(), key_.limbs(), r);
    return;
  }
  limbs::Buffer number(key_.limbs());
  std::copy_n(product.begin(), std::min(number.size(), product.size()), number.data());
  for (std::size_t i = 2; i < key_.primes(); ++i)
    extend(number.first(number.size()), i, residues + i * stride);
  std::copy_n(number.data(), number.size(), r);
}

void PrivateArithmetic::extend(std::span<Limb> number, std::size_t i, const Limb* residue) const {
  const scalar64::Montgomery& modulo = others_[i - 2];
  const std::span<const Limb> prime = key_.prime(i);
  const std::span<const Limb> before = key_.before(i);
  limbs::Buffer scratch(scalar64::Montgomery::scratch_limbs(prime.size()));
  limbs::Buffer given(prime.size());
  limbs::Buffer reduced(prime.size());
  limbs::Buffer product(before.size() + prime.size());
  const std::span<Limb> factor = given.first(prime.size());
  modulo.to_montgomery(given.data(), {residue, prime.size()}, false, scratch.data());
  modulo.to_montgomery(reduced.data(), number.first(before.size()), false, scratch.data());
  const Limb borrow = limbs::sub(factor, factor, reduced.first(prime.size()));
  limbs::add_if(factor, factor, prime, borrow);
  modulo.mul(factor.data(), factor.data(), key_.coefficient(i).data(), scratch.data());
  limbs::reduce_once(factor, prime);
  modulo.kernels().product(product.data(), before.data(), before.size(), factor.data(), prime.size());
  // The sum is below the product of the primes so far, which has at most as many limbs as n.
  add_to(number, product.first(std::min(number.size(), product.size())));
}

}  // namespace manymod::rsa
