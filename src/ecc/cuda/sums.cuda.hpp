// SPDX-License-Identifier: Apache-2.0
// Sums of points by one thread for each sum, for public points. All exceptional cases are handled.
//
// A template argument `Sums` is the group of one curve: Point, set_neutral(r), add_affine(r, x, y, negative)
// for coordinates in rows and a mask, add(r, q) for a point q of which X, Y and Z were loaded, and field().
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"

namespace manymod::ecc::cuda {

/// Points of a curve on a special prime, in Jacobian coordinates.
template <class C>
class JacobianSums {
 public:
  using Point = typename C::Point;
  static constexpr unsigned kWords = C::kWords;

  MM_DEVICE explicit JacobianSums(const CurveNumbers& /*curve*/) {}

  MM_DEVICE typename C::Field field() const { return {}; }
  MM_DEVICE void set_neutral(Point& r) const {
    const typename C::Field f;
    f.one(r.x);
    f.one(r.y);
    f.zero(r.z);
  }
  MM_DEVICE void add_affine(Point& r, const std::uint32_t* x, const std::uint32_t* y,
                            std::uint32_t negative) const {
    const typename C::Field f;
    typename C::Affine q;
    f.from_limbs(q.x, row_words<C::kWords>(x));
    f.from_limbs(q.y, row_words<C::kWords>(y));
    negate_where<C>(q.y, negative);
    add_public<C>(r, q);
  }
  MM_DEVICE void add(Point& r, const Point& q) const {
    const typename C::Field f;
    if (f.is_zero(q.z) != 0) return;
    if (f.is_zero(r.z) != 0) {
      r = q;
      return;
    }
    const Point before = r;
    Calls<C>::add(r, q);
    // Equal or opposite points.
    if (f.is_zero(r.z) != 0) {
      r = before;
      Calls<C>::add_complete(r, q);
    }
  }
};

/// Computes a sum of affine points. On input: item < job.count.
template <class Sums>
MM_DEVICE void sum_terms(const SumJob& job, std::uint32_t item) {
  if (job.made != nullptr && item >= *job.made) return;
  const Sums sums(job.curve);
  typename Sums::Point sum;
  sums.set_neutral(sum);
  const bool in_pairs = job.references == nullptr;
  const std::uint32_t first = in_pairs ? 0 : job.elements.first[item];
  const std::uint32_t size = in_pairs ? 2 : job.elements.size[item];
  MM_ROLLED
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t reference = in_pairs ? 2 * item : job.references[first + i];
    const unsigned set = in_pairs ? i : 0;
    sums.add_affine(sum, job.x[set].at(reference / 2), job.y[set].at(reference / 2),
                    0 - ((reference ^ job.negates) & 1));
  }
  store_point<Sums::kWords>(sums.field(), job, item, sum);
}

/// Computes a sum of points in columns. On input: item < job.count.
template <class Sums>
MM_DEVICE void sum_points(const SumJob& job, std::uint32_t item) {
  if (job.made != nullptr && item >= *job.made) return;
  const Sums sums(job.curve);
  const auto& f = sums.field();
  const std::size_t count = job.point_count, column = Sums::kWords * count;
  typename Sums::Point sum, point;
  sums.set_neutral(sum);
  const std::uint32_t first = job.elements.first[item], size = job.elements.size[item];
  MM_ROLLED
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t element = job.references == nullptr ? first + i : job.references[first + i];
    if (element == kNoPoint) continue;
    load_element(f, point.x, ConstColumn{job.points, count, element});
    load_element(f, point.y, ConstColumn{job.points + column, count, element});
    load_element(f, point.z, ConstColumn{job.points + 2 * column, count, element});
    sums.add(sum, point);
  }
  store_point<Sums::kWords>(f, job, item, sum);
}

}  // namespace manymod::ecc::cuda
