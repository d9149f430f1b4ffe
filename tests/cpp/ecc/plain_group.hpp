// SPDX-License-Identifier: Apache-2.0
// What engines are compared with: the textbook group laws in affine coordinates, every case written out, on
// libcrypto's big numbers, and libcrypto's multiples of points of Weierstrass curves. It shares no arithmetic
// with the library.
#pragma once

#include <openssl/bn.h>
#include <openssl/ec.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crypto/libcrypto.hpp"
#include "ecc/curve.hpp"

namespace manymod::test {

/// Affine coordinates of curve.limbs() limbs, 0 at infinity. Edwards curves have no infinity.
struct PlainPoint {
  std::vector<Limb> x, y;
  bool infinite = false;

  friend bool operator==(const PlainPoint&, const PlainPoint&) = default;
};

class PlainGroup {
 public:
  explicit PlainGroup(const ecc::Curve& curve);

  [[nodiscard]] const ecc::Curve& curve() const { return curve_; }
  [[nodiscard]] PlainPoint neutral() const;
  [[nodiscard]] PlainPoint generator() const;
  [[nodiscard]] PlainPoint negate(const PlainPoint& p) const;
  [[nodiscard]] PlainPoint add(const PlainPoint& p, const PlainPoint& q) const;
  [[nodiscard]] PlainPoint multiply(std::span<const Limb> k, const PlainPoint& p) const;
  [[nodiscard]] bool contains(const PlainPoint& p) const;
  /// The point with this x (Edwards: y) whose other coordinate has this lowest bit, unless it is 0.
  [[nodiscard]] std::optional<PlainPoint> lift(std::span<const Limb> given, bool odd) const;
  /// Montgomery curves: u of k (u, v) for the lowest `bits` bits of k, on the curve or on its twist; 0 for
  /// infinity.
  [[nodiscard]] std::vector<Limb> ladder(std::span<const Limb> k, unsigned bits,
                                         std::span<const Limb> u) const;

 private:
  using Number = crypto::Number;

  struct FreeGroup {
    void operator()(EC_GROUP* group) const { EC_GROUP_free(group); }
    void operator()(EC_POINT* point) const { EC_POINT_free(point); }
  };

  const ecc::Curve& curve_;
  crypto::Libcrypto<BN_CTX> context_;
  Number p_, a_, b_;
  std::unique_ptr<EC_GROUP, FreeGroup> group_;  ///< of Weierstrass curves

  [[nodiscard]] Number number(std::span<const Limb> limbs) const;
  [[nodiscard]] Number word(unsigned long value) const;
  [[nodiscard]] std::vector<Limb> limbs(const Number& x) const;
  [[nodiscard]] Number sum(const Number& x, const Number& y) const;
  [[nodiscard]] Number difference(const Number& x, const Number& y) const;
  [[nodiscard]] Number product(const Number& x, const Number& y) const;
  [[nodiscard]] Number quotient(const Number& x, const Number& y) const;
  /// The chord or tangent through points of b v^2 = u^3 + a2 u^2 + a4 u + .., none of which is infinity.
  [[nodiscard]] PlainPoint chord(const PlainPoint& p, const PlainPoint& q, const Number& a2, const Number& a4,
                                 const Number& b) const;
  [[nodiscard]] PlainPoint multiply_weierstrass(std::span<const Limb> k, const PlainPoint& p) const;
  [[nodiscard]] PlainPoint add_edwards(const PlainPoint& p, const PlainPoint& q) const;
};

}  // namespace manymod::test
