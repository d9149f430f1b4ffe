// SPDX-License-Identifier: Apache-2.0
// Many inverses for the price of one (P. L. Montgomery, "Speeding the Pollard and elliptic curve methods of
// factorization", 1987, 10.3.1), with zeros masked: they have no inverse, and the others keep theirs.
#pragma once

#include <cstddef>

#include "field/field.hpp"

namespace manymod::field {

/// r[i] = 1 / a[i], or 0 where a[i] is 0; exists[i]: where the inverse exists, for `count` elements.
///
/// On input: any magnitudes; the field's modulus is a prime. On output: m(r[i]) = 1. Three products an
/// element and one inversion. r may be a; scratch is room for `count` elements, which are left in it as
/// secret as a. Timing: constant-time; it depends on count only.
template <Field F>
void batch_inverse(const F& f, typename F::Element* r, typename F::Mask* exists, const typename F::Element* a,
                   std::size_t count, typename F::Element* scratch) {
  typename F::Element one, zero, product, x;
  f.one(one);
  f.zero(zero);
  f.one(product);
  // scratch[i] = the product of all before i, with ones for zeros.
  for (std::size_t i = 0; i < count; ++i) {
    f.normalize_weak(x, a[i]);
    const typename F::Mask is_zero = f.is_zero(x);
    f.cmov(x, one, is_zero);
    exists[i] = ~is_zero;
    r[i] = x;
    scratch[i] = product;
    f.mul(product, product, x);
  }
  // product = 1 / (r[0] .. r[i])
  static_cast<void>(f.inverse(product, product));
  for (std::size_t i = count; i-- > 0;) {
    x = r[i];
    f.mul(r[i], product, scratch[i]);
    f.mul(product, product, x);
    f.cmov(r[i], zero, ~exists[i]);
  }
}

}  // namespace manymod::field
