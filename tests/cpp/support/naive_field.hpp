// SPDX-License-Identifier: Apache-2.0
// The contract of field/field.hpp on slow arithmetic: residues below n, and magnitudes that are checked in
// every build. Tests run one program on this field and on a backend and compare.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "field/field.hpp"
#include "repr/canonical.hpp"
#include "support/naive.hpp"

namespace manymod::test {

/// Thrown if a program violates the contract.
class MagnitudeError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class NaiveField {
 public:
  struct Element {
    naive::Limbs value;
    unsigned magnitude = 0;
  };
  using Mask = Limb;
  using Source = naive::Limbs;
  using Sink = naive::Limbs*;

  explicit NaiveField(naive::Limbs n) : n_(std::move(n)) {}

  [[nodiscard]] const naive::Limbs& n() const { return n_; }

  void zero(Element& r) const { r = {naive::Limbs(n_.size(), 0), 1}; }
  void one(Element& r) const {
    zero(r);
    r.value[0] = 1;
  }
  void from_limbs(Element& r, const naive::Limbs& x) const { r = {naive::reduce(x, n_), 1}; }
  void to_limbs(naive::Limbs* x, const Element& a) const {
    allow(a.magnitude >= 1);
    *x = a.value;
  }

  void mul(Element& r, const Element& a, const Element& b) const {
    allow(a.magnitude >= 1 && b.magnitude >= 1 && a.magnitude * b.magnitude <= field::kMaxProduct);
    r = {naive::multiply_mod(a.value, b.value, n_), 1};
  }
  void sqr(Element& r, const Element& a) const { mul(r, a, a); }
  void add(Element& r, const Element& a, const Element& b) const {
    allow(a.magnitude >= 1 && b.magnitude >= 1 && a.magnitude + b.magnitude <= field::kMaxMagnitude);
    r = {sum(a.value, b.value), a.magnitude + b.magnitude};
  }
  template <unsigned kOfB = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    allow(a.magnitude >= 1 && b.magnitude >= 1 && b.magnitude <= kOfB &&
          a.magnitude + kOfB <= field::kMaxMagnitude);
    r = {difference(a.value, b.value), a.magnitude + kOfB};
  }
  template <unsigned kOfA = 1>
  void neg(Element& r, const Element& a) const {
    allow(a.magnitude >= 1 && a.magnitude <= kOfA);
    r = {difference(naive::Limbs(n_.size(), 0), a.value), kOfA + 1};
  }
  void half(Element& r, const Element& a) const {
    allow(a.magnitude >= 1 && a.magnitude < field::kMaxMagnitude);
    r = {halved(a.value), a.magnitude / 2 + 1};
  }
  template <unsigned kOfA = field::kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    allow(a.magnitude >= 1 && a.magnitude <= kOfA);
    r = {a.value, 1};
  }
  void cmov(Element& r, const Element& a, Mask mask) const {
    allow(a.magnitude >= 1 && r.magnitude >= 1);
    r = {mask != 0 ? a.value : r.value, std::max(a.magnitude, r.magnitude)};
  }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    allow(a.magnitude == 1);
    return mask(a.value == naive::Limbs(n_.size(), 0));
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    allow(a.magnitude == 1 && b.magnitude == 1);
    return mask(a.value == b.value);
  }
  /// By the binary extended Euclidean algorithm: Handbook of Applied Cryptography, 14.61, for odd n.
  Mask inverse(Element& r, const Element& a) const {
    allow(a.magnitude >= 1);
    naive::Limbs u = a.value, v = n_, x(n_.size(), 0), y(n_.size(), 0);
    const naive::Limbs nothing = y;
    x[0] = 1;
    // x a = u and y a = v mod n.
    while (u != nothing) {
      for (; u[0] % 2 == 0; x = halved(x)) shift_right(u, 0);
      for (; v[0] % 2 == 0; y = halved(y)) shift_right(v, 0);
      if (at_least(u, v)) {
        subtract(u, v);
        x = difference(x, y);
      } else {
        subtract(v, u);
        y = difference(y, x);
      }
    }
    naive::Limbs one = nothing;
    one[0] = 1;
    r = {v == one ? y : nothing, 1};
    return mask(v == one);
  }

  static bool at_least(const naive::Limbs& a, const naive::Limbs& b) {
    return naive::at_least(naive::digits(a), naive::digits(b));
  }
  /// a -= b for a >= b; b may be shorter.
  static void subtract(naive::Limbs& a, const naive::Limbs& b) {
    Limb borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Limb x = a[i], y = i < b.size() ? b[i] : 0;
      a[i] = x - y - borrow;
      borrow = x < y || (x == y && borrow != 0) ? 1 : 0;
    }
  }

 private:
  naive::Limbs n_;

  static void allow(bool condition) {
    if (!condition) throw MagnitudeError("a program leaves the ranges of the contract");
  }
  static Mask mask(bool condition) { return condition ? ~Mask{0} : Mask{0}; }

  static void shift_right(naive::Limbs& a, Limb carry) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = a[i] >> 1 | (i + 1 < a.size() ? a[i + 1] : carry) << 63;
    }
  }
  /// a + b; the carry is added to `carry`.
  static void accumulate(naive::Limbs& a, const naive::Limbs& b, Limb& carry) {
    carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Limb before = a[i] + carry;
      carry = before < carry ? 1 : 0;
      a[i] = before + b[i];
      carry += a[i] < before ? 1 : 0;
    }
  }
  [[nodiscard]] naive::Limbs sum(naive::Limbs a, const naive::Limbs& b) const {
    Limb carry = 0;
    accumulate(a, b, carry);
    if (carry != 0 || at_least(a, n_)) subtract(a, n_);
    return a;
  }
  [[nodiscard]] naive::Limbs difference(const naive::Limbs& a, const naive::Limbs& b) const {
    naive::Limbs negative = n_;
    subtract(negative, b);
    if (negative == n_) return a;
    return sum(a, negative);
  }
  [[nodiscard]] naive::Limbs halved(naive::Limbs a) const {
    Limb carry = 0;
    if (a[0] % 2 != 0) accumulate(a, n_, carry);
    shift_right(a, carry);
    return a;
  }
};

static_assert(field::Field<NaiveField>);

}  // namespace manymod::test
