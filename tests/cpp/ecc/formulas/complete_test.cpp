// SPDX-License-Identifier: Apache-2.0
// What the complete formulas cost. engines_test.cpp checks their results, on all pairs of points of tiny
// curves.
#include "ecc/formulas/complete.hpp"

#include <gtest/gtest.h>

#include <string>

#include "field/scalar.hpp"
#include "modmul/scalar64/kernels.hpp"

namespace manymod::test {
namespace {

namespace complete = ecc::complete;
using ecc::CoefficientA;
using Base = field::ScalarField<1>;

constexpr Limb kPrime = 43;

struct Counts {
  unsigned mul = 0, sqr = 0, constant = 0, add = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// A field that counts: products with the constants, at their addresses, count as such.
class CountingField {
 public:
  using Element = Base::Element;
  using Mask = Base::Mask;
  using Source = Base::Source;
  using Sink = Base::Sink;

  void set_constants(const Element& a, const Element& b, const Element& b3) {
    constants_[0] = &a;
    constants_[1] = &b;
    constants_[2] = &b3;
  }
  [[nodiscard]] Counts counts() const { return counts_; }

  void zero(Element& r) const { f_.zero(r); }
  void one(Element& r) const { f_.one(r); }
  void from_limbs(Element& r, Source x) const { f_.from_limbs(r, x); }
  void to_limbs(Sink x, const Element& a) const { f_.to_limbs(x, a); }
  void mul(Element& r, const Element& a, const Element& b) const {
    ++(is_constant(a) || is_constant(b) ? counts_.constant : counts_.mul);
    f_.mul(r, a, b);
  }
  void sqr(Element& r, const Element& a) const {
    ++counts_.sqr;
    f_.sqr(r, a);
  }
  void add(Element& r, const Element& a, const Element& b) const {
    ++counts_.add;
    f_.add(r, a, b);
  }
  template <unsigned k = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    ++counts_.add;
    f_.sub<k>(r, a, b);
  }
  template <unsigned k = 1>
  void neg(Element& r, const Element& a) const {
    ++counts_.add;
    f_.neg<k>(r, a);
  }
  void half(Element& r, const Element& a) const {
    ++counts_.add;
    f_.half(r, a);
  }
  template <unsigned k = field::kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    f_.normalize_weak<k>(r, a);
  }
  void cmov(Element& r, const Element& a, Mask mask) const { f_.cmov(r, a, mask); }
  [[nodiscard]] Mask is_zero(const Element& a) const { return f_.is_zero(a); }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const { return f_.equal(a, b); }
  Mask inverse(Element& r, const Element& a) const { return f_.inverse(r, a); }

 private:
  Base f_{scalar64::generic_kernels(), std::span(&kPrime, 1)};
  const Element* constants_[3] = {};
  mutable Counts counts_;

  [[nodiscard]] bool is_constant(const Element& x) const {
    return &x == constants_[0] || &x == constants_[1] || &x == constants_[2];
  }
};
static_assert(field::Field<CountingField>);

/// The counts of call(field, coefficients, r, p) on points of y^2 = x^3 + 7.
template <class Call>
Counts counts_of(const Call& call) {
  CountingField f;
  ecc::WeierstrassCoefficients<CountingField> curve;
  ecc::ProjectivePoint<CountingField> p, r;
  const auto set = [&](CountingField::Element& to, Limb value) { f.from_limbs(to, std::span(&value, 1)); };
  set(curve.a, 0);
  set(curve.b, 7);
  set(curve.b3, 21);
  set(p.x, 2);
  set(p.y, 12);
  set(p.z, 1);
  f.set_constants(curve.a, curve.b, curve.b3);
  call(f, curve, r, p);
  return f.counts();
}

template <CoefficientA kA>
void expect_costs(const std::string& a) {
  const auto expect = [](const std::string& name, const Counts& counts) {
    for (const complete::Cost& cost : complete::kCosts) {
      if (cost.name != name) continue;
      EXPECT_EQ(counts, (Counts{cost.mul, cost.sqr, cost.constant, cost.add})) << name;
      return;
    }
    ADD_FAILURE() << "no row for " << name;
  };
  expect("add, " + a, counts_of([](const auto& f, const auto& curve, auto& r, const auto& p) {
           complete::add<kA>(f, curve, r, p, p);
         }));
  expect("add_affine, " + a, counts_of([](const auto& f, const auto& curve, auto& r, const auto& p) {
           complete::add_affine<kA>(f, curve, r, p, ecc::AffinePoint<CountingField>{p.x, p.y});
         }));
  expect("twice, " + a, counts_of([](const auto& f, const auto& curve, auto& r, const auto& p) {
           complete::twice<kA>(f, curve, r, p);
         }));
}

TEST(CompleteFormulas, CostWhatTheirTableSays) {
  expect_costs<CoefficientA::any>("any a");
  expect_costs<CoefficientA::minus_three>("a = -3");
  expect_costs<CoefficientA::zero>("a = 0");
}

}  // namespace
}  // namespace manymod::test
