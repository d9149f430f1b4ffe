// SPDX-License-Identifier: Apache-2.0
// Many inverses for the price of one (P. L. Montgomery, "Speeding the Pollard and elliptic curve methods of
// factorization", 1987, 10.3.1), with zeros masked: they have no inverse, and the others keep theirs.
#pragma once

#include <cstddef>

#include "field/field.hpp"

namespace manymod::field {

/// Running products side by side: each depends on the one before it, and a processor has time for several.
inline constexpr std::size_t kInverseChains = 4;

/// x[k] = 1 / x[k] for few x, which have inverses. 3 (kCount - 1) products and one inversion.
template <std::size_t kCount, Field F>
void invert_few(const F& f, typename F::Element (&x)[kCount]) {
  typename F::Element before[kCount], rest, inverse;  // before[k] = x[0] .. x[k-1] for k > 0
  before[0] = rest = x[0];
  for (std::size_t k = 1; k < kCount; ++k) {
    before[k] = rest;
    f.mul(rest, rest, x[k]);
  }
  static_cast<void>(f.inverse(rest, rest));
  for (std::size_t k = kCount - 1; k > 0; --k) {
    f.mul(inverse, rest, before[k]);
    f.mul(rest, rest, x[k]);
    x[k] = inverse;
  }
  x[0] = rest;
}

/// r[i] = 1 / a[i], or 0 where a[i] is 0; exists[i]: where the inverse exists, for `count` elements.
///
/// On input: any magnitudes; the field's modulus is a prime. On output: m(r[i]) = 1. Three products an
/// element, and one inversion. r may be a; scratch is room for `count` elements, and what is left in it is as
/// secret as a. Timing: constant-time; it depends on count only.
template <Field F>
void batch_inverse(const F& f, typename F::Element* r, typename F::Mask* exists, const typename F::Element* a,
                   std::size_t count, typename F::Element* scratch) {
  typename F::Element one, zero, x, product[kInverseChains];
  f.one(one);
  f.zero(zero);
  for (auto& p : product) f.one(p);
  // scratch[i] = the product of all before i in its chain, with ones for zeros.
  for (std::size_t i = 0; i < count; ++i) {
    typename F::Element& chain = product[i % kInverseChains];
    f.normalize_weak(x, a[i]);
    const typename F::Mask is_zero = f.is_zero(x);
    f.cmov(x, one, is_zero);
    exists[i] = ~is_zero;
    r[i] = x;
    scratch[i] = chain;
    f.mul(chain, chain, x);
  }
  invert_few(f, product);
  // chain = 1 / the product of r[i] and all before it
  for (std::size_t i = count; i-- > 0;) {
    typename F::Element& chain = product[i % kInverseChains];
    x = r[i];
    f.mul(r[i], chain, scratch[i]);
    f.mul(chain, chain, x);
    f.cmov(r[i], zero, ~exists[i]);
  }
}

}  // namespace manymod::field
