// SPDX-License-Identifier: Apache-2.0
// Operands for the test of kernels before their first use, where drivers compile them: scalars at the edges
// of their range, with points for which sums and doublings are exceptional in incomplete formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ecc/point_engine.hpp"

namespace manymod::ecc::device {

/// Coordinates and flags of the items of a call, one after the other.
struct AnsweredPoints {
  std::vector<Limb> x, y;
  std::vector<std::uint8_t> flags;

  AnsweredPoints(const Curve& curve, std::size_t count)
      : x(count * curve.limbs()), y(x), flags(count), has_infinity_(curve.form != MM_ECC_EDWARDS) {}
  [[nodiscard]] PointResults results() {
    return {x.data(), y.data(), has_infinity_ ? flags.data() : nullptr};
  }
  bool operator==(const AnsweredPoints&) const = default;

 private:
  bool has_infinity_;
};

/// Scalars and coordinates for ladders.
class KnownLadders {
 public:
  explicit KnownLadders(const Curve& curve);

  [[nodiscard]] ItemRange items() const { return {0, k_.size() / limbs_}; }
  [[nodiscard]] NumberRows k() const { return {k_.data(), limbs_}; }
  [[nodiscard]] NumberRows u() const { return {u_.data(), limbs_}; }

 private:
  std::size_t limbs_;
  std::vector<Limb> k_, u_;
};

class KnownOperands {
 public:
  /// Multiples of G are computed by `reference`. On input: a Weierstrass or an Edwards curve.
  explicit KnownOperands(const PointEngine& reference);

  [[nodiscard]] ItemRange items() const { return {0, u_.size() / size_}; }
  [[nodiscard]] NumberRows u() const { return {u_.data(), size_}; }
  [[nodiscard]] NumberRows v() const { return {v_.data(), size_}; }
  [[nodiscard]] PointRows points() const { return {{points_.x.data(), limbs_}, {points_.y.data(), limbs_}}; }
  /// To be added to points(): equal ones, opposite ones, and others.
  [[nodiscard]] PointRows second() const { return {{second_.x.data(), limbs_}, {second_.y.data(), limbs_}}; }
  /// The terms of a sum: points() and second(), both times u(), and all again. A quarter of u() are n less
  /// little, so that in most windows a bucket has more terms than a thread adds up: it is cut into pieces
  /// (bucket_queue.hpp).
  [[nodiscard]] ItemRange terms() const { return {0, factors_.size() / size_}; }
  [[nodiscard]] NumberRows factors() const { return {factors_.data(), size_}; }
  [[nodiscard]] PointRows term_points() const {
    return {{terms_.x.data(), limbs_}, {terms_.y.data(), limbs_}};
  }
  /// points(), of which each second one is not on the curve.
  [[nodiscard]] PointRows candidates() const {
    return {{points_.x.data(), limbs_}, {candidates_.data(), limbs_}};
  }

 private:
  std::size_t size_, limbs_;  ///< of a scalar, of a coordinate
  std::vector<Limb> u_, v_;
  AnsweredPoints points_, second_, terms_;
  std::vector<Limb> factors_;     ///< of terms_
  std::vector<Limb> candidates_;  ///< y

  /// Makes second_ and terms_ of points_.
  void add_second(const Curve& curve);
};

}  // namespace manymod::ecc::device
