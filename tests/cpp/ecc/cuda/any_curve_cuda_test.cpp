// SPDX-License-Identifier: Apache-2.0
// Kernels for any curve (ecc/cuda/any_curve.cuda.hpp), compiled for the host: all points and scalars of tiny
// curves of odd order against the textbook laws. engine_test.cpp has curves of real size.
#include "ecc/cuda/any_curve.cuda.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ecc/plain_group.hpp"
#include "ecc/test_curves.hpp"

namespace manymod::ecc::cuda {
namespace {

using test::PlainGroup;
using test::PlainPoint;
using C = Any256;

/// Numbers of one limb in rows of the kernels.
class NumberColumn {
 public:
  explicit NumberColumn(unsigned words) : words_(words) {}
  void push(Limb value) {
    data_.resize(data_.size() + words_);
    data_[data_.size() - words_] = static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] Rows view() const { return {data_.data(), words_}; }
  [[nodiscard]] RowsOut out(std::size_t count) {
    data_.assign(count * words_, 7);
    return {data_.data(), words_};
  }
  [[nodiscard]] std::vector<Limb> number(std::size_t i) const {
    for (unsigned j = 1; j < words_; ++j) EXPECT_EQ(data_[i * words_ + j], 0U);
    return {data_[i * words_]};
  }

 private:
  unsigned words_;
  std::vector<std::uint32_t> data_;
};

class Tiny {
 public:
  static constexpr unsigned kScalarWords = 1;

  explicit Tiny(const Curve& curve) : group_(curve), curve_(curve) {
    const Limb p = curve.p[0];
    Limb radix_squared = 1;
    for (unsigned i = 0; i < 2 * 256; ++i) radix_squared = 2 * radix_squared % p;
    for (const Limb number : {p, radix_squared, curve.a[0], 3 * curve.b[0] % p, curve.x[0], curve.y[0]}) {
      rows_.push(number);
    }
    for (Limb x = 0; x < p; ++x) {
      for (Limb y = 0; y < p; ++y) {
        plane_.push_back({{x}, {y}, false});
        if (group_.contains(plane_.back())) points_.push_back(plane_.back());
      }
    }
  }

  void check_membership() const {
    const Limb p = curve_.p[0];
    NumberColumn x(C::kWords), y(C::kWords);
    std::vector<std::uint8_t> expected;
    for (const PlainPoint& point : plane_) {
      x.push(point.x[0]), y.push(point.y[0]);
      expected.push_back(group_.contains(point) ? 1 : 0);
    }
    for (const PlainPoint& point : points_) {
      x.push(point.x[0] + p), y.push(point.y[0]);
      x.push(point.x[0]), y.push(point.y[0] + p);
      expected.insert(expected.end(), {0, 0});
    }
    std::vector<std::uint8_t> valid(expected.size(), 1);
    PointJob job = make_job(expected.size());
    job.x = x.view(), job.y = y.view(), job.valid = valid.data();
    for (std::uint32_t i = 0; i < job.count; ++i) check_point_any<C>(job, i);
    EXPECT_EQ(valid, expected);
  }

  void check_multiples() const {
    const Limb n = curve_.n[0];
    NumberColumn x(C::kWords), y(C::kWords), k(kScalarWords), u(kScalarWords);
    std::vector<PlainPoint> expected, expected_of_two;
    const PlainPoint base = group_.generator();
    for (std::size_t i = 0; i < points_.size(); i += points_.size() / 3 + 1) {
      PlainPoint multiple = group_.neutral();
      for (Limb scalar = 0; scalar < n; ++scalar) {
        const Limb other = (scalar * scalar + i) % n;
        x.push(points_[i].x[0]), y.push(points_[i].y[0]);
        k.push(scalar), u.push(other);
        expected.push_back(multiple);
        expected_of_two.push_back(group_.add(multiple, group_.multiply(std::vector<Limb>{other}, base)));
        multiple = group_.add(multiple, points_[i]);
      }
    }
    PointJob job = make_job(expected.size());
    job.x = x.view(), job.y = y.view(), job.scalar = k.view(), job.base_scalar = u.view();
    expect_points(job, &multiply_any<C>, expected);
    expect_points(job, &multiply_two_any<C>, expected_of_two);
  }

 private:
  PlainGroup group_;
  const Curve& curve_;
  NumberColumn rows_{C::kWords};
  std::vector<PlainPoint> plane_, points_;

  [[nodiscard]] CurveNumbers numbers() const {
    CurveNumbers r;
    r.rows = rows_.view().words;
    r.scalar_words = kScalarWords;
    r.a_is_zero = curve_.a[0] == 0 ? 1 : 0;
    return r;
  }
  [[nodiscard]] PointJob make_job(std::size_t count) const {
    PointJob job;
    job.curve = numbers();
    job.count = static_cast<std::uint32_t>(count);
    return job;
  }
  void expect_points(PointJob job, void (*multiply)(const PointJob&, std::uint32_t),
                     const std::vector<PlainPoint>& expected) const {
    const std::size_t count = expected.size();
    std::vector<std::uint32_t> result(3 * C::kWords * count), scratch(C::kWords * count);
    std::vector<std::uint8_t> infinity(count);
    NumberColumn x(C::kWords), y(C::kWords);
    job.result = result.data();
    for (std::uint32_t i = 0; i < job.count; ++i) multiply(job, i);
    AffineJob affine;
    affine.curve = job.curve;
    affine.count = job.count;
    affine.threads = 3;
    affine.point = result.data(), affine.scratch = scratch.data();
    affine.x = x.out(count), affine.y = y.out(count), affine.infinity = infinity.data();
    for (std::uint32_t thread = 0; thread < affine.threads; ++thread) normalise_any<C>(affine, thread);
    for (std::size_t i = 0; i < count; ++i) {
      const PlainPoint found{x.number(i), y.number(i), infinity[i] != 0};
      ASSERT_EQ(found, expected[i]) << i;
    }
  }
};

TEST(AnyCurve, AllScalarsOfTinyCurves) {
  unsigned checked = 0;
  for (const test::TestCurve& tiny : test::tiny_curves()) {
    const Curve& curve = tiny.curve;
    const bool is_odd = (curve.cofactor[0] & curve.n[0] & 1) != 0;
    if (curve.form != MM_ECC_WEIERSTRASS || !is_odd || curve.p[0] > 43 || curve.n[0] > 31) continue;
    SCOPED_TRACE(tiny.description);
    const Tiny one(curve);
    one.check_membership();
    one.check_multiples();
    ++checked;
  }
  EXPECT_GE(checked, 5U);
}

TEST(AnyCurve, DigitsSumUpToTheScalar) {
  constexpr unsigned kWords = 2;
  for (const std::uint64_t k :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{0x123456789abcdef0},
        std::uint64_t{0x8888888888888888}, ~std::uint64_t{0}}) {
    const std::uint32_t words[kWords] = {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
    __extension__ __int128 sum = 0;
    for (unsigned left = 32 * kWords / kPointWindow + 1; left > 0; --left) {
      const SignedDigit digit = booth_digit(words, kWords, left - 1);
      ASSERT_LE(digit.index, kAnyEntries);
      sum = 16 * sum + (digit.negative != 0 ? -static_cast<int>(digit.index) : static_cast<int>(digit.index));
    }
    EXPECT_TRUE(sum == k) << k;
  }
}

}  // namespace
}  // namespace manymod::ecc::cuda
