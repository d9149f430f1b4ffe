// SPDX-License-Identifier: Apache-2.0
// The step of Montgomery's ladder, in both orders, on small curves, for every u of the curve and of its
// twist, against addition by the chord-and-tangent law, on the scalar field.
#include "ecc/formulas/ladder.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "field/scalar.hpp"
#include "support/kernel_sets.hpp"

namespace manymod::test {
namespace {

using F = field::ScalarField<1>;
using Element = F::Element;

/// b v^2 = u^3 + a u^2 + u; another b gives the twist.
struct SmallMontgomery {
  Limb p, a, b;

  struct Affine {
    Limb u, v;
  };
  using Point = std::optional<Affine>;

  [[nodiscard]] Limb inverse(Limb x) const {
    Limb r = 1;
    for (Limb i = 0; i < p - 2; ++i) r = r * x % p;
    return r;
  }
  [[nodiscard]] std::vector<Affine> points() const {
    std::vector<Affine> all;
    for (Limb u = 0; u < p; ++u) {
      for (Limb v = 0; v < p; ++v) {
        if (b * (v * v % p) % p == (u * u % p * u + a * (u * u % p) + u) % p) all.push_back({u, v});
      }
    }
    return all;
  }
  [[nodiscard]] Point sum(const Point& first, const Point& second) const {
    if (!first) return second;
    if (!second) return first;
    const auto [u1, v1] = *first;
    const auto [u2, v2] = *second;
    if (u1 == u2 && (v1 + v2) % p == 0) return std::nullopt;
    const Limb slope = u1 == u2 ? (3 * u1 * u1 + 2 * a * u1 + 1) % p * inverse(2 * b * v1 % p) % p
                                : (v2 + p - v1) % p * inverse((u2 + p - u1) % p) % p;
    const Limb u = (b * (slope * slope % p) + 3 * p - a - u1 - u2) % p;
    return Affine{u, (slope * ((u1 + p - u) % p) + p - v1) % p};
  }
};

using Step = void (*)(const F& f, ecc::ladder::Pair<F>& pair, const F::Mask& high, const Element& u,
                      const Element& a24);
constexpr Step kSteps[] = {ecc::ladder::step<F, Element>, ecc::ladder::spread_step<F, Element>};

void check(const SmallMontgomery& curve, Limb a24_number, Step step) {
  const F f(*usable_kernel_sets()[0].kernels, std::span(&curve.p, 1));
  const auto element = [&](Limb x) {
    Element r;
    f.from_limbs(r, std::span(&x, 1));
    return r;
  };
  const auto u_of = [&](const ecc::ladder::Point<F>& point) -> std::optional<Limb> {
    Limb x = 0, z = 0;
    f.to_limbs(std::span(&x, 1), point.x);
    f.to_limbs(std::span(&z, 1), point.z);
    if (z == 0) return std::nullopt;
    return x * curve.inverse(z) % curve.p;
  };
  const auto expect = [&](const ecc::ladder::Point<F>& point, const SmallMontgomery::Point& expected) {
    EXPECT_EQ(u_of(point), expected ? std::optional(expected->u) : std::nullopt);
  };
  for (const auto& point : curve.points()) {
    if (point.u == 0) continue;
    const Element u = element(point.u);
    SmallMontgomery::Point multiple;
    for (Limb k = 0; k < 2 * curve.p + 8; ++k) {
      // (k P, (k + 1) P) from the bits of k.
      ecc::ladder::Pair<F> pair;
      ecc::ladder::start(f, pair, u);
      for (int bit = 6; bit >= 0; --bit) {
        const Limb mask = Limb{0} - (k >> bit & 1);
        step(f, pair, mask, u, element(a24_number));
        ecc::ladder::swap_where(f, pair, mask);
      }
      expect(pair.low, multiple);
      multiple = curve.sum(multiple, point);
      expect(pair.high, multiple);
    }
  }
}

TEST(Ladder, EveryPointOfSmallCurvesAndTheirTwists) {
  // (p, A) with A^2 - 4 no square, as curve25519 and curve448 have it; a non-square b gives the twist.
  for (const auto& [p, a, b] : {std::array<Limb, 3>{13, 6, 2}, {17, 7, 3}, {29, 5, 2}, {31, 6, 3}}) {
    Limb a24 = a - 2;
    while (a24 % 4 != 0) a24 += p;
    a24 /= 4;
    for (const Step step : kSteps) {
      check({p, a, 1}, a24 % p, step);
      check({p, a, b}, a24 % p, step);
    }
  }
}

/// From u = 0, of order 2, every multiple is reported by Z = 0 or u = 0.
TEST(Ladder, ZeroStaysZero) {
  const Limb p = 29;
  const F f(*usable_kernel_sets()[0].kernels, std::span(&p, 1));
  Element zero, a24;
  f.zero(zero);
  f.one(a24);
  for (const Step step : kSteps) {
    ecc::ladder::Pair<F> pair;
    ecc::ladder::start(f, pair, zero);
    for (int bit = 0; bit < 5; ++bit) {
      step(f, pair, bit % 2 != 0 ? ~Limb{0} : 0, zero, a24);
      Limb x = 1, z = 1, high = 1;
      f.to_limbs(std::span(&x, 1), pair.low.x);
      f.to_limbs(std::span(&z, 1), pair.low.z);
      f.to_limbs(std::span(&high, 1), pair.high.z);
      EXPECT_EQ(x * z, 0U);
    }
  }
}

}  // namespace
}  // namespace manymod::test
