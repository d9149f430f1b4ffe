// SPDX-License-Identifier: Apache-2.0
// The magnitudes that elements of a field carry, and the ranges of the field's functions in terms of them.
// field/field.hpp explains both. Every backend applies these rules, so that they are written only once.
#pragma once

#include "core/portable.hpp"
#include "repr/verify.hpp"

namespace manymod::field {

/// Elements have at most this magnitude.
inline constexpr unsigned kMaxMagnitude = 8;
/// A product of magnitudes that mul accepts.
inline constexpr unsigned kMaxProduct = 4;

#if MANYMOD_VERIFY
/// The member that elements have besides their value in VERIFY builds: its magnitude, or 0 before it has a
/// value.
class Carried {
 public:
  MM_DEVICE unsigned magnitude() const { return magnitude_; }
  MM_DEVICE void set_magnitude(unsigned magnitude) { magnitude_ = magnitude; }

 private:
  unsigned magnitude_ = 0;
};
#else
/// Nothing: only VERIFY builds carry magnitudes.
class Carried {
 public:
  MM_DEVICE static constexpr unsigned magnitude() { return 0; }
  MM_DEVICE static constexpr void set_magnitude(unsigned /*magnitude*/) {}
};
#endif

/// The ranges of each function: in VERIFY builds a call outside of them stops the program, and the result
/// gets its magnitude. In other builds these functions do nothing. r may be an operand.
struct Rules {
  MM_DEVICE static void set(Carried& r, [[maybe_unused]] unsigned magnitude) {
    MANYMOD_VERIFY_RANGE(magnitude >= 1 && magnitude <= kMaxMagnitude);
    r.set_magnitude(magnitude);
  }
  MM_DEVICE static void mul(Carried& r, [[maybe_unused]] const Carried& a,
                            [[maybe_unused]] const Carried& b) {
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && b.magnitude() >= 1 &&
                         a.magnitude() * b.magnitude() <= kMaxProduct);
    r.set_magnitude(1);
  }
  MM_DEVICE static void sqr(Carried& r, const Carried& a) { mul(r, a, a); }
  /// r = a b - c d
  MM_DEVICE static void mul_sub(Carried& r, [[maybe_unused]] const Carried& a,
                                [[maybe_unused]] const Carried& b, const Carried& c, const Carried& d) {
    read_reduced(c), read_reduced(d);
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && b.magnitude() >= 1 &&
                         a.magnitude() * b.magnitude() + 1 <= kMaxProduct);
    r.set_magnitude(1);
  }
  MM_DEVICE static void add(Carried& r, const Carried& a, const Carried& b) {
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && b.magnitude() >= 1 &&
                         a.magnitude() + b.magnitude() <= kMaxMagnitude);
    r.set_magnitude(a.magnitude() + b.magnitude());
  }
  /// kOfB: a bound of b's magnitude
  template <unsigned kOfB>
  MM_DEVICE static void sub(Carried& r, const Carried& a, [[maybe_unused]] const Carried& b) {
    static_assert(kOfB == 1 || kOfB == 2 || kOfB == 4);
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && b.magnitude() >= 1 && b.magnitude() <= kOfB &&
                         a.magnitude() + kOfB <= kMaxMagnitude);
    r.set_magnitude(a.magnitude() + kOfB);
  }
  /// kOfA: a bound of a's magnitude
  template <unsigned kOfA>
  MM_DEVICE static void neg(Carried& r, [[maybe_unused]] const Carried& a) {
    static_assert(kOfA == 1 || kOfA == 2 || kOfA == 4);
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && a.magnitude() <= kOfA);
    r.set_magnitude(kOfA + 1);
  }
  MM_DEVICE static void half(Carried& r, const Carried& a) {
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && a.magnitude() < kMaxMagnitude);
    r.set_magnitude(a.magnitude() / 2 + 1);
  }
  template <unsigned kOfA>
  MM_DEVICE static void normalize_weak(Carried& r, [[maybe_unused]] const Carried& a) {
    static_assert(kOfA == 2 || kOfA == 4 || kOfA == 8);
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && a.magnitude() <= kOfA);
    r.set_magnitude(1);
  }
  MM_DEVICE static void cmov(Carried& r, const Carried& a) {
    MANYMOD_VERIFY_RANGE(r.magnitude() >= 1 && a.magnitude() >= 1);
    if (a.magnitude() > r.magnitude()) r.set_magnitude(a.magnitude());
  }
  /// Functions that read an element of any magnitude.
  MM_DEVICE static void read([[maybe_unused]] const Carried& a) {
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1 && a.magnitude() <= kMaxMagnitude);
  }
  /// Functions that read an element of magnitude 1.
  MM_DEVICE static void read_reduced([[maybe_unused]] const Carried& a) {
    MANYMOD_VERIFY_RANGE(a.magnitude() == 1);
  }
};

}  // namespace manymod::field
