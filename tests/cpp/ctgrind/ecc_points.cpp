// SPDX-License-Identifier: Apache-2.0
// Runs under valgrind: the constant-time functions of point arithmetic, of every variant and curve that this
// machine and valgrind run, with scalars and points marked as undefined memory. valgrind reports each branch
// and each address that depends on them.
#include <valgrind/memcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "ecc/variants.hpp"

namespace {

using namespace manymod;
using Limbs = std::vector<Limb>;

constexpr std::size_t kItems = 3;

template <class T>
void poison(std::vector<T>& values) {
  VALGRIND_MAKE_MEM_UNDEFINED(values.data(), values.size() * sizeof(T));
}
template <class T>
void declassify(std::vector<T>& values) {
  VALGRIND_MAKE_MEM_DEFINED(values.data(), values.size() * sizeof(T));
}

void require(bool condition, const char* what, const ecc::PointEngine& engine) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s, %s on %s\n", what, engine.variant(), engine.curve().name.c_str());
  std::exit(1);
}

/// The generator for each item.
struct Generators {
  Limbs x, y;
  explicit Generators(const ecc::Curve& curve) {
    for (std::size_t i = 0; i < kItems; ++i) {
      x.insert(x.end(), curve.x.begin(), curve.x.end());
      y.insert(y.end(), curve.y.begin(), curve.y.end());
    }
  }
};

/// k = n - 1, 0 and 1.
Limbs scalars_of(const ecc::Curve& curve) {
  Limbs k(kItems * curve.scalar_limbs());
  for (std::size_t i = 0; i < curve.scalar_limbs(); ++i) k[i] = curve.n[i];
  k[0] -= 1;
  k[2 * curve.scalar_limbs()] = 1;
  return k;
}

void multiply(const ecc::PointEngine& engine) {
  const ecc::Curve& curve = engine.curve();
  Generators points(curve);
  Limbs k = scalars_of(curve), x(points.x.size()), y(x);
  std::vector<std::uint8_t> infinite(kItems, 9);
  const bool edwards = curve.form == MM_ECC_EDWARDS;
  const ecc::PointResults results{x.data(), y.data(), edwards ? nullptr : infinite.data()};
  const ecc::NumberRows scalars{k.data(), curve.scalar_limbs()};
  const auto expect_multiples = [&](const char* what) {
    declassify(x);
    declassify(y);
    declassify(infinite);
    const auto limbs = static_cast<std::ptrdiff_t>(curve.limbs());
    require(edwards || (infinite[0] == 0 && infinite[1] == 1 && infinite[2] == 0), what, engine);
    require(Limbs(x.begin() + 2 * limbs, x.end()) == curve.x, what, engine);
    require(Limbs(y.begin() + 2 * limbs, y.end()) == curve.y, what, engine);
    // -G has one coordinate of G.
    const Limbs& same = edwards ? y : x;
    require(Limbs(same.begin(), same.begin() + limbs) == (edwards ? curve.y : curve.x), what, engine);
  };
  poison(k);
  engine.multiply_base(results, scalars, {0, kItems}, TimingClass::secret, {});
  expect_multiples("multiply_base");
  poison(points.x);
  poison(points.y);
  engine.multiply(results, scalars,
                  {{points.x.data(), curve.limbs()}, {points.y.data(), curve.limbs()}, nullptr}, {0, kItems},
                  TimingClass::secret, {});
  expect_multiples("multiply");
}

/// Multiples by scalars of n and more add points that depend on the scalar, infinity among them.
void add(const ecc::PointEngine& engine) {
  const ecc::Curve& curve = engine.curve();
  Generators p(curve), q(curve);
  const bool edwards = curve.form == MM_ECC_EDWARDS;
  std::vector<std::uint8_t> p_infinite{0, 0, 1}, q_infinite{0, 1, 0}, infinite(kItems, 9);
  const auto neutral = [&](Generators& points, std::size_t item) {
    if (!edwards) return;
    for (std::size_t i = 0; i < curve.limbs(); ++i) {
      points.x[item * curve.limbs() + i] = 0;
      points.y[item * curve.limbs() + i] = i == 0 ? 1 : 0;
    }
  };
  neutral(q, 1);
  neutral(p, 2);
  for (Limbs* coordinates : {&p.x, &p.y, &q.x, &q.y}) poison(*coordinates);
  poison(p_infinite);
  poison(q_infinite);
  Limbs x(p.x.size()), y(x);
  const auto rows = [&](const Generators& points, const std::vector<std::uint8_t>& flags) {
    return ecc::PointRows{
        {points.x.data(), curve.limbs()}, {points.y.data(), curve.limbs()}, edwards ? nullptr : flags.data()};
  };
  engine.add({x.data(), y.data(), edwards ? nullptr : infinite.data()}, rows(p, p_infinite),
             rows(q, q_infinite), {0, kItems});
  declassify(x);
  declassify(y);
  declassify(infinite);
  for (std::size_t item = 1; item < kItems; ++item) {
    const auto from = static_cast<std::ptrdiff_t>(item * curve.limbs());
    const auto to = from + static_cast<std::ptrdiff_t>(curve.limbs());
    require(Limbs(x.begin() + from, x.begin() + to) == curve.x, "add", engine);
    require(Limbs(y.begin() + from, y.begin() + to) == curve.y, "add", engine);
    require(edwards || infinite[item] == 0, "add", engine);
  }
}

void climb(const ecc::PointEngine& engine) {
  const ecc::Curve& curve = engine.curve();
  Generators points(curve);
  // 1, as many bits as the field has
  Limbs k(points.x.size()), u(points.x.size());
  for (std::size_t i = 0; i < kItems; ++i) k[i * curve.limbs()] = 1;
  poison(k);
  poison(points.x);
  engine.ladder(u.data(), {k.data(), curve.limbs()}, {points.x.data(), curve.limbs()},
                static_cast<unsigned>(curve.field_bits), {0, kItems}, {});
  declassify(u);
  declassify(points.x);
  require(u == points.x, "ladder", engine);
  std::ranges::fill(u, Limb{0});
  engine.multiply_base({u.data(), nullptr, nullptr}, {k.data(), curve.limbs()}, {0, kItems},
                       TimingClass::secret, {});
  declassify(u);
  require(u == points.x, "multiply_base", engine);
}

}  // namespace

int main() {
  for (const ecc::Variant& variant : ecc::variants()) {
    if (variant.backend != Backend::cpu || !variant.runs_here()) continue;
    for (const ecc::Curve& curve : ecc::named_curves()) {
      if (!variant.offers(curve)) continue;
      const auto engine = variant.make(curve, {});
      if (curve.form == MM_ECC_MONTGOMERY) {
        climb(*engine);
      } else {
        multiply(*engine);
        if (!curve.has_cofactor_one()) add(*engine);
      }
    }
  }
  return 0;
}
