// SPDX-License-Identifier: Apache-2.0
// Multiples k P for any k of scalar_bytes bytes, which may be n or more. Engines multiply by k < n only.
#pragma once

#include <cstddef>
#include <memory>

#include "ecc/order.hpp"
#include "ecc/schemes/block.hpp"

namespace manymod::ecc {

/// Multiples on one curve, of points that may be infinity only in sums. Scalars have curve.scalar_limbs()
/// limbs and are overwritten.
///
/// With a cofactor of 1 every point has order n or is infinity, and k counts modulo n. Points of other curves
/// may lie outside of the generator's group, where n P is not infinity: there k is not reduced but computed
/// in pieces below n by Horner's rule. The upper piece is k >> s with s = 8 scalar_bytes - order_bits + 1,
/// which is below 2^(order_bits - 1) < n.
class Multiples {
 public:
  explicit Multiples(const PointEngine& engine);

  /// r = k G. Constant-time.
  void of_base(Points& r, Rows& k, ItemRange items, const StopToken& stop) const;
  /// r = k P. Constant-time.
  void of_points(Points& r, Rows& k, const PointRows& points, ItemRange items, const StopToken& stop) const;
  /// r, one point, = the sum of k_i P_i. Variable-time.
  void sum(Points& r, Rows& k, const PointRows& points, ItemRange items, const StopToken& stop) const;

 private:
  const PointEngine& engine_;
  const Curve& curve_;
  std::unique_ptr<const Order> order_;
  std::size_t below_;  ///< s: bits below the upper piece

  void reduce(Rows& k, ItemRange items) const;
  /// k = its upper piece; @return the s bits below, one limb an item.
  Rows split(Rows& k, ItemRange items) const;
};

/// r = r + p, row by row. Constant-time on curves with a cofactor, as PointEngine::add.
void accumulate(const PointEngine& engine, Points& r, const PointRows& p, ItemRange items);

}  // namespace manymod::ecc
