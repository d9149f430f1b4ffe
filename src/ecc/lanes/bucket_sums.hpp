// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples by buckets (Pippenger 1976), for public scalars and points. This class decides which
// points are added to each other; PointSumCalls adds them, in affine form and many pairs at a time.
//
// Points of one bucket are added in pairs, then their sums, until one is left. The additions of one round do
// not depend on each other, whatever the scalars are; a bucket of m points takes m - 1 of them. With 2^k
// buckets B_j of the digits j + 1, the sum of (j + 1) B_j is the sum of all B_j plus that of all j B_j, and
//
//     sum_(j < 2 h) j B_j = sum_(j < h) j (B_j + B_(j + h)) + h sum_(j < h) B_(j + h):
//
// buckets are folded in halves, and each bit of j gets a sum of its own. All windows are folded at the same
// time, and the sums of the bits are added by doublings at the end.
//
// On a curve with an endomorphism, and in sums of few terms, k P becomes two terms +-k1 P and +-k2 phi(P) of
// half the bits. They take as many additions to buckets, but in half as many windows, so that folds and
// doublings are saved. Scalars that are already that short are not split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ecc/lanes/lane_block.hpp"
#include "ecc/lanes/point_lane_calls.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc::lanes {

/// The fewest terms for which buckets are used; scalar64 adds fewer terms faster. The doublings at the end,
/// which a single vector computes, take as long as scalar64's sum of some 4 to 10 terms with digits of 52
/// bits, and of up to 32 terms with digits of 29 bits (measured on Zen 4).
constexpr std::size_t min_bucket_terms(const PointLaneCalls& calls) {
  return calls.digit_bits == 52 ? 16 : 32;
}
/// The most terms of one set of buckets. It is smaller where additions are so fast that they would wait for
/// rows that are not in the second-level cache (measured on Zen 4: 2^14 rows of 256 bits take 2 MiB).
constexpr std::size_t most_bucket_terms(const PointLaneCalls& calls) {
  return std::size_t{1} << (calls.mul_instructions < 16 * calls.lanes ? 14 : 16);
}

class BucketSums {
 public:
  /// For at most `terms` terms, min_bucket_terms <= terms <= most_bucket_terms, with scalars below 2^bits.
  /// The operands must outlive it.
  BucketSums(const Curve& curve, const PointLaneCalls& calls, const PointBlock& constants, std::size_t terms,
             unsigned bits);

  /// r[0] = the sum of k_i P_i over `items`; @return false, with r undefined, once a stop is requested. Exact
  /// for points of any order, infinity among them.
  bool compute(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
               const StopToken& stop);

 private:
  /// A term as buckets have it: +-scalar times the point of a row.
  struct Term {
    std::span<const Limb> scalar;
    Limb negative;
    std::size_t row;
  };
  /// Some points each: group g has references[begin[g]] up to references[begin[g + 1]].
  struct Groups {
    std::vector<RowReference> references;
    std::vector<std::size_t> begin;
  };

  const Curve& curve_;
  const PointLaneCalls& calls_;
  std::size_t parts_;  ///< terms of an item
  unsigned bits_;      ///< of their scalars at most
  unsigned width_;     ///< of a window
  std::size_t windows_;
  std::size_t buckets_;   ///< of a window
  std::size_t together_;  ///< windows whose buckets are filled at the same time
  /// First rows: of images of points, of the sums of buckets and of their folds, and of other sums. Row 0 is
  /// infinity, and points are in those from 1 on.
  std::size_t image_rows_, bucket_rows_, fold_rows_, work_rows_;
  std::unique_ptr<Limb[]> memory_;
  Limb* rows_;
  LaneBlock block_;
  Groups groups_;
  std::vector<RowReference> left_, right_;  ///< pairs to be added
  std::vector<RowReference> digits_;
  std::vector<Limb> halves_, negative_;  ///< scalars of two parts, k1 of all items before k2, and their signs
  /// Buckets of all windows.
  std::vector<RowReference> sums_;

  void write_points(const PointRows& points, ItemRange items);
  void split_scalars(const NumberRows& k, ItemRange items);
  [[nodiscard]] Term term(const NumberRows& k, ItemRange items, std::size_t index) const;
  std::size_t add_pairs(std::size_t first_row);
  bool reduce(std::size_t first_row, const StopToken& stop);
  bool fill_buckets(const NumberRows& k, ItemRange items, std::size_t first, std::size_t count,
                    const StopToken& stop);
  bool fold(const StopToken& stop);
  [[nodiscard]] RowReference group_sum(std::size_t group) const;
};

}  // namespace manymod::ecc::lanes
