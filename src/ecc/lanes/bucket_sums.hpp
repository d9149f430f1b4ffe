// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples by buckets (Pippenger 1976), for public scalars and points: who is added to whom.
// The additions are those of PointSumCalls, affine and many at a time.
//
// Points of one bucket are added in pairs, then their sums, until one is left: additions of one round do not
// depend on each other, whatever the scalars are, and a bucket of m points takes m - 1. With 2^k buckets B_j
// of the digits j + 1, the sum of (j + 1) B_j is the sum of all B_j and of j B_j, and
//
//     sum_(j < 2 h) j B_j = sum_(j < h) j (B_j + B_(j + h)) + h sum_(j < h) B_(j + h):
//
// buckets are folded in halves, and each bit of j gets a sum of its own. All windows are folded at the same
// time, and the sums of the bits are added by doublings at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ecc/lanes/lane_block.hpp"
#include "ecc/lanes/point_lane_calls.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc::lanes {

/// Fewer terms are added faster one by one.
inline constexpr std::size_t kMinBucketTerms = 64;
/// Terms that are added by one set of buckets: few where additions are so fast that they wait for rows from
/// beyond the second-level cache (measured on Zen 4: 2^14 rows of 256 bits take 2 MiB).
constexpr std::size_t most_bucket_terms(const PointLaneCalls& calls) {
  return std::size_t{1} << (calls.mul_instructions < 16 * calls.lanes ? 14 : 16);
}

class BucketSums {
 public:
  /// For at most `terms` terms, kMinBucketTerms <= terms <= most_bucket_terms. The operands must outlive it.
  BucketSums(const Curve& curve, const PointLaneCalls& calls, const PointBlock& constants, std::size_t terms);

  /// r[0] = the sum of k_i P_i over `items`; @return false, with r undefined, once a stop is requested. Exact
  /// for points of any order, infinity among them.
  bool compute(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
               const StopToken& stop);

 private:
  /// Some points each: group g has references[begin[g]] up to references[begin[g + 1]].
  struct Groups {
    std::vector<RowReference> references;
    std::vector<std::size_t> begin;
  };

  const Curve& curve_;
  const PointLaneCalls& calls_;
  unsigned width_;  ///< of a window
  std::size_t windows_;
  std::size_t buckets_;   ///< of a window
  std::size_t together_;  ///< windows whose buckets are filled at the same time
  /// First rows: of points, of the sums of buckets and of their folds, and of other sums. Row 0 is infinity.
  std::size_t bucket_rows_, fold_rows_, work_rows_;
  std::unique_ptr<Limb[]> memory_;
  Limb* rows_;
  LaneBlock block_;
  Groups groups_;
  std::vector<RowReference> left_, right_;  ///< pairs to be added
  std::vector<RowReference> digits_;
  /// Buckets of all windows.
  std::vector<RowReference> sums_;

  void write_points(const PointRows& points, ItemRange items);
  std::size_t add_pairs(std::size_t first_row);
  bool reduce(std::size_t first_row, const StopToken& stop);
  bool fill_buckets(const NumberRows& k, ItemRange items, std::size_t first, std::size_t count,
                    const StopToken& stop);
  bool fold(const StopToken& stop);
  [[nodiscard]] RowReference group_sum(std::size_t group) const;
};

}  // namespace manymod::ecc::lanes
