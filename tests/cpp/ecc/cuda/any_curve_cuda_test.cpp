// SPDX-License-Identifier: Apache-2.0
// Kernels for any curve (ecc/cuda/any_curve.cuda.hpp), compiled for the host: all points and scalars of tiny
// curves of odd order against the textbook laws. ecc/device/engine_test.cpp has curves of real size.
#include "ecc/cuda/any_curve.cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "ecc/cuda/tables.cuda.hpp"
#include "ecc/plain_group.hpp"
#include "ecc/test_curves.hpp"

namespace manymod::ecc::cuda {
namespace {

using test::PlainGroup;
using test::PlainPoint;

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

/// With rows of one limb, or as many words as elements have.
template <class C>
class Tiny {
 public:
  static constexpr unsigned kScalarWords = 2;
  /// Of the table of u G in u G + v P.
  static constexpr unsigned kWindow = 4;

  Tiny(const Curve& curve, unsigned row_words) : group_(curve), curve_(curve), row_words_(row_words) {
    const Limb p = curve.p[0];
    Limb radix_squared = 1;
    for (unsigned i = 0; i < 2 * 32 * C::kWords; ++i) radix_squared = 2 * radix_squared % p;
    for (const Limb number : {p, radix_squared, curve.a[0], 3 * curve.b[0] % p}) rows_.push(number);
    order_.push(curve.n[0]);
  }

  void check_membership() const {
    const Limb p = curve_.p[0];
    const std::vector<PlainPoint> plane = pairs_of_coordinates(), points = points_of(plane);
    NumberColumn x(row_words_), y(row_words_);
    std::vector<std::uint8_t> expected;
    for (const PlainPoint& point : plane) {
      x.push(point.x[0]), y.push(point.y[0]);
      expected.push_back(group_.contains(point) ? 1 : 0);
    }
    for (const PlainPoint& point : points) {
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
    NumberColumn x(row_words_), y(row_words_), k(kScalarWords);
    std::vector<PlainPoint> expected;
    const std::vector<PlainPoint> points = points_of(pairs_of_coordinates());
    for (std::size_t i = 0; i < points.size(); i += points.size() / 3 + 1) {
      PlainPoint multiple = group_.neutral();
      for (Limb scalar = 0; scalar < curve_.n[0]; ++scalar) {
        x.push(points[i].x[0]), y.push(points[i].y[0]);
        k.push(scalar);
        expected.push_back(multiple);
        multiple = group_.add(multiple, points[i]);
      }
    }
    PointJob job = make_job(expected.size());
    job.x = x.view(), job.y = y.view(), job.scalar = k.view();
    expect_points(job, &multiply_any<C>, expected);
  }

  /// k G, and u G + v P for multiples P of G. On input: 2^kBaseWindow < n.
  void check_multiples_of_generator() const {
    const Limb n = curve_.n[0];
    const std::vector<PlainPoint> all = multiples_of_generator();
    const std::vector<std::uint32_t> table = base_table_any<C>(curve_);
    NumberColumn k(kScalarWords), of_table(kScalarWords);
    for (Limb scalar = 0; scalar < n; ++scalar) k.push(scalar);
    PointJob job = make_job(n);
    job.scalar = k.view();
    job.table = table.data();
    expect_points(job, &multiply_base, all);

    Limb unit = 1;
    for (unsigned window = 0; window < window_count(static_cast<unsigned>(curve_.order_bits), kWindow);
         ++window) {
      for (Limb odd = 1; odd < 1U << kWindow; odd += 2) of_table.push(odd * unit % n);
      unit = (unit << kWindow) % n;
    }
    const std::vector<std::uint32_t> wide = entries(of_table, table);
    NumberColumn x(row_words_), y(row_words_), u(kScalarWords), v(kScalarWords);
    std::vector<PlainPoint> expected;
    for (Limb i = 0; i < n; ++i) {
      const Limb of_point = i % (n - 1) + 1, scalar = i < n / 2 ? i % 2 : 3 * i % n;
      // Each fourth sum is infinity.
      const Limb other = i % 4 == 0 ? (n - scalar * of_point % n) % n : (i * i) % n;
      x.push(all[of_point].x[0]), y.push(all[of_point].y[0]);
      u.push(other), v.push(scalar);
      expected.push_back(all[(other + scalar * of_point) % n]);
    }
    job = make_job(expected.size());
    job.x = x.view(), job.y = y.view(), job.scalar = v.view(), job.base_scalar = u.view();
    job.table = wide.data();
    job.window = kWindow;
    expect_points(job, &multiply_two_any<C>, expected);
  }

 private:
  PlainGroup group_;
  const Curve& curve_;
  unsigned row_words_;
  NumberColumn rows_{C::kWords}, order_{kScalarWords};

  [[nodiscard]] std::vector<PlainPoint> pairs_of_coordinates() const {
    std::vector<PlainPoint> r;
    for (Limb x = 0; x < curve_.p[0]; ++x) {
      for (Limb y = 0; y < curve_.p[0]; ++y) r.push_back({{x}, {y}, false});
    }
    return r;
  }
  [[nodiscard]] std::vector<PlainPoint> points_of(const std::vector<PlainPoint>& pairs) const {
    std::vector<PlainPoint> r;
    std::ranges::copy_if(pairs, std::back_inserter(r),
                         [&](const PlainPoint& point) { return group_.contains(point); });
    return r;
  }
  [[nodiscard]] CurveNumbers numbers() const {
    CurveNumbers r;
    r.rows = rows_.view().words;
    r.order = order_.view().words;
    r.scalar_words = kScalarWords;
    r.row_words = row_words_;
    r.a_is_zero = curve_.a[0] == 0 ? 1 : 0;
    r.order_bits = static_cast<std::uint32_t>(curve_.order_bits);
    return r;
  }
  [[nodiscard]] PointJob make_job(std::size_t count) const {
    PointJob job;
    job.curve = numbers();
    job.count = static_cast<std::uint32_t>(count);
    return job;
  }
  [[nodiscard]] std::vector<PlainPoint> multiples_of_generator() const {
    std::vector<PlainPoint> r{group_.neutral()};
    while (r.size() < curve_.n[0]) r.push_back(group_.add(r.back(), group_.generator()));
    return r;
  }
  static void multiply_base(const PointJob& job, std::uint32_t item) {
    multiply_base_any<C>(job, item, true);
  }
  static void normalise(AffineJob job, PointJob points, std::vector<std::uint32_t>& scratch) {
    scratch.resize(C::kWords * points.count);
    job.curve = points.curve;
    job.count = points.count;
    job.threads = 3;
    job.point = points.result, job.scratch = scratch.data();
    for (std::uint32_t thread = 0; thread < job.threads; ++thread)
      normalise_any<C>(BlockOfOne(), job, thread);
  }
  /// Multiples of the generator as entries of a table.
  [[nodiscard]] std::vector<std::uint32_t> entries(const NumberColumn& scalars,
                                                   const std::vector<std::uint32_t>& table) const {
    PointJob job = make_job(window_count(static_cast<unsigned>(curve_.order_bits), kWindow) << (kWindow - 1));
    std::vector<std::uint32_t> result(3 * C::kWords * job.count), scratch, r(2 * C::kWords * job.count);
    job.scalar = scalars.view();
    job.table = table.data();
    job.result = result.data();
    for (std::uint32_t i = 0; i < job.count; ++i) multiply_base(job, i);
    AffineJob affine;
    affine.entries = r.data();
    normalise(affine, job, scratch);
    return r;
  }
  void expect_points(PointJob job, void (*multiply)(const PointJob&, std::uint32_t),
                     const std::vector<PlainPoint>& expected) const {
    const std::size_t count = expected.size();
    std::vector<std::uint32_t> result(3 * C::kWords * count), scratch;
    std::vector<std::uint8_t> infinity(count);
    NumberColumn x(row_words_), y(row_words_);
    job.result = result.data();
    for (std::uint32_t i = 0; i < job.count; ++i) multiply(job, i);
    AffineJob affine;
    affine.x = x.out(count), affine.y = y.out(count), affine.infinity = infinity.data();
    normalise(affine, job, scratch);
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
    const Tiny<Any256> one(curve, 2);
    one.check_membership();
    one.check_multiples();
    ++checked;
  }
  EXPECT_GE(checked, 5U);
}

TEST(AnyCurve, AllMultiplesOfGeneratorsOfTinyCurves) {
  unsigned checked = 0;
  for (const test::TestCurve& tiny : test::tiny_curves()) {
    const Curve& curve = tiny.curve;
    if (curve.form != MM_ECC_WEIERSTRASS || curve.n[0] < 1U << kBaseWindow) continue;
    SCOPED_TRACE(tiny.description);
    Tiny<Any256>(curve, 2).check_multiples_of_generator();
    Tiny<Any640>(curve, Any640::kWords).check_multiples_of_generator();
    ++checked;
  }
  EXPECT_GE(checked, 2U);
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
