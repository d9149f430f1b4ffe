// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/lane_block.hpp"

#include <algorithm>
#include <span>

#include "ecc/lanes/recoding.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::lanes {
namespace {

/// Limbs of a term of a scalar, without the limb of 0 above.
std::size_t term_limbs(const Curve& curve, const PointLaneCalls& calls) {
  return calls.terms == 2 ? kHalfLimbs : curve.scalar_limbs();
}

/// Words of a slot: x, y, P, Q, the scalars with a limb of 0 above each, and masks.
std::size_t slot_words(const Curve& curve, const PointLaneCalls& calls) {
  return 6 * curve.limbs() + calls.terms * (term_limbs(curve, calls) + 2) + curve.scalar_limbs() + 2 + 3;
}

}  // namespace

LaneBlock::LaneBlock(const Curve& curve, const PointLaneCalls& calls, const PointBlock& constants,
                     std::size_t vectors, std::size_t scratch_bytes)
    : curve_(curve),
      calls_(calls),
      words_(scratch_bytes + vectors * calls.lanes * slot_words(curve, calls) * sizeof(Limb)),
      free_(words_.data() + scratch_bytes / sizeof(Limb)) {
  operands_ = constants;
  operands_.vectors = vectors;
  operands_.scratch = words_.data();
  operands_.x = take(curve.limbs());
  operands_.y = take(curve.limbs());
  operands_.no_point = take(1);
  operands_.px = px_ = take(curve.limbs());
  operands_.py = py_ = take(curve.limbs());
  operands_.p_infinite = p_infinite_ = take(1);
  operands_.qx = qx_ = take(curve.limbs());
  operands_.qy = qy_ = take(curve.limbs());
  operands_.q_infinite = q_infinite_ = take(1);
  operands_.scalar = scalar_ = take(calls.terms * (term_limbs(curve, calls) + 1));
  operands_.negate = negate_ = take(calls.terms);
  operands_.base_scalar = base_scalar_ = take(curve.scalar_limbs() + 1);
  operands_.base_negate = base_negate_ = take(1);
}

Limb* LaneBlock::take(std::size_t words) {
  Limb* const r = free_;
  free_ += words * slots();
  return r;
}

void LaneBlock::set_items(const ItemList& items, std::size_t first, std::size_t count) {
  items_ = items;
  first_ = first;
  count_ = count;
  operands_.vectors = (count + calls_.lanes - 1) / calls_.lanes;
}

std::size_t LaneBlock::item(std::size_t slot) const { return items_[first_ + std::min(slot, count_ - 1)]; }

std::size_t LaneBlock::at(std::size_t slot, std::size_t limbs) const {
  return slot / calls_.lanes * limbs * calls_.lanes + slot % calls_.lanes;
}

void LaneBlock::load(Limb* to, const NumberRows& from, std::size_t limbs) const {
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    const Limb* const number = from[item(slot)];
    Limb* const row = to + at(slot, limbs);
    for (std::size_t i = 0; i < limbs; ++i) row[i * calls_.lanes] = number[i];
  }
}

void LaneBlock::load_masks(Limb* to, const std::uint8_t* flags) const {
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    to[slot] = flags == nullptr ? 0 : ~word::mask_from_bit(word::is_zero_bit(flags[item(slot)]));
  }
}

void LaneBlock::load_points(const PointRows& points) {
  load(px_, points.x, curve_.limbs());
  if (points.y.data != nullptr) load(py_, points.y, curve_.limbs());
  load_masks(p_infinite_, points.infinity);
}

void LaneBlock::load_second_points(const PointRows& points) {
  load(qx_, points.x, curve_.limbs());
  load(qy_, points.y, curve_.limbs());
  load_masks(q_infinite_, points.infinity);
}

void LaneBlock::load_base_scalars(const NumberRows& k) {
  const std::size_t limbs = curve_.scalar_limbs();
  std::vector<Limb> number(limbs);
  SignedScalar odd{number, 0};
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    make_odd(odd, {k[item(slot)], limbs}, curve_.n);
    Limb* const row = base_scalar_ + at(slot, limbs + 1);
    for (std::size_t i = 0; i < limbs; ++i) row[i * calls_.lanes] = number[i];
    row[limbs * calls_.lanes] = 0;
    base_negate_[slot] = odd.negative;
  }
  wipe(number);
}

void LaneBlock::load_scalars(const NumberRows& k) {
  const std::size_t limbs = term_limbs(curve_, calls_), terms = calls_.terms;
  std::vector<Limb> numbers(terms * limbs);
  SignedScalar odd[2] = {{std::span(numbers).first(limbs), 0}, {std::span(numbers).last(limbs), 0}};
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    const Limb* const scalar = k[item(slot)];
    if (terms == 2) {
      split_odd(odd[0], odd[1], std::span<const Limb, 4>(scalar, 4));
    } else if (calls_.curve == CurveId::custom) {
      round_up_to_odd(odd[0], {scalar, limbs});
    } else {
      make_odd(odd[0], {scalar, limbs}, curve_.n);
    }
    for (std::size_t term = 0; term < terms; ++term) {
      Limb* const row = scalar_ + at(slot, terms * (limbs + 1)) + term * (limbs + 1) * calls_.lanes;
      for (std::size_t i = 0; i < limbs; ++i) row[i * calls_.lanes] = odd[term].magnitude[i];
      row[limbs * calls_.lanes] = 0;
      negate_[at(slot, terms) + term * calls_.lanes] = odd[term].negative;
    }
  }
  wipe(numbers);
}

void LaneBlock::store(const PointResults& r) {
  const std::size_t limbs = curve_.limbs();
  for (std::size_t slot = 0; slot < count_; ++slot) {
    const std::size_t i = item(slot), from = at(slot, limbs);
    for (std::size_t j = 0; j < limbs; ++j) {
      r.x[i * limbs + j] = operands_.x[from + j * calls_.lanes];
      if (r.y != nullptr) r.y[i * limbs + j] = operands_.y[from + j * calls_.lanes];
    }
    r.infinity[i] = static_cast<std::uint8_t>(operands_.no_point[slot] & 1);
  }
}

void LaneBlock::append_infinite(std::vector<std::size_t>& items) const {
  for (std::size_t slot = 0; slot < count_; ++slot) {
    if (operands_.no_point[slot] != 0) items.push_back(item(slot));
  }
}

void LaneBlock::store_roots(Limb* r, std::uint8_t* found, const std::uint8_t* odd) {
  const std::size_t limbs = curve_.limbs();
  for (std::size_t slot = 0; slot < count_; ++slot) {
    const std::size_t i = item(slot), from = at(slot, limbs);
    const std::span<Limb> y(r + i * limbs, limbs);
    for (std::size_t j = 0; j < limbs; ++j) y[j] = operands_.y[from + j * calls_.lanes];
    found[i] = operands_.no_point[slot] == 0 ? 1 : 0;
    if (found[i] == 0) {
      std::fill(y.begin(), y.end(), Limb{0});
    } else if ((y[0] & 1) != (odd[i] & 1)) {
      manymod::limbs::negate_mod(y, y, curve_.p);
    }
  }
}

void LaneBlock::store_validity(std::uint8_t* valid, const std::uint8_t* infinity) const {
  for (std::size_t slot = 0; slot < count_; ++slot) {
    const std::size_t i = item(slot);
    valid[i] = operands_.no_point[slot] == 0 || (infinity != nullptr && infinity[i] != 0) ? 1 : 0;
  }
}

}  // namespace manymod::ecc::lanes
