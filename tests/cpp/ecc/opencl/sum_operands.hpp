// SPDX-License-Identifier: Apache-2.0
// Points and scalars for sums on devices, with the sums of an engine.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "ecc/device/known_answers.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {

/// Multiples of the generator, with infinity among them, and scalars below n. On Edwards curves every fifth
/// point has a component of order 2.
class SumOperands {
 public:
  SumOperands(const ecc::Curve& curve, std::size_t count)
      : curve_(curve),
        host_(ecc::scalar64::variant().make(curve, {})),
        count_(count),
        p_(curve, count),
        q_(p_) {
    fill(p_, 7);
    fill(q_, 5);
    // Every sixth pair is of equal points, every sixth of opposite ones.
    for (std::size_t i = 0; i < count; i += 3) {
      copy(q_, i, p_, i);
      if (i % 2 == 0) negate(q_, i);
    }
    std::mt19937_64 random(1);
    k_.resize(count * curve.scalar_limbs());
    for (Limb& limb : k_) limb = random();
    for (std::size_t i = 0; i < count; ++i) {
      limbs::truncate_bits(scalar(i), curve.order_bits - 1);
      // Of equal points with equal scalars, and of opposite ones.
      if (i % 4 == 1) copy_scalar(i, i - 1);
      if (i % 8 == 5) copy(p_, i, p_, i - 1);
      if (i % 8 == 5) negate(p_, i);
    }
    // P + (0, -1) = (-x, -y).
    for (std::size_t i = 2; i < count && is_edwards(); i += 5) {
      negate_coordinate(p_.x, i);
      negate_coordinate(p_.y, i);
    }
    // 0 and n - 1.
    std::ranges::fill(scalar(2), Limb{0});
    std::ranges::fill(scalar(3), Limb{0});
    scalar(3)[0] = 1;
    limbs::negate_mod(scalar(3), scalar(3), curve.n);
  }

  [[nodiscard]] const ecc::PointEngine& host() const { return *host_; }
  [[nodiscard]] ecc::PointRows p() const { return rows(p_); }
  [[nodiscard]] ecc::PointRows q() const { return rows(q_); }
  [[nodiscard]] ecc::NumberRows k() const { return {k_.data(), curve_.scalar_limbs()}; }

  [[nodiscard]] ecc::device::AnsweredPoints sums(const ecc::PointEngine& engine, ecc::ItemRange items) const {
    ecc::device::AnsweredPoints r(curve_, count_);
    engine.add(r.results(), p(), q(), items);
    return r;
  }
  [[nodiscard]] ecc::device::AnsweredPoints total(const ecc::PointEngine& engine,
                                                  ecc::ItemRange items) const {
    ecc::device::AnsweredPoints r(curve_, 1);
    engine.sum(r.results(), k(), p(), items, {});
    return r;
  }

 private:
  const ecc::Curve& curve_;
  std::unique_ptr<const ecc::PointEngine> host_;
  std::size_t count_;
  ecc::device::AnsweredPoints p_, q_;
  std::vector<Limb> k_;

  [[nodiscard]] std::span<Limb> scalar(std::size_t i) {
    return std::span(k_).subspan(i * curve_.scalar_limbs(), curve_.scalar_limbs());
  }
  void copy_scalar(std::size_t to, std::size_t from) { std::ranges::copy(scalar(from), scalar(to).begin()); }
  [[nodiscard]] bool is_edwards() const { return curve_.form == MM_ECC_EDWARDS; }
  void negate_coordinate(std::vector<Limb>& all, std::size_t i) const {
    const std::span coordinate = std::span(all).subspan(i * curve_.limbs(), curve_.limbs());
    limbs::negate_mod(coordinate, coordinate, curve_.p);
  }
  void negate(ecc::device::AnsweredPoints& points, std::size_t i) const {
    negate_coordinate(is_edwards() ? points.x : points.y, i);
  }
  void copy(ecc::device::AnsweredPoints& to, std::size_t i, const ecc::device::AnsweredPoints& from,
            std::size_t j) const {
    std::copy_n(from.x.data() + j * curve_.limbs(), curve_.limbs(), to.x.data() + i * curve_.limbs());
    std::copy_n(from.y.data() + j * curve_.limbs(), curve_.limbs(), to.y.data() + i * curve_.limbs());
    to.flags[i] = from.flags[j];
  }
  /// Points i step modulo 31, of which 0 is infinity.
  void fill(ecc::device::AnsweredPoints& points, std::size_t step) const {
    std::vector<Limb> factors(count_ * curve_.scalar_limbs());
    for (std::size_t i = 0; i < count_; ++i) factors[i * curve_.scalar_limbs()] = i * step % 31;
    host_->multiply_base(points.results(), {factors.data(), curve_.scalar_limbs()}, {0, count_},
                         TimingClass::public_, {});
  }
  [[nodiscard]] ecc::PointRows rows(const ecc::device::AnsweredPoints& points) const {
    return {{points.x.data(), curve_.limbs()},
            {points.y.data(), curve_.limbs()},
            is_edwards() ? nullptr : points.flags.data()};
  }
};

}  // namespace manymod::test
