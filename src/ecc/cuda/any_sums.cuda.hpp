// SPDX-License-Identifier: Apache-2.0
// Sums of points (sums.cuda.hpp) on any Weierstrass curve of odd order.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/any_curve.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"

namespace manymod::ecc::cuda {

template <class C>
class AnySums {
 public:
  using Point = typename C::Point;
  static constexpr unsigned kWords = C::kWords;

  MM_DEVICE explicit AnySums(const CurveNumbers& curve)
      : curve_(curve), numbers_(curve), group_(numbers_, curve.a_is_zero != 0) {}
  AnySums(const AnySums&) = delete;
  AnySums& operator=(const AnySums&) = delete;

  MM_DEVICE const typename C::Field& field() const { return group_.field(); }
  MM_DEVICE void set_neutral(Point& r) const { group_.set_infinity(r); }
  MM_DEVICE void add_affine(Point& r, const std::uint32_t* x, const std::uint32_t* y,
                            std::uint32_t negative) const {
    typename C::Affine q;
    field().from_limbs(q.x, coordinate(curve_, x));
    field().from_limbs(q.y, coordinate(curve_, y));
    group_.negate_where(q.y, negative);
    group_.add(r, q);
  }
  MM_DEVICE void add(Point& r, const Point& q) const { group_.add(r, q); }

 private:
  const CurveNumbers& curve_;
  AnyNumbers<C> numbers_;
  AnyGroup<C> group_;
};

}  // namespace manymod::ecc::cuda
