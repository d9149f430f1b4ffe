// SPDX-License-Identifier: Apache-2.0
// Sums of points (sums.cuda.hpp) on edwards25519.
#pragma once

#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/edwards.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"

namespace manymod::ecc::cuda {

template <class C>
class EdwardsSums {
 public:
  using Point = typename C::Point;
  static constexpr unsigned kWords = C::kWords;

  MM_DEVICE explicit EdwardsSums(const CurveNumbers& curve) {
    const typename C::Field f;
    f.from_limbs(d_, row_words<C::kWords>(curve.b));
  }

  MM_DEVICE typename C::Field field() const { return {}; }
  MM_DEVICE void set_neutral(Point& r) const { edwards::set_neutral(field(), r); }
  MM_DEVICE void add_affine(Point& r, const std::uint32_t* x, const std::uint32_t* y,
                            std::uint32_t negative) const {
    const typename C::Field f;
    typename C::Element given_x, given_y;
    typename C::Prepared q;
    f.from_limbs(given_x, row_words<C::kWords>(x));
    f.from_limbs(given_y, row_words<C::kWords>(y));
    edwards::prepare(f, q, given_x, given_y, d_);
    edwards::negate_where(f, q, negative);
    edwards::add(f, r, r, q);
  }
  /// (X : Y : Z) is (X Z : Y Z : Z^2 : X Y) with T.
  MM_DEVICE void add(Point& r, const Point& q) const {
    const typename C::Field f;
    Point extended;
    typename C::Cached cached;
    typename C::Element d2;
    f.mul(extended.x, q.x, q.z);
    f.mul(extended.y, q.y, q.z);
    f.sqr(extended.z, q.z);
    f.mul(extended.t, q.x, q.y);
    f.add(d2, d_, d_);
    f.template normalize_weak<2>(d2, d2);
    edwards::cache(f, cached, extended, d2);
    edwards::add(f, r, r, cached);
  }

 private:
  typename C::Element d_;
};

}  // namespace manymod::ecc::cuda
