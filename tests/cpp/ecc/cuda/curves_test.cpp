// SPDX-License-Identifier: Apache-2.0
// Products that are calls (ecc/cuda/curves.cuda.hpp) are those of their field, whichever operands the result
// is.
#include "ecc/cuda/curves.cuda.hpp"

#include <gtest/gtest.h>

#include "support/naive.hpp"

namespace manymod::ecc::cuda {
namespace {

template <class Curve>
class CalledProducts : public testing::Test {
 protected:
  using Inline = field::SpecialField<typename Curve::Prime>;
  using Element = typename Inline::Element;

  Element element() {
    const naive::Limbs x = generate_.number((Curve::kWords + 1) / 2);
    Element r;
    inline_.from_limbs(r, integers::Words(x.data(), static_cast<unsigned>(x.size())));
    return r;
  }
  /// Elements have one form below B, but not one below p: the words of equal results of the same function are
  /// equal.
  static void expect_same(const Element& a, const Element& b) {
    for (unsigned j = 0; j < Curve::kWords; ++j) ASSERT_EQ(a.words[j], b.words[j]);
  }

  const Inline inline_{};
  const typename Curve::RareField called_{};
  naive::Generator generate_{11};
};

using Curves = testing::Types<P256, Sm2, Secp256k1, P384, P521>;
TYPED_TEST_SUITE(CalledProducts, Curves);

TYPED_TEST(CalledProducts, ResultMayBeAnyOperand) {
  for (unsigned round = 0; round < 100; ++round) {
    const auto a = this->element(), b = this->element();
    typename TestFixture::Element product, square;
    this->inline_.mul(product, a, b);
    this->inline_.sqr(square, a);

    auto r = a;
    this->called_.mul(r, r, b);
    this->expect_same(r, product);
    r = b;
    this->called_.mul(r, a, r);
    this->expect_same(r, product);
    r = a;
    this->called_.sqr(r, r);
    this->expect_same(r, square);
    r = a;
    this->called_.mul(r, r, r);
    this->inline_.mul(square, a, a);
    this->expect_same(r, square);
  }
}

/// The formulas say that their result may be an operand.
TYPED_TEST(CalledProducts, FormulasMayReplaceTheirOperands) {
  using Field = typename TypeParam::RareField;
  const Field& f = this->called_;
  for (unsigned round = 0; round < 20; ++round) {
    jacobian::Point<Field> p, r, expected;
    p.x = this->element(), p.y = this->element(), p.z = this->element();
    const jacobian::AffinePoint<Field> q{this->element(), this->element()};
    const auto expect_expected = [&] {
      this->expect_same(r.x, expected.x);
      this->expect_same(r.y, expected.y);
      this->expect_same(r.z, expected.z);
    };
    jacobian::twice(f, TypeParam::template coefficient<Field>(), expected, p);
    r = p;
    jacobian::twice(f, TypeParam::template coefficient<Field>(), r, r);
    expect_expected();
    jacobian::add_mixed(f, expected, p, q);
    r = p;
    jacobian::add_mixed(f, r, r, q);
    expect_expected();
    jacobian::add_complete(f, TypeParam::template coefficient<Field>(), expected, p, q);
    r = p;
    jacobian::add_complete(f, TypeParam::template coefficient<Field>(), r, r, q);
    expect_expected();
  }
}

}  // namespace
}  // namespace manymod::ecc::cuda
