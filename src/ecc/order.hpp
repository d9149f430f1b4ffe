// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the order n of a curve's generator, on rows of numbers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/limb.hpp"
#include "ecc/curve.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc {

/// Numbers are canonical: 0 <= x < n, of limbs() limbs, and results of `count` rows lie one after the other.
/// An operand's stride may be 0: one number for all rows. Results may be operands of the same stride.
///
/// Timing: constant-time; it depends on n and on counts only.
class Order {
 public:
  static std::unique_ptr<const Order> of(const Curve& curve);
  virtual ~Order() = default;
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  [[nodiscard]] std::span<const Limb> n() const { return n_; }
  [[nodiscard]] std::size_t limbs() const { return n_.size(); }

  /// r = x mod n for any x of `limbs` limbs.
  virtual void reduce(Limb* r, const NumberRows& x, std::size_t limbs, std::size_t count) const = 0;
  /// r = a b mod n, for a < n and any b < n.
  virtual void mul(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const = 0;
  /// r = 1 / a mod n, or 0 where a is 0.
  virtual void inverse(Limb* r, const NumberRows& a, std::size_t count) const = 0;

  void add(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const;
  void sub(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const;
  void negate(Limb* r, const NumberRows& a, std::size_t count) const;

 protected:
  explicit Order(std::span<const Limb> n) : n_(n) {}

 private:
  std::span<const Limb> n_;
};

/// A mask: whether 0 < x < n. On input: n.size() limbs.
Limb in_range(std::span<const Limb> x, std::span<const Limb> n);

}  // namespace manymod::ecc
