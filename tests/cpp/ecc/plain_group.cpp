// SPDX-License-Identifier: Apache-2.0
#include "ecc/plain_group.hpp"

#include <algorithm>

#include "repr/bytes.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {

using crypto::require_crypto;

PlainGroup::PlainGroup(const ecc::Curve& curve)
    : curve_(curve), context_(BN_CTX_new()), p_(number(curve.p)), a_(number(curve.a)), b_(number(curve.b)) {}

PlainPoint PlainGroup::neutral() const {
  PlainPoint point{std::vector<Limb>(curve_.limbs()), std::vector<Limb>(curve_.limbs()), true};
  if (curve_.form == MM_ECC_EDWARDS) {
    point.y[0] = 1;
    point.infinite = false;
  }
  return point;
}

PlainPoint PlainGroup::generator() const { return {curve_.x, curve_.y, false}; }

PlainPoint PlainGroup::negate(const PlainPoint& p) const {
  PlainPoint r = p;
  std::vector<Limb>& negated = curve_.form == MM_ECC_EDWARDS ? r.x : r.y;
  negated = limbs(difference(word(0), number(negated)));
  return r;
}

PlainPoint PlainGroup::add(const PlainPoint& p, const PlainPoint& q) const {
  if (curve_.form == MM_ECC_EDWARDS) return add_edwards(p, q);
  if (p.infinite) return q;
  if (q.infinite) return p;
  return chord(p, q, word(0), a_, word(1));
}

PlainPoint PlainGroup::multiply(std::span<const Limb> k, const PlainPoint& p) const {
  if (group_ != nullptr) return multiply_weierstrass(k, p);
  PlainPoint r = neutral();
  for (std::size_t i = limbs::bit_length_var(k); i-- > 0;) {
    r = add(r, r);
    if (limbs::test_bit(k, i)) r = add(r, p);
  }
  return r;
}

PlainPoint PlainGroup::multiply_weierstrass(std::span<const Limb> k, const PlainPoint& p) const {
  if (p.infinite) return p;
  const EC_GROUP* const group = group_.get();
  const std::unique_ptr<EC_POINT, FreeGroup> point(EC_POINT_new(group));
  require_crypto(EC_POINT_set_affine_coordinates(group, point.get(), number(p.x).get(), number(p.y).get(),
                                                 context_.get()) == 1,
                 "EC_POINT_set_affine_coordinates");
  require_crypto(EC_POINT_mul(group, point.get(), nullptr, point.get(), number(k).get(), context_.get()) == 1,
                 "EC_POINT_mul");
  if (EC_POINT_is_at_infinity(group, point.get()) == 1) return neutral();
  const Number x = word(0), y = word(0);
  require_crypto(EC_POINT_get_affine_coordinates(group, point.get(), x.get(), y.get(), context_.get()) == 1,
                 "EC_POINT_get_affine_coordinates");
  return {limbs(x), limbs(y), false};
}

bool PlainGroup::contains(const PlainPoint& p) const {
  if (p.infinite) return true;
  const Number x = number(p.x), y = number(p.y);
  const Number xx = product(x, x), yy = product(y, y);
  if (curve_.form == MM_ECC_EDWARDS) {
    const Number left = sum(product(a_, xx), yy);
    const Number right = sum(word(1), product(b_, product(xx, yy)));
    return BN_cmp(left.get(), right.get()) == 0;
  }
  return BN_cmp(yy.get(), sum(product(sum(xx, a_), x), b_).get()) == 0;
}

std::optional<PlainPoint> PlainGroup::lift(std::span<const Limb> given, bool odd) const {
  const bool edwards = curve_.form == MM_ECC_EDWARDS;
  const Number x = number(given);
  const Number xx = product(x, x);
  const Number square = edwards ? quotient(difference(xx, word(1)), difference(product(b_, xx), a_))
                                : sum(product(sum(xx, a_), x), b_);
  if (BN_kronecker(square.get(), p_.get(), context_.get()) == -1) return std::nullopt;
  Number root = word(0);
  require_crypto(BN_mod_sqrt(root.get(), square.get(), p_.get(), context_.get()) != nullptr, "BN_mod_sqrt");
  if ((BN_is_odd(root.get()) == 1) != odd) root = difference(word(0), root);
  std::vector<Limb> other = limbs(root);
  std::vector<Limb> own(given.begin(), given.end());
  return edwards ? PlainPoint{std::move(other), std::move(own), false}
                 : PlainPoint{std::move(own), std::move(other), false};
}

std::vector<Limb> PlainGroup::ladder(std::span<const Limb> k, unsigned bits, std::span<const Limb> u) const {
  // (u, 1) is on b v^2 = u^3 + a u^2 + u for b = u^3 + a u^2 + u: the curve itself, up to isomorphism, or its
  // twist.
  const Number x = number(u);
  const Number b = product(x, sum(product(x, sum(x, a_)), word(1)));
  const bool order_two = BN_is_zero(b.get()) == 1;
  const PlainPoint point{{u.begin(), u.end()}, limbs(word(order_two ? 0 : 1)), false};
  const Number one = word(1);
  PlainPoint r = neutral();
  const auto add_finite = [&](const PlainPoint& q) {
    if (q.infinite) return;
    r = r.infinite ? q : chord(r, q, a_, one, b);
  };
  for (unsigned i = bits; i-- > 0;) {
    add_finite(PlainPoint(r));
    if (limbs::test_bit(k, i)) add_finite(point);
  }
  return r.x;
}

PlainPoint PlainGroup::chord(const PlainPoint& p, const PlainPoint& q, const Number& a2, const Number& a4,
                             const Number& b) const {
  const Number x1 = number(p.x), y1 = number(p.y), x2 = number(q.x), y2 = number(q.y);
  Number slope;
  if (p.x != q.x) {
    slope = quotient(difference(y2, y1), difference(x2, x1));
  } else if (BN_is_zero(sum(y1, y2).get()) == 1) {
    PlainPoint infinity{std::vector<Limb>(curve_.limbs()), std::vector<Limb>(curve_.limbs()), true};
    return infinity;
  } else {
    const Number xx = product(x1, x1);
    const Number rise = sum(sum(product(word(3), xx), product(word(2), product(a2, x1))), a4);
    slope = quotient(rise, product(product(word(2), b), y1));
  }
  const Number square = product(b, product(slope, slope));
  const Number x3 = difference(difference(difference(square, a2), x1), x2);
  const Number y3 = difference(product(slope, difference(x1, x3)), y1);
  return {limbs(x3), limbs(y3), false};
}

PlainPoint PlainGroup::add_edwards(const PlainPoint& p, const PlainPoint& q) const {
  const Number x1 = number(p.x), y1 = number(p.y), x2 = number(q.x), y2 = number(q.y);
  const Number xx = product(x1, x2), yy = product(y1, y2);
  const Number all = product(b_, product(xx, yy));
  const Number plus = sum(word(1), all), minus = difference(word(1), all);
  const Number inverse = quotient(word(1), product(plus, minus));
  const Number x3 = product(sum(product(x1, y2), product(y1, x2)), minus);
  const Number y3 = product(difference(yy, product(a_, xx)), plus);
  return {limbs(product(x3, inverse)), limbs(product(y3, inverse)), false};
}

PlainGroup::Number PlainGroup::number(std::span<const Limb> limbs) const {
  std::vector<std::uint8_t> bytes(8 * limbs.size());
  bytes_from_limbs(bytes, limbs);
  Number r(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  require_crypto(r != nullptr, "BN_bin2bn");
  return r;
}

PlainGroup::Number PlainGroup::word(unsigned long value) const {
  Number r(BN_new());
  require_crypto(r != nullptr && BN_set_word(r.get(), value) == 1, "BN_set_word");
  return r;
}

std::vector<Limb> PlainGroup::limbs(const Number& x) const {
  std::vector<std::uint8_t> bytes(8 * curve_.limbs());
  require_crypto(BN_bn2binpad(x.get(), bytes.data(), static_cast<int>(bytes.size())) >= 0, "BN_bn2binpad");
  std::vector<Limb> r(curve_.limbs());
  limbs_from_bytes(r, bytes);
  return r;
}

PlainGroup::Number PlainGroup::sum(const Number& x, const Number& y) const {
  Number r = word(0);
  require_crypto(BN_mod_add(r.get(), x.get(), y.get(), p_.get(), context_.get()) == 1, "BN_mod_add");
  return r;
}

PlainGroup::Number PlainGroup::difference(const Number& x, const Number& y) const {
  Number r = word(0);
  require_crypto(BN_mod_sub(r.get(), x.get(), y.get(), p_.get(), context_.get()) == 1, "BN_mod_sub");
  return r;
}

PlainGroup::Number PlainGroup::product(const Number& x, const Number& y) const {
  Number r = word(0);
  require_crypto(BN_mod_mul(r.get(), x.get(), y.get(), p_.get(), context_.get()) == 1, "BN_mod_mul");
  return r;
}

PlainGroup::Number PlainGroup::quotient(const Number& x, const Number& y) const {
  Number inverse(BN_mod_inverse(nullptr, y.get(), p_.get(), context_.get()));
  require_crypto(inverse != nullptr, "BN_mod_inverse");
  return product(x, inverse);
}

}  // namespace manymod::test
