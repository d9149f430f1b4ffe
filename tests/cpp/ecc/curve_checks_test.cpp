// SPDX-License-Identifier: Apache-2.0
// Each check of a user's own curve fails where it must, and for its own reason.
#include "ecc/curve_checks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "core/status_error.hpp"
#include "ecc/test_curves.hpp"

namespace manymod::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// y^2 = x^3 + 7 of 31 points over 43, y^2 = x^3 - 3 x + 3 of 2 * 37 points over 59, and an Edwards curve.
constexpr HexCurve kPrimeOrder{"", MM_ECC_WEIERSTRASS, "2b", "00", "07", "02", "0c", "1f", "01"};
constexpr HexCurve kCofactorTwo{"", MM_ECC_WEIERSTRASS, "3b", "38", "03", "2d", "1e", "25", "02"};
constexpr HexCurve kEdwards{"", MM_ECC_EDWARDS, "3d", "3c", "06", "2c", "38", "0d", "04"};

struct Failure {
  mm_status status = MM_OK;
  std::string message;
};
Failure outcome(const CurveNumbers& numbers) {
  try {
    static_cast<void>(ecc::make_curve(numbers.view()));
    return {};
  } catch (const StatusError& error) {
    return {error.status(), error.what()};
  }
}

/// What make_curve says about the curve with one change.
void expect_failure(const HexCurve& curve, const std::function<void(CurveNumbers&)>& change,
                    const std::string& message, mm_status status = MM_ERR_KEY) {
  CurveNumbers numbers(curve);
  ASSERT_EQ(outcome(numbers).status, MM_OK);
  change(numbers);
  const Failure failure = outcome(numbers);
  EXPECT_EQ(failure.status, status) << message;
  EXPECT_NE(failure.message.find(message), std::string::npos) << failure.message;
}

TEST(CurveChecks, Field) {
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.p = {45}; }, "p is not a prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.p = {44}; }, "p is not a prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.p = {}; }, "p has less than 3 bits");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.p = {3}; }, "p has less than 3 bits");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.p = Bytes(81, 1); }, "p has more than 640 bits");
  // 2^640 + 1 has 641 bits in 81 bytes.
  expect_failure(
      kPrimeOrder,
      [](CurveNumbers& c) {
        c.p = Bytes(81, 0);
        c.p.front() = c.p.back() = 1;
      },
      "p has more than 640 bits");
}

TEST(CurveChecks, Residues) {
  for (Bytes CurveNumbers::* member :
       {&CurveNumbers::a, &CurveNumbers::b, &CurveNumbers::x, &CurveNumbers::y})
    expect_failure(kPrimeOrder, [&](CurveNumbers& c) { c.*member = c.p; }, "is not below p");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.x = {1, 2}; }, "x has more than 6 bits");
}

TEST(CurveChecks, Singular) {
  // 4 a^3 + 27 b^2 = 0 for a = -3 t^2, b = 2 t^3.
  expect_failure(
      kPrimeOrder,
      [](CurveNumbers& c) {
        c.a = {40};
        c.b = {2};
      },
      "singular");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.b = {0}; }, "singular");
}

TEST(CurveChecks, EdwardsCurvesAreComplete) {
  expect_failure(kEdwards, [](CurveNumbers& c) { c.a = {2}; }, "a is not a square");
  expect_failure(kEdwards, [](CurveNumbers& c) { c.a = {0}; }, "a is not a square");
  expect_failure(kEdwards, [](CurveNumbers& c) { c.b = {4}; }, "b is a square");
  expect_failure(kEdwards, [](CurveNumbers& c) { c.b = {0}; }, "b is a square");
}

TEST(CurveChecks, Order) {
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {33}; }, "n is not an odd prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {2}; }, "n is not an odd prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {0}; }, "n is not an odd prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {}; }, "n is not an odd prime");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {43}; }, "n = p");
  // 43 + 1 - 2 sqrt(43) > 30.8; 29 is too small and 59 too large.
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {29}; }, "Hasse");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {59}; }, "Hasse");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.cofactor = {2}; }, "Hasse");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.cofactor = {0}; }, "Hasse");
  expect_failure(
      kPrimeOrder, [](CurveNumbers& c) { c.cofactor = {1, 0, 0}; }, "the cofactor has more than 7 bits");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {47}; }, "the generator's order is not n");
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.n = {1, 0}; }, "n has more than 7 bits");
}

TEST(CurveChecks, Generator) {
  expect_failure(kPrimeOrder, [](CurveNumbers& c) { c.y = {13}; }, "the generator is not on the curve");
  expect_failure(kEdwards, [](CurveNumbers& c) { c.y = {57}; }, "the generator is not on the curve");
  // The neutral element, the point (0, -1) of order 2.
  for (const std::uint8_t y : {std::uint8_t{1}, std::uint8_t{60}}) {
    expect_failure(
        kEdwards,
        [&](CurveNumbers& c) {
          c.x = {0};
          c.y = {y};
        },
        "the generator's order is not n");
  }
  // A point of order 2: x^3 - 3 x + 3 has a root modulo 59.
  unsigned root = 0;
  while ((root * root * root + 56 * root + 3) % 59 != 0) ++root;
  ASSERT_LT(root, 59U);
  expect_failure(
      kCofactorTwo,
      [&](CurveNumbers& c) {
        c.x = {static_cast<std::uint8_t>(root)};
        c.y = {0};
      },
      "the generator's order is not n");
}

TEST(CurveChecks, Forms) {
  expect_failure(
      kPrimeOrder, [](CurveNumbers& c) { c.set_form(MM_ECC_MONTGOMERY); }, "Weierstrass and Edwards",
      MM_ERR_ARGUMENT);
  mm_ecc_curve_numbers numbers = CurveNumbers(kPrimeOrder).view();
  numbers.p.data = nullptr;
  try {
    static_cast<void>(ecc::make_curve(numbers));
    ADD_FAILURE() << "p has no bytes";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), MM_ERR_NULL);
  }
}

TEST(CurveChecks, FormsThatNoEnumeratorHas) {
  const CurveNumbers valid(kPrimeOrder);
  mm_ecc_curve_numbers numbers = valid.view();
  // As a C caller can write it.
  std::memset(&numbers.form, 1, sizeof numbers.form);
  try {
    static_cast<void>(ecc::make_curve(numbers));
    ADD_FAILURE() << "the form was taken";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), MM_ERR_ARGUMENT);
  }
}

TEST(CurveChecks, LeadingZerosAndNoCofactorAreAccepted) {
  CurveNumbers numbers(kPrimeOrder);
  for (Bytes* number :
       {&numbers.p, &numbers.a, &numbers.b, &numbers.x, &numbers.y, &numbers.n, &numbers.cofactor})
    number->insert(number->begin(), 200, 0);
  EXPECT_EQ(ecc::make_curve(numbers.view()).p, std::vector<Limb>{43});
  numbers.cofactor.clear();
  numbers.a.clear();
  const ecc::Curve curve = ecc::make_curve(numbers.view());
  EXPECT_TRUE(curve.has_cofactor_one());
  EXPECT_EQ(curve.order_bits, 5U);
}

}  // namespace
}  // namespace manymod::test
