// SPDX-License-Identifier: Apache-2.0
// Breaches of the stated ranges: caught at the call in VERIFY builds; in others there is nothing that costs.
#include "field/magnitude.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "field/device.cuda.hpp"
#include "field/scalar.hpp"
#include "support/lane_test_field.hpp"
#include "support/naive_field.hpp"
#include "support/one_thread.hpp"

namespace manymod::test {
namespace {

using Scalar = field::ScalarField<4>;
using Device = field::DeviceField<256, 1, field::Row32, OneThread>;

const naive::Limbs kPrime{0xfffffffefffffc2f, ~Limb{0}, ~Limb{0}, ~Limb{0}};

Scalar scalar_field() { return {scalar64::generic_kernels(), kPrime}; }
Device device_field() {
  return {integers::Words(kPrime.data(), static_cast<unsigned>(kPrime.size())), LaneMemory{}, OneThread{}};
}

/// r of magnitude m, by additions.
template <class F>
void set_magnitude(const F& f, typename F::Element& r, unsigned m) {
  typename F::Element one;
  f.one(one);
  f.one(r);
  for (unsigned i = 1; i < m; ++i) f.add(r, r, one);
}

/// run(f, calls) for every field in lanes on every backend that this processor has.
template <class Run>
void for_each_lane_field(Run run) {
  const auto backends = lane_field_backends();
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (!missing_lane_fields(i).empty()) continue;
    for (const LaneFieldCalls& calls : backends[i].fields) {
      SCOPED_TRACE(std::string(backends[i].name) + " " + calls.prime);
      run(LaneTestField(calls), calls);
    }
  }
}

#if MANYMOD_VERIFY

template <class F>
void expect_magnitudes(const F& f) {
  typename F::Element a, b, r;
  for (unsigned m = 1; m <= field::kMaxMagnitude; ++m) {
    set_magnitude(f, a, m);
    EXPECT_EQ(a.magnitude(), m);
    f.normalize_weak(r, a);
    EXPECT_EQ(r.magnitude(), 1U);
    if (m < field::kMaxMagnitude) {
      f.half(r, a);
      EXPECT_EQ(r.magnitude(), m / 2 + 1);
    }
  }
  set_magnitude(f, a, 2);
  set_magnitude(f, b, 2);
  f.mul(r, a, b);
  EXPECT_EQ(r.magnitude(), 1U);
  f.template sub<4>(r, a, b);
  EXPECT_EQ(r.magnitude(), 6U);
  f.template neg<4>(r, a);
  EXPECT_EQ(r.magnitude(), 5U);
  f.one(b);
  f.cmov(b, a, f.is_zero(b));
  EXPECT_EQ(b.magnitude(), 2U);
}

template <class F>
void expect_breaches_caught(const F& f) {
  typename F::Element one, two, three, five, eight, unset, r;
  f.one(one);
  set_magnitude(f, two, 2);
  set_magnitude(f, three, 3);
  set_magnitude(f, five, 5);
  set_magnitude(f, eight, 8);
  EXPECT_DEATH(f.mul(r, two, three), "out of range");
  EXPECT_DEATH(f.mul(r, five, one), "out of range");
  EXPECT_DEATH(f.sqr(r, three), "out of range");
  EXPECT_DEATH(f.add(r, five, five), "out of range");
  EXPECT_DEATH(f.add(r, eight, one), "out of range");
  EXPECT_DEATH(f.sub(r, one, two), "out of range");
  EXPECT_DEATH(f.template sub<4>(r, five, one), "out of range");
  EXPECT_DEATH(f.neg(r, two), "out of range");
  EXPECT_DEATH(f.template neg<4>(r, five), "out of range");
  EXPECT_DEATH(f.half(r, eight), "out of range");
  EXPECT_DEATH(f.template normalize_weak<2>(r, three), "out of range");
  EXPECT_DEATH(static_cast<void>(f.is_zero(two)), "out of range");
  EXPECT_DEATH(static_cast<void>(f.equal(one, two)), "out of range");
  EXPECT_DEATH(f.mul(r, one, unset), "out of range");
  EXPECT_DEATH(f.cmov(unset, one, f.is_zero(one)), "out of range");
  EXPECT_DEATH(static_cast<void>(f.inverse(r, unset)), "out of range");
}

TEST(Magnitudes, ScalarElementsCarryThem) { expect_magnitudes(scalar_field()); }
TEST(Magnitudes, DeviceElementsCarryThem) { expect_magnitudes(device_field()); }
TEST(MagnitudesDeathTest, ScalarBreachesAreCaught) { expect_breaches_caught(scalar_field()); }
TEST(MagnitudesDeathTest, DeviceBreachesAreCaught) { expect_breaches_caught(device_field()); }

/// A value outside of the range that its magnitude states is caught too.
TEST(MagnitudesDeathTest, ScalarValuesAreChecked) {
  const Scalar f = scalar_field();
  Scalar::Element a, r;
  f.one(a);
  std::copy(kPrime.begin(), kPrime.end(), a.limb);
  EXPECT_DEATH(f.add(r, a, a), "out of range");
}

TEST(Magnitudes, LaneElementsCarryThem) {
  for_each_lane_field([](const auto& f, const auto&) { expect_magnitudes(f); });
}
/// The checks are the same source for every prime: one of each reduction, and one that is known at run time,
/// are enough.
TEST(MagnitudesDeathTest, LaneBreachesAreCaught) {
  for_each_lane_field([](const auto& f, const LaneFieldCalls& calls) {
    const std::string prime = calls.prime;
    if (prime == "secp256k1" || prime == "p384" || prime == "shorter") expect_breaches_caught(f);
  });
}
/// So are values outside of the range of their magnitude, and digits that are not exact.
TEST(MagnitudesDeathTest, LaneValuesAreChecked) {
  for_each_lane_field([](const auto& f, const LaneFieldCalls& calls) {
    const Limb radix = Limb{1} << calls.digit_bits;
    LaneFieldElement a, r;
    f.one(a);
    a.digit[calls.digits * calls.lanes - 1] = radix - 1;
    EXPECT_DEATH(f.add(r, a, a), "out of range");
    f.one(a);
    a.digit[calls.lanes - 1] = radix;
    EXPECT_DEATH(f.mul(r, a, a), "out of range");
  });
}

#else

// Elements are their digits alone.
static_assert(std::is_empty_v<field::Carried>);
static_assert(sizeof(Scalar::Element) == 4 * sizeof(Limb));
static_assert(sizeof(Device::Element) == 8 * sizeof(std::uint32_t));

#endif

/// The rules by which programs are made for tests stop at the same calls, in every build.
TEST(Magnitudes, NaiveFieldKeepsToTheContract) {
  const NaiveField f(kPrime);
  NaiveField::Element one, two, three, eight, r;
  f.one(one);
  set_magnitude(f, two, 2);
  set_magnitude(f, three, 3);
  set_magnitude(f, eight, 8);
  EXPECT_NO_THROW(f.mul(r, two, two));
  EXPECT_THROW(f.mul(r, two, three), MagnitudeError);
  EXPECT_THROW(f.sqr(r, three), MagnitudeError);
  EXPECT_THROW(f.add(r, eight, one), MagnitudeError);
  EXPECT_THROW(f.sub(r, one, two), MagnitudeError);
  EXPECT_THROW(f.neg(r, two), MagnitudeError);
  EXPECT_THROW(f.half(r, eight), MagnitudeError);
  EXPECT_THROW(static_cast<void>(f.is_zero(two)), MagnitudeError);
}

/// Formulas at the limits of the rules pass on all backends, in VERIFY builds as well.
TEST(Magnitudes, LegalExtremesPass) {
  const auto run = [](const auto& f) {
    typename std::decay_t<decltype(f)>::Element a, b, r;
    set_magnitude(f, a, 4);
    f.one(b);
    f.mul(r, a, b);
    f.add(r, a, a);
    f.template sub<4>(r, a, a);
    f.normalize_weak(r, r);
    return f.is_zero(r) != 0;
  };
  EXPECT_TRUE(run(scalar_field()));
  EXPECT_TRUE(run(device_field()));
}
TEST(Magnitudes, LegalExtremesPassInLanes) {
  for_each_lane_field([](const auto& f, const LaneFieldCalls& calls) {
    LaneFieldElement a, b, r;
    set_magnitude(f, a, 4);
    f.one(b);
    f.mul(r, a, b);
    f.add(r, a, a);
    f.template sub<4>(r, a, a);
    f.normalize_weak(r, r);
    const LaneFieldMask zero = f.is_zero(r);
    for (std::size_t lane = 0; lane < calls.lanes; ++lane) EXPECT_EQ(zero.lane[lane], ~Limb{0});
  });
}

}  // namespace
}  // namespace manymod::test
