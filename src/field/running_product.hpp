// SPDX-License-Identifier: Apache-2.0
// Inverses of elements one after the other for one inversion (P. L. Montgomery, "Speeding the Pollard and
// elliptic curve methods of factorization", 1987, 10.3.1): the caller keeps what came before each of them.
#pragma once

#include "core/portable.hpp"
#include "field/field.hpp"

namespace manymod::field {

/// push() all elements, keep what it gives, invert(), and pop() them from the last to the first. None may be
/// 0: it would make all inverses 0. m = 1 for all elements. Three products an element and one inversion.
template <class F>
class RunningProduct {
 public:
  using Element = typename F::Element;

  MM_DEVICE explicit RunningProduct(const F& f) { f.one(product_); }

  /// The product of the elements so far: what is kept of the next one.
  [[nodiscard]] MM_DEVICE const Element& before() const { return product_; }
  MM_DEVICE void push(const F& f, const Element& x) { f.mul(product_, product_, x); }

  /// Inverter: a field of the same elements.
  template <class Inverter>
  MM_DEVICE void invert(const Inverter& f) {
    static_cast<void>(f.inverse(product_, product_));
  }

  /// r = 1 / x for the last element x that is left, given what came before it. r may be `before`, not x.
  MM_DEVICE void pop(const F& f, Element& r, const Element& x, const Element& before) {
    f.mul(r, before, product_);
    f.mul(product_, product_, x);
  }

 private:
  Element product_;
};

}  // namespace manymod::field
