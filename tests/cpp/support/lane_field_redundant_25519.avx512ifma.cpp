// SPDX-License-Identifier: Apache-2.0
#include "support/lane_field_redundant_25519.hpp"

#include "field/redundant_25519.hpp"
#include "modmul/special_primes/digits52.avx512ifma.hpp"

namespace manymod::test {
namespace {

using F = field::Redundant25519<special_primes::Digits52Avx512Ifma>;
using Digits = Redundant25519Calls::Digits;
using Limbs = Redundant25519Calls::Limbs;
using Vectors = UnalignedVectors<special_primes::Digits52Avx512Ifma>;
static_assert(F::kLanes == Redundant25519Calls::kLanes && F::kDigits == Redundant25519Calls::kDigits);

template <class Number>
Number load(const Digits& a) {
  Number r;
  for (std::size_t i = 0; i < F::kDigits; ++i) r.digit[i] = Vectors::load(a.data(), i);
  return r;
}
void store(Digits& r, const auto& a) {
  for (std::size_t i = 0; i < F::kDigits; ++i) Vectors::store(r.data(), i, a.digit[i]);
}
/// r and uncarried = what `product` computes.
template <class Product>
void both(Digits& uncarried, Digits& r, const Product& product) {
  F::Uncarried columns;
  product(columns);
  store(uncarried, columns);
  F::Element element;
  product(element);
  store(r, element);
}

void from_limbs(Digits& r, const Limbs& x) {
  F::Element a;
  F::from_limbs(a, x.data());
  store(r, a);
}
void to_limbs(Limbs& x, const Digits& uncarried) { F::to_limbs(x.data(), load<F::Uncarried>(uncarried)); }
void mul(Digits& uncarried, Digits& r, const Digits& a, const Digits& b) {
  both(uncarried, r, [&](auto& product) { F::mul(product, load<F::Element>(a), load<F::Element>(b)); });
}
void mul_fixed(Digits& uncarried, Digits& r, const Digits& a, const Digits& b) {
  F::FixedFactor factor;
  F::fix(factor, load<F::Element>(b));
  both(uncarried, r, [&](auto& product) { F::mul(product, load<F::Element>(a), factor); });
}
void mul_small(Digits& uncarried, Digits& r, const Digits& a, Limb k) {
  both(uncarried, r, [&](auto& product) { F::mul_small(product, load<F::Element>(a), k); });
}
void sqr(Digits& uncarried, Digits& r, const Digits& a) {
  both(uncarried, r, [&](auto& square) { F::sqr(square, load<F::Element>(a)); });
}
void add(Digits& r, const Digits& a, const Digits& b) {
  F::Element sum;
  F::add(sum, load<F::Uncarried>(a), load<F::Uncarried>(b));
  store(r, sum);
}
void sub(Digits& r, const Digits& a, const Digits& b) {
  F::Element difference;
  F::sub(difference, load<F::Uncarried>(a), load<F::Uncarried>(b));
  store(r, difference);
}

}  // namespace

const Redundant25519Calls& avx512ifma_redundant_25519() {
  static constexpr Redundant25519Calls kCalls{F::w, F::kDigitBound, F::kUncarriedBits, from_limbs, to_limbs,
                                              mul,  mul_fixed,      mul_small,         sqr,        add,
                                              sub};
  return kCalls;
}

}  // namespace manymod::test
