// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/multiples.hpp"

#include <algorithm>
#include <utility>

#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// r = P where bit `position` of the item's limb is 1, else the neutral element. Constant-time.
void choose_points(Points& r, const Curve& curve, const Rows& bits, std::size_t position,
                   const PointRows& points, ItemRange items) {
  for (std::size_t i = items.begin; i < items.end; ++i) {
    const Limb mask = word::mask_from_bit(bits[i][0] >> position & 1);
    for (std::size_t limb = 0; limb < curve.limbs(); ++limb) {
      r.x[i][limb] = points.x[i][limb] & mask;
      r.y[i][limb] = points.y[i][limb] & mask;
    }
    const Limb neutral = ~mask & 1;
    if (curve.form == MM_ECC_EDWARDS) {
      r.y[i][0] |= neutral;
    } else {
      r.infinity[i] = static_cast<std::uint8_t>(neutral);
    }
  }
}

}  // namespace

void accumulate(const PointEngine& engine, Points& r, const PointRows& p, ItemRange items) {
  Points sum(r.infinity.size(), engine.curve().limbs());
  engine.add(sum.results(engine.curve()), r.rows(engine.curve()), p, items);
  std::swap(r, sum);
}

Multiples::Multiples(const PointEngine& engine)
    : engine_(engine),
      curve_(engine.curve()),
      order_(Order::of(curve_)),
      below_(8 * curve_.scalar_bytes() - curve_.order_bits + 1) {}

void Multiples::reduce(Rows& k, ItemRange items) const {
  order_->reduce(k.data(), k.view(), k.limbs(), items.size());
}

Rows Multiples::split(Rows& k, ItemRange items) const {
  Rows low(items.size(), 1);
  for (std::size_t i = items.begin; i < items.end; ++i) {
    low[i][0] = k[i][0] & ((Limb{1} << below_) - 1);
    limbs::shift_right_bits(k[i], k[i], below_);
  }
  return low;
}

void Multiples::of_base(Points& r, Rows& k, ItemRange items, const StopToken& stop) const {
  reduce(k, items);
  engine_.multiply_base(r.results(curve_), k.view(), items, TimingClass::secret, stop);
}

void Multiples::of_points(Points& r, Rows& k, const PointRows& points, ItemRange items,
                          const StopToken& stop) const {
  const bool reduces = curve_.has_cofactor_one();
  if (reduces) reduce(k, items);
  const Rows low = reduces ? Rows(0, 1) : split(k, items);
  engine_.multiply(r.results(curve_), k.view(), points, items, TimingClass::secret, stop);
  if (reduces || stop.was_requested()) return;
  Points chosen(items.size(), curve_.limbs());
  for (std::size_t position = below_; position-- > 0;) {
    accumulate(engine_, r, r.rows(curve_), items);
    choose_points(chosen, curve_, low, position, points, items);
    accumulate(engine_, r, chosen.rows(curve_), items);
  }
}

void Multiples::sum(Points& r, Rows& k, const PointRows& points, ItemRange items,
                    const StopToken& stop) const {
  const auto add_up = [&](Points& sum, const Rows& scalars) {
    engine_.sum(sum.results(curve_), scalars.view(), points, items, stop);
  };
  if (curve_.has_cofactor_one()) reduce(k, items);
  const Rows& scalars = k;
  bool all_below = true;
  for (std::size_t i = items.begin; i < items.end; ++i)
    all_below = all_below && limbs::less_var(scalars[i], curve_.n);
  if (all_below) return add_up(r, k);
  const Rows low = split(k, items);
  add_up(r, k);
  // Pieces of few enough bits to be below n, too.
  for (std::size_t position = below_; position > 0 && !stop.was_requested();) {
    const std::size_t bits = std::min(position, curve_.order_bits - 1);
    position -= bits;
    for (std::size_t bit = 0; bit < bits; ++bit) accumulate(engine_, r, r.rows(curve_), {0, 1});
    for (std::size_t i = items.begin; i < items.end; ++i) {
      std::ranges::fill(k[i], Limb{0});
      k[i][0] = low[i][0] >> position & ((Limb{1} << bits) - 1);
    }
    Points part(1, curve_.limbs());
    add_up(part, k);
    accumulate(engine_, r, part.rows(curve_), {0, 1});
  }
}

}  // namespace manymod::ecc
