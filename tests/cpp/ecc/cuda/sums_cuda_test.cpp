// SPDX-License-Identifier: Apache-2.0
// Kernels that add points, compiled for the host, on curves that are too wide for whole calls on the
// substitute for the driver (row_sums_test.cpp): against the textbook laws.
#include "ecc/cuda/sums.cuda.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ecc/cuda/buckets.cuda.hpp"
#include "ecc/plain_group.hpp"

namespace manymod::ecc::cuda {
namespace {

using test::PlainGroup;
using test::PlainPoint;

template <class CurveClass, CurveId kIdOfCurve>
struct Named {
  using C = CurveClass;
  static constexpr CurveId kId = kIdOfCurve;
};

/// Rows of coordinates.
template <class C>
std::vector<std::uint32_t> rows_of(const std::vector<PlainPoint>& points,
                                   std::vector<Limb> PlainPoint::* coordinate) {
  std::vector<std::uint32_t> r;
  for (const PlainPoint& point : points) {
    for (const Limb limb : point.*coordinate) {
      r.push_back(static_cast<std::uint32_t>(limb));
      r.push_back(static_cast<std::uint32_t>(limb >> 32));
    }
  }
  return r;
}

template <class Curve>
class SumKernels : public testing::Test {
 protected:
  using C = typename Curve::C;
  using Lists = std::vector<std::vector<std::uint32_t>>;

  const PlainGroup plain_{named_curve(Curve::kId)};
  std::vector<PlainPoint> points_;
  std::vector<std::uint32_t> x_, y_;

  void SetUp() override {
    PlainPoint multiple = plain_.generator();
    for (int i = 0; i < 4; ++i) {
      points_.push_back(multiple);
      multiple = plain_.add(multiple, plain_.generator());
    }
    x_ = rows_of<C>(points_, &PlainPoint::x);
    y_ = rows_of<C>(points_, &PlainPoint::y);
  }

  /// Columns of the sums of terms, as DigitsJob has them, and then of those sums.
  std::vector<PlainPoint> sums_of(const Lists& terms, const Lists& sums) {
    std::vector<std::uint32_t> first(3 * C::kWords * terms.size()), second(3 * C::kWords * sums.size());
    Flat of_terms(terms), of_sums(sums);
    SumJob job;
    job.count = static_cast<std::uint32_t>(terms.size());
    job.elements = of_terms.groups();
    job.references = of_terms.references.data();
    job.x[0] = {x_.data(), C::kRowWords};
    job.y[0] = {y_.data(), C::kRowWords};
    job.result = first.data();
    for (std::uint32_t i = 0; i < job.count; ++i) sum_terms<JacobianSums<C>>(job, i);
    job.points = first.data();
    job.point_count = job.count;
    job.count = static_cast<std::uint32_t>(sums.size());
    job.elements = of_sums.groups();
    job.references = of_sums.references.data();
    job.result = second.data();
    for (std::uint32_t i = 0; i < job.count; ++i) sum_points<JacobianSums<C>>(job, i);
    return affine(second, sums.size());
  }

 private:
  struct Flat {
    std::vector<std::uint32_t> first, size, references;
    explicit Flat(const Lists& lists) {
      for (const auto& list : lists) {
        first.push_back(static_cast<std::uint32_t>(references.size()));
        size.push_back(static_cast<std::uint32_t>(list.size()));
        references.insert(references.end(), list.begin(), list.end());
      }
    }
    [[nodiscard]] Groups groups() { return {first.data(), size.data()}; }
  };

  std::vector<PlainPoint> affine(const std::vector<std::uint32_t>& columns, std::size_t count) const {
    std::vector<std::uint32_t> x(count * C::kRowWords), y(x), scratch(count * C::kWords);
    std::vector<std::uint8_t> infinity(count);
    AffineJob job;
    job.count = static_cast<std::uint32_t>(count);
    job.threads = 2;
    job.point = columns.data();
    job.scratch = scratch.data();
    job.x = {x.data(), C::kRowWords};
    job.y = {y.data(), C::kRowWords};
    job.infinity = infinity.data();
    for (std::uint32_t thread = 0; thread < job.threads; ++thread) normalise<C>(BlockOfOne(), job, thread);
    std::vector<PlainPoint> r(count, plain_.neutral());
    for (std::size_t i = 0; i < count; ++i) {
      r[i].infinite = infinity[i] != 0;
      for (std::size_t word = 0; word < C::kRowWords; ++word) {
        r[i].x[word / 2] |= Limb{x[i * C::kRowWords + word]} << (32 * (word % 2));
        r[i].y[word / 2] |= Limb{y[i * C::kRowWords + word]} << (32 * (word % 2));
      }
    }
    return r;
  }
};

using Curves = testing::Types<Named<P384, CurveId::p384>, Named<P521, CurveId::p521>>;
TYPED_TEST_SUITE(SumKernels, Curves);

TYPED_TEST(SumKernels, AllKindsOfPoints) {
  // Points 0 to 3 are G, 2 G, 3 G and 4 G; an odd reference is that of an opposite.
  const typename TestFixture::Lists terms{{}, {0}, {0, 0}, {0, 2}, {4, 1, 3}, {7}, {6, 0, 1, 0}};
  const std::vector<int> multiples{0, 1, 2, 3, 0, -4, 5};
  typename TestFixture::Lists sums{{}, {kNoPoint}, {0, kNoPoint, 4, 0}};
  std::vector<int> expected{0, 0, 0};
  for (std::uint32_t i = 0; i < terms.size(); ++i) {
    for (std::uint32_t j = 0; j < terms.size(); ++j) {
      sums.push_back({i, j, 1});
      expected.push_back(multiples[i] + multiples[j] + 1);
    }
  }
  const std::vector<PlainPoint> found = this->sums_of(terms, sums);
  for (std::size_t i = 0; i < found.size(); ++i) {
    PlainPoint multiple = this->plain_.neutral();
    const PlainPoint g = this->plain_.generator();
    const PlainPoint step = expected[i] < 0 ? this->plain_.negate(g) : g;
    for (int left = std::abs(expected[i]); left > 0; --left) multiple = this->plain_.add(multiple, step);
    EXPECT_EQ(found[i], multiple) << i;
  }
}

TEST(BucketDigits, SumUpToTheScalar) {
  constexpr unsigned kWords = 2;
  for (const std::uint64_t k :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x123456789abcdef0},
        std::uint64_t{0x8000800080008000}, std::uint64_t{0x7fff8000ffff0001}, ~std::uint64_t{0}}) {
    const std::uint32_t words[kWords] = {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
    for (unsigned width = 2; width <= 16; ++width) {
      __extension__ __int128 sum = 0;
      for (unsigned left = 32 * kWords / width + 1; left > 0; --left) {
        const BucketDigit digit = bucket_digit(words, kWords, width, left - 1);
        ASSERT_LE(digit.magnitude, 1u << (width - 1));
        const int value = static_cast<int>(digit.magnitude);
        sum = (sum << width) + (digit.negative != 0 ? -value : value);
      }
      EXPECT_TRUE(sum == k) << k << ' ' << width;
    }
  }
}

}  // namespace
}  // namespace manymod::ecc::cuda
