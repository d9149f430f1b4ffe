// SPDX-License-Identifier: Apache-2.0
// Points by one thread each (src/ecc/giorgi), compiled for the host: all points and scalars of tiny curves
// against the chord and tangent law, and multiples on real curves against the oracle of reference/ecc.
#include "ecc/giorgi/operations.cuda.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ecc/giorgi/item_run.hpp"
#include "ecc/giorgi/known_answers.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

using ecc::giorgi::FiosPlaced;
using ecc::giorgi::FiosRegisters;
using ecc::giorgi::Operation;

using Techniques =
    ::testing::Types<FiosPlaced<16, fios::InLocalMemory>, FiosPlaced<16, fios::InSharedMemory>,
                     FiosRegisters<16>, FiosPlaced<32, fios::InLocalMemory>,
                     FiosPlaced<32, fios::InSharedMemory>, FiosRegisters<32>, field::Row32, field::Dpf52>;

/// The formulas are one template, and the arithmetic of each technique has tests of its own: Row32, the
/// fastest on the host, meets every case, the others meet one of so many.
template <class Technique>
constexpr bool kMeetsAll = std::is_same_v<Technique, field::Row32>;
template <class Technique>
constexpr std::size_t kTinyStride = kMeetsAll<Technique> ? 1
                                    : kBriefTests        ? 16
                                                         : 4;
template <class Technique>
constexpr std::size_t kKnownStride = kMeetsAll<Technique> ? 1 : 4;

// ---- tiny curves ------------------------------------------------------------------------------------------

struct TinyPoint {
  unsigned x, y;
  bool operator==(const TinyPoint&) const = default;
};
using MaybePoint = std::optional<TinyPoint>;  // nothing is infinity

/// y^2 = x^3 + a x + b modulo a prime, by the chord and tangent law.
class TinyCurve {
 public:
  TinyCurve(unsigned p, unsigned a, unsigned b) : p_(p), a_(a), b_(b) {}

  [[nodiscard]] unsigned p() const { return p_; }
  [[nodiscard]] unsigned a() const { return a_; }
  [[nodiscard]] bool is_nonsingular() const { return (4 * a_ * a_ % p_ * a_ + 27 * b_ * b_) % p_ != 0; }

  /// All points, infinity first.
  [[nodiscard]] std::vector<MaybePoint> points() const {
    std::vector<MaybePoint> r{std::nullopt};
    for (unsigned x = 0; x < p_; ++x) {
      for (unsigned y = 0; y < p_; ++y) {
        if (y * y % p_ == (x * x * x + a_ * x + b_) % p_) r.emplace_back(TinyPoint{x, y});
      }
    }
    return r;
  }

  [[nodiscard]] MaybePoint add(const MaybePoint& u, const MaybePoint& v) const {
    if (!u || !v) return u ? u : v;
    unsigned slope = 0;
    if (u->x == v->x) {
      if ((u->y + v->y) % p_ == 0) return std::nullopt;
      slope = (3 * u->x * u->x + a_) % p_ * inverse(2 * u->y) % p_;
    } else {
      slope = (v->y + p_ - u->y) * inverse(v->x + p_ - u->x) % p_;
    }
    const unsigned x = (slope * slope + 2 * p_ - u->x - v->x) % p_;
    return TinyPoint{x, (slope * (u->x + p_ - x) + p_ - u->y) % p_};
  }
  [[nodiscard]] MaybePoint multiply(unsigned k, const MaybePoint& u) const {
    MaybePoint r;
    for (; k > 0; --k) r = add(r, u);
    return r;
  }

  /// (x z^2, y z^3, z), or (x, y, 0) for infinity. In: 0 < z < p, words >= 1.
  [[nodiscard]] JacobianWords jacobian(const MaybePoint& u, unsigned z, std::size_t words) const {
    if (!u) return {number(z, words), number(z * z % p_, words), number(0, words)};
    const unsigned square = z * z % p_;
    return {number(u->x * square % p_, words), number(u->y * square % p_ * z % p_, words), number(z, words)};
  }
  [[nodiscard]] MaybePoint affine(const JacobianWords& u) const {
    for (const Words* coordinate : {&u.x, &u.y, &u.z}) {
      EXPECT_LT((*coordinate)[0], p_);
      for (std::size_t j = 1; j < coordinate->size(); ++j) EXPECT_EQ((*coordinate)[j], 0u);
    }
    if (u.z[0] == 0) return std::nullopt;
    const unsigned z = inverse(u.z[0]), square = z * z % p_;
    return TinyPoint{u.x[0] * square % p_, u.y[0] * square % p_ * z % p_};
  }

  static Words number(unsigned value, std::size_t words) {
    Words r(words, 0);
    r[0] = value;
    return r;
  }

 private:
  unsigned p_, a_, b_;

  [[nodiscard]] unsigned inverse(unsigned x) const {
    unsigned r = 1;
    while (r * x % p_ != 1) ++r;
    return r;
  }
};

/// Curves with cyclic and other groups, points of order 2 and 3, a = -3, 0 and others.
template <class Technique>
std::vector<TinyCurve> tiny_curves() {
  std::vector<TinyCurve> r;
  std::size_t number = 0;
  for (const unsigned p : {5u, 7u, 11u}) {
    for (const unsigned a : {p - 3, 0u, 1u, 4u}) {
      for (unsigned b = 0; b < p; b += 3) {
        const TinyCurve curve(p, a, b);
        if (curve.is_nonsingular() && number++ % kTinyStride<Technique> == 0) r.push_back(curve);
      }
    }
  }
  return r;
}

constexpr unsigned kTinyWords = 2, kTinyBits = 5;

PointItems items_of(const TinyCurve& curve) {
  PointItems r;
  r.n = TinyCurve::number(curve.p(), kTinyWords);
  r.a = TinyCurve::number(curve.a(), kTinyWords);
  r.a_is_minus_three = curve.a() + 3 == curve.p();
  return r;
}

template <class Technique>
class GiorgiTiny : public ::testing::Test {
 public:
  /// Every k below 2^kTinyBits, the order and above, with every point.
  template <Operation kOperation>
  static void check_multiples(bool packed) {
    for (const TinyCurve& curve : tiny_curves<Technique>()) {
      PointItems items = items_of(curve);
      items.bits = kTinyBits;
      items.packed = packed;
      std::vector<MaybePoint> expected;
      for (const MaybePoint& point : curve.points()) {
        for (unsigned k = 0; k < 1u << kTinyBits; ++k) {
          items.p.push_back(curve.jacobian(point, 1 + k % (curve.p() - 1), kTinyWords));
          items.scalars.push_back(TinyCurve::number(k, kTinyWords));
          expected.push_back(curve.multiply(k, point));
        }
      }
      check(curve, run_items<Technique, kTinyWords, kOperation>(items), expected);
    }
  }

  static void check(const TinyCurve& curve, const std::vector<JacobianWords>& found,
                    const std::vector<MaybePoint>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(curve.affine(found[i]), expected[i])
          << "p " << curve.p() << ", a " << curve.a() << ", item " << i;
    }
  }
};
TYPED_TEST_SUITE(GiorgiTiny, Techniques);

TYPED_TEST(GiorgiTiny, Additions) {
  for (const TinyCurve& curve : tiny_curves<TypeParam>()) {
    for (const unsigned steps : {0u, 1u, 3u}) {
      PointItems items = items_of(curve);
      items.steps = steps;
      std::vector<MaybePoint> expected;
      for (const MaybePoint& p : curve.points()) {
        for (const MaybePoint& q : curve.points()) {
          items.p.push_back(curve.jacobian(p, curve.p() - 2, kTinyWords));
          items.q.push_back(curve.jacobian(q, 3, kTinyWords));
          expected.push_back(curve.add(p, curve.multiply(steps, q)));
        }
      }
      TestFixture::check(curve, run_items<TypeParam, kTinyWords, Operation::add>(items), expected);
    }
  }
}

TYPED_TEST(GiorgiTiny, Doublings) {
  for (const TinyCurve& curve : tiny_curves<TypeParam>()) {
    for (const unsigned steps : {0u, 1u, 5u}) {
      PointItems items = items_of(curve);
      items.steps = steps;
      std::vector<MaybePoint> expected;
      for (const MaybePoint& p : curve.points()) {
        items.p.push_back(curve.jacobian(p, 2, kTinyWords));
        expected.push_back(curve.multiply(1u << steps, p));
      }
      TestFixture::check(curve, run_items<TypeParam, kTinyWords, Operation::twice>(items), expected);
    }
  }
}

TYPED_TEST(GiorgiTiny, RightToLeft) {
  TestFixture::template check_multiples<Operation::right_to_left>(false);
}
TYPED_TEST(GiorgiTiny, Naf2) { TestFixture::template check_multiples<Operation::naf2>(false); }
TYPED_TEST(GiorgiTiny, Naf2Packed) { TestFixture::template check_multiples<Operation::naf2>(true); }
TYPED_TEST(GiorgiTiny, Naf3) { TestFixture::template check_multiples<Operation::naf3>(false); }
TYPED_TEST(GiorgiTiny, Naf3Packed) { TestFixture::template check_multiples<Operation::naf3>(true); }

// ---- real curves ------------------------------------------------------------------------------------------

/// The number of hexadecimal digits, as `words` words.
Words parse(const char* digits, std::size_t words) {
  Words r(words, 0);
  const std::string text = digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t bit = 4 * (text.size() - 1 - i);
    r[bit / 32] |= static_cast<std::uint32_t>(std::stoul(text.substr(i, 1), nullptr, 16)) << (bit % 32);
  }
  return r;
}

Words multiply_mod(const Words& a, const Words& b, const Words& n) {
  Words r = naive::remainder(naive::multiply(a, b), n);
  r.resize(n.size());
  return r;
}

template <class Technique>
class GiorgiKnown : public ::testing::Test {
 public:
  /// The known multiples of `bits` bits by one operation.
  template <unsigned kBits, Operation kOperation>
  static void check(bool packed) {
    constexpr unsigned kWords = kBits / 32;
    std::size_t number = 0;
    for (const KnownMultiple& known : kKnownMultiples) {
      if (known.bits != kBits || number++ % kKnownStride<Technique> != 0) continue;
      PointItems items;
      items.n = parse(known.p, kWords);
      items.a = parse(known.a, kWords);
      Words minus_three = items.n;
      minus_three[0] -= 3;
      items.a_is_minus_three = items.a == minus_three;
      items.bits = kBits;
      items.packed = packed;
      // Z = 1, and Z = -1, which changes the sign of Y.
      Words one(kWords, 0), minus_one = items.n;
      one[0] = 1, --minus_one[0];
      const Words x = parse(known.gx, kWords), y = parse(known.gy, kWords);
      items.p = {{x, y, one}, {x, multiply_mod(y, minus_one, items.n), minus_one}};
      if (kBriefTests && !kMeetsAll<Technique>) items.p.erase(items.p.begin());
      items.scalars.assign(items.p.size(), parse(known.k, kWords));
      for (const JacobianWords& found : run_items<Technique, kWords, kOperation>(items)) {
        ASSERT_NE(found.z, Words(kWords, 0));
        const Words square = multiply_mod(found.z, found.z, items.n);
        const Words cube = multiply_mod(square, found.z, items.n);
        ASSERT_EQ(found.x, multiply_mod(parse(known.x, kWords), square, items.n)) << known.k;
        ASSERT_EQ(found.y, multiply_mod(parse(known.y, kWords), cube, items.n)) << known.k;
      }
    }
  }
};
TYPED_TEST_SUITE(GiorgiKnown, Techniques);

TYPED_TEST(GiorgiKnown, Bits160) {
  TestFixture::template check<160, Operation::right_to_left>(false);
  TestFixture::template check<160, Operation::naf3>(true);
}
TYPED_TEST(GiorgiKnown, Bits256) {
  TestFixture::template check<256, Operation::naf2>(true);
  TestFixture::template check<256, Operation::naf3>(false);
}
TYPED_TEST(GiorgiKnown, Bits384) {
  TestFixture::template check<384, Operation::right_to_left>(false);
  TestFixture::template check<384, Operation::naf2>(false);
}

}  // namespace
}  // namespace manymod::test
