// SPDX-License-Identifier: Apache-2.0
// Points of one curve in the lanes of vectors: formulas out of line, tables, and selections from them. For
// inclusion in instruction-set files only.
//
// Scalars are odd and recoded to odd digits (Joye, Tunstall 2009, algorithm 6): digit i of width w, i below
// the last, is (k / 2^(w i) mod 2^(w+1) | 1) - 2^w, which depends on no other digit, and the last is k / 2^(w
// i) | 1. No digit is 0, and a table has the odd multiples 1, 3, .., 2^w - 1.
#pragma once

#include <cstddef>

#include "arch/unaligned_vectors.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "ecc/lanes/lane_curves.hpp"
#include "ecc/lanes/point_lane_calls.hpp"
#include "field/batch_inverse.hpp"

namespace manymod::ecc::lanes {

/// `Curve`: see lane_curves.hpp. `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <class Curve, class Arch>
struct LanePoints {
  using F = typename Curve::template Field<Arch>;
  using Element = typename F::Element;
  using Vector = typename F::Vector;
  using Vectors = UnalignedVectors<Arch>;
  using Mask = typename F::Mask;
  using Point = jacobian::Point<F>;
  using Affine = jacobian::AffinePoint<F>;
  static constexpr std::size_t kLanes = F::kLanes;
  static constexpr std::size_t kDigits = F::kDigits;

  explicit LanePoints(const PointBlock& block) : b(block), f(Curve::template field<Arch>(block)) {}

  const PointBlock& b;
  [[no_unique_address]] F f;

  /// p = 2^count p.
  [[gnu::noinline]] void twice(Point& p, unsigned count) const {
    if constexpr (Curve::kA != CoefficientA::any) {
      twice_by(jacobian::Coefficient<F, Curve::kA>{}, p, count);
    } else if (b.kind_of_a == CoefficientA::zero) {
      twice_by(jacobian::Coefficient<F, CoefficientA::zero>{}, p, count);
    } else if (b.kind_of_a == CoefficientA::minus_three) {
      twice_by(jacobian::Coefficient<F, CoefficientA::minus_three>{}, p, count);
    } else {
      jacobian::Coefficient<F, CoefficientA::any> coefficient;
      from_limbs(coefficient.a, b.a);
      twice_by(coefficient, p, count);
    }
  }
  [[gnu::noinline]] void add_mixed(Point& p, const Affine& q) const { jacobian::add_mixed(f, p, p, q); }
  /// p = p + q for any p and any q other than infinity.
  [[gnu::noinline]] void add_complete(Point& p, const Affine& q) const {
    Point sum = p, doubled = p;
    add_mixed(sum, q);
    twice(doubled, 1);
    jacobian::complete_addition(f, p, p, q, sum, doubled);
  }
  [[gnu::noinline]] void invert(Element* r, Mask* exists, const Element* a, std::size_t count,
                                Element* work) const {
    field::batch_inverse(f, r, exists, a, count, work);
  }
  [[gnu::noinline]] void to_affine(Affine& r, const Point& p, const Element& z) const {
    jacobian::to_affine(f, r, p, z);
  }
  [[gnu::noinline]] void from_limbs(Element& r, const Limb* x) const { f.from_limbs(r, x); }
  [[gnu::noinline]] void to_limbs(Limb* x, const Element& a) const { f.to_limbs(x, a); }
  /// Words of a coordinate of one vector.
  [[nodiscard]] std::size_t words() const { return f.limbs() * kLanes; }
  void load_point(Affine& r, std::size_t v) const {
    from_limbs(r.x, b.px + v * words());
    from_limbs(r.y, b.py + v * words());
  }

  /// Adds two points with the same Z: r = p + r, and p gets the Z of r; h = Z(r) / Z.
  ///
  /// Meloni 2007, "New point addition formulae for ECC applications" (ZADDU). Neither p = r nor p = -r.
  [[gnu::noinline]] void add_shared(Point& r, Point& p, Element& h) const {
    Element hh, w, d, t, rest;
    f.template combine<1, -1>(h, p.x, r.x);
    f.sqr(hh, h);
    f.mul(r.z, r.z, h);
    f.mul(p.x, p.x, hh);
    f.mul(w, r.x, hh);
    // D = Y1 - Y2, X3 = D^2 - W1 - W2
    f.sub(d, p.y, r.y);
    f.sqr(t, d);
    f.template combine<1, -1, -1>(r.x, t, p.x, w);
    f.template combine<-1, 2, 1>(rest, t, p.x, w);
    // Y1 (W1 - W2), and Y3 = D (W1 - X3) less it
    f.sub(w, p.x, w);
    f.mul(p.y, p.y, w);
    f.mul(t, rest, d);
    f.template combine<1, -1>(r.y, t, p.y);
  }

  /// table[i] = (2 i + 1) p for i < count, up to Z: table[0] = p has Z = 1, the Z of table[1] is y(p) h[1],
  /// and that of table[i] is h[i] times the one before. z = the last. On input: the order of p is above 2
  /// count.
  void odd_multiples(Affine* table, Element* h, Element& z, const Affine& p, std::size_t count) const {
    // 2 p, with p on the same Z = y: jacobian::twice for Z = 1.
    Point sum, two;
    table[0] = p;
    jacobian::from_affine(f, two, p);
    f.sqr(sum.y, p.y);
    f.mul(sum.x, p.x, sum.y);
    f.sqr(sum.y, sum.y);
    twice(two, 1);
    sum.z = two.z;
    h[0] = two.z;
    for (std::size_t i = 1; i < count; ++i) {
      add_shared(sum, two, h[i]);
      table[i].x = sum.x;
      table[i].y = sum.y;
    }
    z = sum.z;
  }
  /// Completes the table, given 1 / z, which is lost.
  void normalize(Affine* table, const Element* h, Element& inverse, std::size_t count) const {
    Point entry;
    for (std::size_t i = count; --i > 0;) {
      entry.x = table[i].x;
      entry.y = table[i].y;
      to_affine(table[i], entry, inverse);
      f.mul(inverse, inverse, h[i]);
    }
  }

  struct Digit {
    Vector index;  ///< (|digit| - 1) / 2
    Mask negative;
  };
  /// Digit `window` of numbers with one limb of 0 above those that are read. negate: numbers of which the
  /// digits are wanted with the other sign.
  static Digit digit(const Limb* number, unsigned window, unsigned width, bool last, Mask negate) {
    const unsigned bit = window * width, shift = bit % kLimbBits;
    Vector bits = Vectors::load(number, bit / kLimbBits) >> shift;
    if (shift + width + 1 > kLimbBits)
      bits |= Vectors::load(number, bit / kLimbBits + 1) << (kLimbBits - shift);
    const Vector positive = last ? Vector{} - 1 : Vector{} - (bits >> width & 1);
    return {((bits >> 1) ^ ~positive) & ((Limb{1} << (width - 1)) - 1), ~positive ^ negate};
  }
  /// y = -y where negative.
  void negate(Element& y, Mask negative) const {
    Element opposite;
    f.neg(opposite, y);
    f.cmov(y, opposite, negative);
  }

  /// r = table[index stride], each lane by itself, 0 <= index < kCount: all entries are read.
  template <std::size_t kCount>
  static void select_own(Element& r, const Element* table, std::size_t stride, Vector index) {
    // As many digits at a time as registers hold.
    constexpr std::size_t kParts = (kDigits + 11) / 12;
    constexpr std::size_t kPart = (kDigits + kParts - 1) / kParts;
    for (std::size_t first = 0; first < kDigits; first += kPart) {
      select_digits<kCount, kPart>(r, table, stride, index, first);
    }
    r.set_magnitude(1);
  }

  /// r = entry `index` of a table shared by all lanes, whose words of one digit are side by side.
  template <class Lookup>
  [[gnu::noinline]] void select_shared(Affine& r, const typename Lookup::Word* table, Vector index) const {
    for (std::size_t i = 0; i < kDigits; ++i) {
      r.x.number.digit[i] = Lookup::lookup(table + i * Lookup::kEntries, index);
      r.y.number.digit[i] = Lookup::lookup(table + (kDigits + i) * Lookup::kEntries, index);
    }
    r.x.set_magnitude(1);
    r.y.set_magnitude(1);
  }

 private:
  template <CoefficientA kA>
  void twice_by(const jacobian::Coefficient<F, kA>& coefficient, Point& p, unsigned count) const {
    for (unsigned i = 0; i < count; ++i) jacobian::twice(f, coefficient, p, p);
  }
  template <std::size_t kCount, std::size_t kPart>
  static void select_digits(Element& r, const Element* table, std::size_t stride, Vector index,
                            std::size_t first) {
    Vector part[kPart] = {};
    for (std::size_t entry = 0; entry < kCount; ++entry) {
      const Vector mask = reinterpret_cast<Vector>(index == Vector{} + entry);
      const Vector* const digits = table[entry * stride].number.digit + first;
      for (std::size_t i = 0; i < kPart; ++i) {
        if (first + i < kDigits) part[i] |= digits[i] & mask;
      }
    }
    for (std::size_t i = 0; i < kPart; ++i) {
      if (first + i < kDigits) r.number.digit[first + i] = part[i];
    }
  }
};

}  // namespace manymod::ecc::lanes
