// SPDX-License-Identifier: Apache-2.0
// The sum of many multiples in two parts. For each i a GPU adds up the points P_i of all terms whose scalar
// digits have the bit 2^i; the host then computes the sum of 2^i P_i.
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
  /// The number of powers of two, each with a sum of its own.
  [[nodiscard]] std::size_t powers() const { return std::size_t{windows} * width; }
  /// The most buckets of a window whose digits have the same bit set.
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

/// The PowerSums of all chunks of a call.
class ChunkSums {
 public:
  ChunkSums(const Curve& curve, const BucketShape& shape) : curve_(curve), shape_(shape) {}

  /// Room for the sums of a chunk. If a GPU fails, the items that are left may be cut into other chunks.
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
