// SPDX-License-Identifier: Apache-2.0
#include "host_curve.hpp"

#include <array>
#include <string>

#include "modmul/scalar64/kernels.hpp"

namespace manymod::bench::paper003 {
namespace {

using Limbs = std::array<Limb, kHostLimbs>;

Words parse(std::string_view digits, unsigned words) {
  Words r(words, 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t bit = 4 * (digits.size() - 1 - i);
    const std::string digit(digits.substr(i, 1));
    r[bit / 32] |= static_cast<std::uint32_t>(std::stoul(digit, nullptr, 16)) << (bit % 32);
  }
  return r;
}

Limbs limbs_of(const Words& words) {
  Limbs r{};
  for (std::size_t j = 0; j < words.size(); ++j) r[j / 2] |= Limb{words[j]} << (32 * (j % 2));
  return r;
}

}  // namespace

HostCurve::HostCurve(const NamedCurve& curve)
    : words_(curve.bits / 32),
      p_(parse(curve.p, words_)),
      a_words_(parse(curve.a, words_)),
      field_(scalar64::generic_kernels(), limbs_of(p_)),
      a_(element(a_words_)),
      generator_{element(parse(curve.gx, words_)), element(parse(curve.gy, words_)), false} {}

HostCurve::Element HostCurve::element(const Words& x) const {
  Element r;
  field_.from_limbs(r, limbs_of(x));
  return r;
}

Words HostCurve::words_of(const Element& x) const {
  Limbs limbs;
  field_.to_limbs(limbs, x);
  Words r(words_);
  for (unsigned j = 0; j < words_; ++j) r[j] = static_cast<std::uint32_t>(limbs[j / 2] >> (32 * (j % 2)));
  return r;
}

bool HostCurve::is_below_p(const Words& x) const {
  for (unsigned j = words_; j-- > 0;) {
    if (x[j] != p_[j]) return x[j] < p_[j];
  }
  return false;
}

HostCurve::Affine HostCurve::add(const Affine& u, const Affine& v) const {
  if (u.infinity) return v;
  if (v.infinity) return u;
  Element numerator, denominator, t;
  if (field_.equal(u.x, v.x) != 0) {
    field_.add(denominator, u.y, v.y);
    field_.normalize_weak(denominator, denominator);
    if (field_.is_zero(denominator) != 0) return {u.x, u.y, true};
    field_.sqr(t, u.x);
    field_.add(numerator, t, t);
    field_.add(numerator, numerator, t);
    field_.add(numerator, numerator, a_);  // 3 x^2 + a; the denominator is 2 y
  } else {
    field_.sub(numerator, v.y, u.y);
    field_.sub(denominator, v.x, u.x);
  }
  field_.normalize_weak(numerator, numerator);
  field_.normalize_weak(denominator, denominator);
  field_.inverse(t, denominator);
  Element slope;
  field_.mul(slope, numerator, t);
  Affine r;
  field_.sqr(r.x, slope);
  field_.sub(r.x, r.x, u.x);
  field_.sub(r.x, r.x, v.x);
  field_.normalize_weak(r.x, r.x);
  field_.sub(t, u.x, r.x);
  field_.mul(r.y, slope, t);
  field_.sub(r.y, r.y, u.y);
  field_.normalize_weak(r.y, r.y);
  return r;
}

HostCurve::Affine HostCurve::multiply(std::span<const std::uint32_t> k, const Affine& u) const {
  Affine r{u.x, u.y, true};
  for (std::size_t i = 32 * k.size(); i-- > 0;) {
    r = add(r, r);
    if ((k[i / 32] >> (i % 32) & 1) != 0) r = add(r, u);
  }
  return r;
}

Words HostCurve::product(const Words& x, const Words& y, unsigned steps) const {
  Element r = element(x);
  const Element factor = element(y);
  for (unsigned step = 0; step < steps; ++step) field_.mul(r, r, factor);
  return words_of(r);
}

Words HostCurve::power_of_two(unsigned exponent) const {
  Element r;
  field_.one(r);
  for (unsigned i = 0; i < exponent; ++i) {
    field_.add(r, r, r);
    field_.normalize_weak(r, r);
  }
  return words_of(r);
}

HostCurve::Jacobian HostCurve::jacobian(const Affine& u, const Words& z) const {
  const Element factor = element(z);
  Element square, x, y;
  field_.sqr(square, factor);
  field_.mul(x, u.x, square);
  field_.mul(square, square, factor);
  field_.mul(y, u.y, square);
  return {words_of(x), words_of(y), words_of(factor)};
}

bool HostCurve::is_point(const Jacobian& found, const Affine& u) const {
  if (!is_below_p(found.x) || !is_below_p(found.y) || !is_below_p(found.z)) return false;
  const bool infinity = found.z == Words(words_, 0);
  if (infinity || u.infinity) return infinity == u.infinity;
  const Jacobian expected = jacobian(u, found.z);
  return expected.x == found.x && expected.y == found.y;
}

}  // namespace manymod::bench::paper003
