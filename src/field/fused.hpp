// SPDX-License-Identifier: Apache-2.0
// Combinations of the functions of field/field.hpp that some backends compute at once, with fewer reductions
// and carries; others compute them one by one. Aliasing and timing: as there. Operands of sums and products,
// and results where they are not declared Elements, may have the forms of field/uncarried.hpp.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "field/field.hpp"

namespace manymod::field {

/// r = 3 a / 2. m(a) = 1, m(r) = 2.
template <class F>
MM_DEVICE void three_halves(const F& f, typename F::Element& r, const auto& a) {
  if constexpr (requires { f.three_halves(r, a); }) {
    f.three_halves(r, a);
  } else {
    typename F::Element t;
    f.half(t, a);
    f.add(r, a, t);
  }
}

/// r = a b - c d. m(a) m(b) <= 3, or b is the `rest` of a function below and m(a) <= 2; m(c) = m(d) = 1,
/// m(r) = 1.
template <class F>
MM_DEVICE void mul_sub(const F& f, typename F::Element& r, const auto& a, const auto& b, const auto& c,
                       const auto& d) {
  if constexpr (requires { f.mul_sub(r, a, b, c, d); }) {
    f.mul_sub(r, a, b, c, d);
  } else {
    typename F::Element t;
    f.mul(t, c, d);
    f.mul(r, a, b);
    f.sub(r, r, t);
    f.template normalize_weak<2>(r, r);
  }
}

/// r = a b - c^2, likewise.
template <class F>
MM_DEVICE void mul_sub_sqr(const F& f, typename F::Element& r, const auto& a, const auto& b, const auto& c) {
  if constexpr (requires { f.mul_sub_sqr(r, a, b, c); }) {
    f.mul_sub_sqr(r, a, b, c);
  } else {
    typename F::Element t;
    f.sqr(t, c);
    f.mul(r, a, b);
    f.sub(r, r, t);
    f.template normalize_weak<2>(r, r);
  }
}

/// x = a - 2 v and rest = v - x. m = 1 on input, m(x) = 1, m(rest) = 1 where mul_sub is computed at once,
/// else m(rest) <= 2. Neither result is an operand.
template <class F>
MM_DEVICE void sub_twice(const F& f, typename F::Element& x, auto& rest, const auto& a, const auto& v) {
  if constexpr (requires { f.template combine<1, -2>(x, a, v); }) {
    f.template combine<1, -2>(x, a, v);
    f.template combine<-1, 3>(rest, a, v);
  } else if constexpr (requires { f.sub_twice(x, a, v); }) {
    f.sub_twice(x, a, v);
    f.sub(rest, v, x);
    f.template normalize_weak<2>(rest, rest);
  } else {
    f.sub(x, a, v);
    f.sub(x, x, v);
    f.template normalize_weak<4>(x, x);
    f.sub(rest, v, x);
  }
}

/// x = a - b - 2 v and rest = v - x, likewise.
template <class F>
MM_DEVICE void sub_and_twice(const F& f, typename F::Element& x, auto& rest, const auto& a, const auto& b,
                             const auto& v) {
  if constexpr (requires { f.template combine<1, -1, -2>(x, a, b, v); }) {
    f.template combine<1, -1, -2>(x, a, b, v);
    f.template combine<-1, 1, 3>(rest, a, b, v);
  } else if constexpr (requires { f.sub_and_twice(x, a, b, v); }) {
    f.sub_and_twice(x, a, b, v);
    f.sub(rest, v, x);
    f.template normalize_weak<2>(rest, rest);
  } else {
    f.sub(x, a, b);
    f.sub(x, x, v);
    f.sub(x, x, v);
    f.template normalize_weak<4>(x, x);
    f.sub(rest, v, x);
  }
}

/// r = a + b - c, and r = a - b + 2 c. m(a) = m(b) = m(c) = 1, m(r) = 1.
template <class F>
MM_DEVICE void add_sub(const F& f, auto& r, const auto& a, const auto& b, const auto& c) {
  if constexpr (requires { f.template combine<1, 1, -1>(r, a, b, c); }) {
    f.template combine<1, 1, -1>(r, a, b, c);
  } else {
    typename F::Element t;
    f.add(t, a, b);
    f.sub(t, t, c);
    f.template normalize_weak<4>(r, t);
  }
}
template <class F>
MM_DEVICE void sub_add_twice(const F& f, auto& r, const auto& a, const auto& b, const auto& c) {
  if constexpr (requires { f.template combine<1, -1, 2>(r, a, b, c); }) {
    f.template combine<1, -1, 2>(r, a, b, c);
  } else {
    typename F::Element t;
    f.sub(t, a, b);
    f.add(t, t, c);
    f.add(t, t, c);
    f.template normalize_weak<4>(r, t);
  }
}

/// r = a - b - c, and r = a + b - 2 c. m(a) = m(b) = m(c) = 1, m(r) = 1.
template <class F>
MM_DEVICE void sub_both(const F& f, auto& r, const auto& a, const auto& b, const auto& c) {
  if constexpr (requires { f.template combine<1, -1, -1>(r, a, b, c); }) {
    f.template combine<1, -1, -1>(r, a, b, c);
  } else {
    typename F::Element t;
    f.sub(t, a, b);
    f.sub(t, t, c);
    f.template normalize_weak<4>(r, t);
  }
}
template <class F>
MM_DEVICE void add_sub_twice(const F& f, auto& r, const auto& a, const auto& b, const auto& c) {
  if constexpr (requires { f.template combine<1, 1, -2>(r, a, b, c); }) {
    f.template combine<1, 1, -2>(r, a, b, c);
  } else {
    typename F::Element t;
    f.add(t, a, b);
    f.sub(t, t, c);
    f.sub(t, t, c);
    f.template normalize_weak<4>(r, t);
  }
}

/// A public constant below 2^20, for fields that have a product by one.
struct Small {
  std::uint32_t value;
};
/// r = a times a constant. m(a) <= 2, m(r) = 1.
template <class F>
MM_DEVICE void mul_constant(const F& f, auto& r, const auto& a, const typename F::Element& constant) {
  f.mul(r, a, constant);
}
template <class F>
MM_DEVICE void mul_constant(const F& f, auto& r, const auto& a, Small constant) {
  f.mul_small(r, a, constant.value);
}

}  // namespace manymod::field
