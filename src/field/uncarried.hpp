// SPDX-License-Identifier: Apache-2.0
// Forms of elements that spare carries. A sum carries its digits anyway, and a product may read fewer bits of
// a factor than a digit has, so that an author of a formula says what a value is used for:
//
//   Uncarried<F>   the result of a product that is only added or subtracted
//   Unmasked<F>    the result of a sum or product that is only multiplied
//
// mul, sqr and mul_small take Elements and Unmasked, add and sub take Elements and Uncarried, all of them
// return any form, and cmov works on two of one form. Magnitudes are those of field/field.hpp. In a field
// that has no such forms they are Elements. So is the last one, which mul takes as its second factor:
//
//   FixedFactor<F>   a factor of many products
#pragma once

#include <type_traits>

#include "core/portable.hpp"

namespace manymod::field {

namespace forms {
template <class F>
struct Of {
  using Uncarried = typename F::Element;
  using Unmasked = typename F::Element;
};
template <class F>
  requires requires { typename F::Uncarried; }
struct Of<F> {
  using Uncarried = typename F::Uncarried;
  using Unmasked = typename F::Unmasked;
};
template <class F>
struct Fixed {
  using Factor = typename F::Element;
};
template <class F>
  requires requires { typename F::FixedFactor; }
struct Fixed<F> {
  using Factor = typename F::FixedFactor;
};
}  // namespace forms

template <class F>
using Uncarried = typename forms::Of<F>::Uncarried;
template <class F>
using Unmasked = typename forms::Of<F>::Unmasked;
template <class F>
using FixedFactor = typename forms::Fixed<F>::Factor;

/// r = a in another form: of an Uncarried an Element, or the reverse. m(r) = m(a).
template <class F, class To, class From>
MM_DEVICE void convert(const F& f, To& r, const From& a) {
  if constexpr (std::is_same_v<To, From>) {
    r = a;
  } else {
    f.convert(r, a);
  }
}

/// r = a as a FixedFactor. m(r) = m(a).
template <class F>
MM_DEVICE void fix(const F& f, FixedFactor<F>& r, const typename F::Element& a) {
  if constexpr (std::is_same_v<FixedFactor<F>, typename F::Element>) {
    r = a;
  } else {
    f.fix(r, a);
  }
}

}  // namespace manymod::field
