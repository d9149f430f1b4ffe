// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples by buckets, for public scalars and points.
//
// Source: Pippenger, "On the evaluation of powers and related problems" (1976); signed digits halve the
// buckets (reference/ecc/scalar/pippenger.py). Equal and opposite points meet in buckets whenever a caller
// repeats a point: additions are complete.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/ticker.hpp"
#include "ecc/point_engine.hpp"
#include "modexp/limb_bits.hpp"
#include "modexp/recoding.hpp"

namespace manymod::ecc::scalar64 {

/// Terms that are added by one set of buckets: 2^17 points of 256 bits take 8 MiB.
inline constexpr std::size_t kMaxTerms = std::size_t{1} << 17;
/// Buckets of this width, 2^(kMaxBucketWidth - 1) points, fit the cache of a core.
inline constexpr unsigned kMaxBucketWidth = 14;
inline constexpr std::size_t kTermsPerPoll = 256;

/// The width of least cost, in additions: a window takes one a term, two a bucket, and `width` doublings.
inline unsigned best_bucket_width(std::size_t terms, unsigned bits) {
  const auto cost = [&](unsigned width) {
    return recoding::signed_digit_count(bits, width) * (terms + (std::size_t{1} << width) + width);
  };
  unsigned best = 2;
  for (unsigned width = 3; width <= kMaxBucketWidth; ++width)
    if (cost(width) < cost(best)) best = width;
  return best;
}

/// Sums of up to kMaxTerms multiples in a group (weierstrass.hpp says what a group is).
template <class Group>
class BucketSums {
 public:
  using Point = typename Group::Point;
  using Operand = typename Group::Operand;

  BucketSums(const Group& group, std::size_t limbs, unsigned bits, std::size_t terms)
      : group_(group), limbs_(limbs), bits_(bits), width_(best_bucket_width(terms, bits)) {
    points_.reserve(terms);
    scalars_.reserve(terms);
    buckets_.resize(std::size_t{1} << (width_ - 1));
  }

  /// r = r + the sum of k_i P_i over `items`; @return false, with r undefined, once a stop is requested.
  bool accumulate(Point& r, const NumberRows& k, std::size_t scalar_limbs, const PointRows& points,
                  ItemRange items, const StopToken& stop) {
    load(k, scalar_limbs, points, items);
    Point sum, window;
    group_.set_neutral(sum);
    for (unsigned i = recoding::signed_digit_count(bits_, width_); i-- > 0;) {
      for (unsigned bit = 0; bit < width_; ++bit) group_.twice(sum, sum);
      if (!fill_buckets(i, stop)) return false;
      add_up(window);
      group_.add(sum, sum, window);
    }
    group_.add(r, r, sum);
    return true;
  }

 private:
  const Group& group_;
  std::size_t limbs_;
  unsigned bits_;
  unsigned width_;
  std::vector<Operand> points_;  ///< those that are not infinity
  std::vector<std::span<const Limb>> scalars_;
  std::vector<Point> buckets_;  ///< of the digits 1, 2, .. in magnitude

  void load(const NumberRows& k, std::size_t scalar_limbs, const PointRows& points, ItemRange items) {
    points_.clear();
    scalars_.clear();
    for (std::size_t item = items.begin; item < items.end; ++item) {
      if (points.infinity != nullptr && points.infinity[item] != 0) continue;
      typename Group::Element x, y;
      group_.field().from_limbs(x, {points.x[item], limbs_});
      group_.field().from_limbs(y, {points.y[item], limbs_});
      group_.prepare(points_.emplace_back(), x, y);
      scalars_.emplace_back(k[item], scalar_limbs);
    }
  }
  bool fill_buckets(unsigned window, const StopToken& stop) {
    for (Point& bucket : buckets_) group_.set_neutral(bucket);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (i % kTermsPerPoll == 0 && stop.requested()) return false;
      const recoding::SignedDigit digit =
          recoding::signed_digit(recoding::LimbBits(scalars_[i]), width_, window);
      if (digit.magnitude == 0) continue;
      Operand term = points_[i];
      group_.negate_where(term, word::mask_from_bit(digit.negative));
      Point& bucket = buckets_[digit.magnitude - 1];
      group_.add(bucket, bucket, term);
    }
    return true;
  }
  /// r = the sum of d times the bucket of d, as a sum of the sums from each bucket up.
  void add_up(Point& r) {
    Point running;
    group_.set_neutral(running);
    group_.set_neutral(r);
    for (std::size_t i = buckets_.size(); i-- > 0;) {
      group_.add(running, running, buckets_[i]);
      group_.add(r, r, running);
    }
  }
};

}  // namespace manymod::ecc::scalar64
