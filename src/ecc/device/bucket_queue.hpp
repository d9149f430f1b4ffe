// SPDX-License-Identifier: Apache-2.0
// The sum of the multiples of a chunk's points by buckets, which kernels sort and add up (sum_jobs.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ecc/device/power_sums.hpp"
#include "ecc/device/queue.hpp"
#include "ecc/device/sum_jobs.hpp"

namespace manymod::ecc::device {

/// Terms that a thread adds up: buckets of more are cut into pieces.
inline constexpr unsigned kMostTerms = 32;

/// The terms of a chunk: multiples of affine points. Only the good ones are added.
struct BucketTerms {
  Rows scalar, x, y;
  std::uint32_t scalar_words = 0;
  const std::uint8_t* good = nullptr;
  bool are_opposites = false;  ///< the points are those of -x y
};

class BucketQueue {
 public:
  /// Adds the memory that the sums of at most `terms` terms need in a chunk to that of their operands.
  static void add_bytes(ItemBytes& bytes, const Curve& curve, const CurveKernels& kernels,
                        const BucketShape& shape, std::size_t terms);

  BucketQueue(const Queue& queue, Chunk& chunk, const BucketShape& shape);

  /// Enqueues the computation of `to`, which must outlive the chunk's work.
  void add_up(const BucketTerms& terms, PowerSums& to);

 private:
  /// Sizes of arrays, in words, and elements of them.
  struct Room {
    std::size_t pieces, references, groups;
    Room(const BucketShape& shape, std::size_t terms);
  };
  /// One stage of the additions: groups of points in columns, or of references to points, to be added up.
  struct Stage {
    Groups groups;
    std::uint32_t count = 0;   ///< groups
    std::size_t largest = 0;   ///< elements of a group, at most
    std::size_t elements = 0;  ///< of all groups, at most
    const std::uint32_t* points = nullptr;
    std::uint32_t point_count = 0;
  };

  const Queue& queue_;
  Chunk& chunk_;
  const BucketShape shape_;
  std::uint32_t* counters_;  ///< kCounters, then sizes of buckets
  std::uint32_t used_counters_ = 0;
  std::uint32_t* references_;
  Groups elements_;
  /// The groups and points of the present stage and of the next one, in turn. side_: the index of the next
  /// groups.
  Groups sides_[2];
  std::uint32_t* points_[2];
  unsigned side_ = 0;
  Stage stage_;

  [[nodiscard]] std::uint32_t* counter() { return counters_ + used_counters_++; }
  template <class Job>
  void launch(const char* part, const Job& job) const;
  SumJob cut(unsigned most, std::uint32_t* next = nullptr);
  void fill_buckets(const BucketTerms& terms);
  void distribute_bits();
  void finish(PowerSums& to);
};

}  // namespace manymod::ecc::device
