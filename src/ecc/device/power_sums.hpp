// SPDX-License-Identifier: Apache-2.0
// What GPUs compute of a sum of multiples, and what the processor makes of it: with the points of all terms
// whose digits have a bit at 2^i added up, the sum is that of 2^i times those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/limb.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc::device {

/// How the terms of a chunk are distributed over buckets (sum_jobs.hpp).
struct BucketShape {
  unsigned width = 0;    ///< bits of a digit
  unsigned windows = 0;  ///< digits

  /// The one with the fewest additions for scalars of `bits` bits.
  static BucketShape of(std::size_t bits, std::size_t terms);

  [[nodiscard]] std::size_t buckets() const { return std::size_t{windows} << (width - 1); }
  /// Powers of two that take part.
  [[nodiscard]] std::size_t powers() const { return std::size_t{windows} * width; }
  /// Buckets of a window whose digits have a certain bit, at most.
  [[nodiscard]] std::size_t slots() const { return std::size_t{1} << (width - 2); }
};

/// The points of the powers of two.
struct PowerSums {
  PowerSums() = default;
  PowerSums(const Curve& curve, const BucketShape& shape)
      : x(shape.powers() * curve.limbs()), y(x), infinity(shape.powers()) {}

  std::vector<Limb> x, y;
  std::vector<std::uint8_t> infinity;

  /// r = the sum of 2^i times point i, by the host. Points are overwritten.
  void add_up(const PointResults& r, const PointEngine& host);

 private:
  [[nodiscard]] bool is_neutral(const Curve& curve, std::size_t i) const;
  void carry(const PointEngine& host, std::size_t i);
};

/// Those of the chunks of a call.
class ChunkSums {
 public:
  ChunkSums(const Curve& curve, const BucketShape& shape) : curve_(curve), shape_(shape) {}

  /// Room for those of a chunk. Where a GPU fails, others may cut the items that are left into other chunks.
  PowerSums& of(ItemRange chunk);
  /// r = the sum of all chunks that cut `items`, by the host.
  void add_up(const PointResults& r, const PointEngine& host, ItemRange items);

 private:
  struct Part {
    std::size_t end = 0;
    PowerSums sums;
  };

  const Curve& curve_;
  const BucketShape shape_;
  std::map<std::size_t, Part> parts_;  ///< by their first items
};

}  // namespace manymod::ecc::device
