// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/power_sums.hpp"

#include <algorithm>

namespace manymod::ecc::device {
namespace {

constexpr unsigned kLeastWidth = 2, kMostWidth = 16;
/// Cost of adding two points with any Z, relative to adding an affine one.
constexpr double kGeneralAddition = 1.5;
/// The shape that makes room for one point.
constexpr BucketShape kOnePoint{2, 1};

/// Affine points with room for as many as there are, at item i.
PointResults results_at(PowerSums& points, const Curve& curve, std::size_t i) {
  const bool is_edwards = curve.form == MM_ECC_EDWARDS;
  return {points.x.data() + i * curve.limbs(), points.y.data() + i * curve.limbs(),
          is_edwards ? nullptr : points.infinity.data() + i};
}
PointRows rows_of(const PointResults& points, std::size_t limbs) {
  return {{points.x, limbs}, {points.y, limbs}, points.infinity};
}

/// r += p, one point each.
void accumulate(const PointEngine& host, const PointResults& r, const PointResults& p) {
  const Curve& curve = host.curve();
  const std::size_t limbs = curve.limbs();
  PowerSums room(curve, kOnePoint);
  const PointResults sum = results_at(room, curve, 0);
  host.add(sum, rows_of(r, limbs), rows_of(p, limbs), {0, 1});
  std::copy_n(sum.x, limbs, r.x);
  std::copy_n(sum.y, limbs, r.y);
  if (sum.infinity != nullptr) *r.infinity = *sum.infinity;
}

}  // namespace

BucketShape BucketShape::of(std::size_t bits, std::size_t terms) {
  const auto shape = [bits](unsigned window) {
    return BucketShape{window, static_cast<unsigned>(bits / window + 1)};
  };
  // A term is added in each window; of the buckets, whose pieces are added up, half for each bit of digits.
  const auto cost = [&](unsigned window) {
    const BucketShape one = shape(window);
    const double per_bucket = kGeneralAddition * (2 + window / 2.0);
    return one.windows * static_cast<double>(terms) + per_bucket * static_cast<double>(one.buckets());
  };
  unsigned best = kLeastWidth;
  for (unsigned window = kLeastWidth + 1; window <= kMostWidth; ++window) {
    if (cost(window) < cost(best)) best = window;
  }
  return shape(best);
}

bool PowerSums::is_neutral(const Curve& curve, std::size_t i) const {
  if (curve.form != MM_ECC_EDWARDS) return infinity[i] != 0;
  const std::size_t limbs = curve.limbs();
  const auto is_zero = [](Limb limb) { return limb == 0; };
  return std::all_of(&x[i * limbs], &x[i * limbs] + limbs, is_zero) && y[i * limbs] == 1 &&
         std::all_of(&y[i * limbs] + 1, &y[i * limbs] + limbs, is_zero);
}

/// Point i - 1 += 2 point i.
void PowerSums::carry(const PointEngine& host, std::size_t i) {
  const Curve& curve = host.curve();
  const std::size_t limbs = curve.limbs();
  PowerSums room(curve, kOnePoint);
  const PointResults twice = results_at(room, curve, 0);
  const PointRows point = rows_of(results_at(*this, curve, i), limbs);
  host.add(twice, point, point, {0, 1});
  accumulate(host, results_at(*this, curve, i - 1), twice);
}

void PowerSums::add_up(const PointResults& r, const PointEngine& host) {
  const Curve& curve = host.curve();
  // Scalars of engines are below n, which is at least 2^(order_bits - 1).
  const std::size_t below = curve.order_bits - 1, words = curve.scalar_limbs();
  for (std::size_t i = x.size() / curve.limbs() - 1; i >= below; --i) {
    if (!is_neutral(curve, i)) carry(host, i);
  }
  std::vector<Limb> powers(below * words);
  for (std::size_t i = 0; i < below; ++i) {
    powers[i * words + i / kLimbBits] = Limb{1} << i % kLimbBits;
  }
  host.sum(r, {powers.data(), words}, rows_of(results_at(*this, curve, 0), curve.limbs()), {0, below}, {});
}

PowerSums& ChunkSums::of(ItemRange chunk) {
  Part& part = parts_[chunk.begin];
  part = {chunk.end, PowerSums(curve_, shape_)};
  return part.sums;
}

void ChunkSums::add_up(const PointResults& r, const PointEngine& host, ItemRange items) {
  std::fill_n(r.x, curve_.limbs(), Limb{0});
  std::fill_n(r.y, curve_.limbs(), Limb{0});
  if (curve_.form == MM_ECC_EDWARDS) r.y[0] = 1;
  if (r.infinity != nullptr) *r.infinity = 1;
  PowerSums room(curve_, kOnePoint);
  const PointResults sum = results_at(room, curve_, 0);
  for (std::size_t at = items.begin; at < items.end;) {
    Part& part = parts_.at(at);
    part.sums.add_up(sum, host);
    accumulate(host, r, sum);
    at = part.end;
  }
}

}  // namespace manymod::ecc::device
