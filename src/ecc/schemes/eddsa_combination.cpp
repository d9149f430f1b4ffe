// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/eddsa_combination.hpp"

#include "crypto/random.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::eddsa {

Combination::Combination(const PointEngine& engine, const Order& order, std::size_t items)
    : engine_(engine),
      order_(order),
      width_(engine.curve().limbs()),
      limbs_(order.limbs()),
      random_(items * kRandomBytes),
      responses_(limbs_) {
  crypto::random_bytes(std::span(random_));
}

void Combination::Terms::append(std::span<const Limb> k, const Limb* x_coordinate, const Limb* y_coordinate,
                                std::size_t width) {
  scalar.insert(scalar.end(), k.begin(), k.end());
  x.insert(x.end(), x_coordinate, x_coordinate + width);
  y.insert(y.end(), y_coordinate, y_coordinate + width);
}

void Combination::begin_key(const Limb* x, const Limb* y) {
  keys_.append(std::vector<Limb>(limbs_), x, y, width_);
}

void Combination::add(const Limb* r_x, const Limb* r_y, const Limb* s, const Limb* k) {
  std::array<Limb, kMaxOrderLimbs> z;
  const std::span<Limb> factor = std::span(z).first(limbs_);
  limbs_from_little_endian(factor, ByteSpan(random_).subspan(items_ * kRandomBytes, kRandomBytes));
  ++items_;
  commitments_.append(factor, r_x, r_y, width_);
  Limb* const key = keys_.scalar.data() + keys_.scalar.size() - limbs_;
  multiply_add(order_, key, factor.data(), k, key);
  multiply_add(order_, responses_.data(), factor.data(), s, responses_.data());
}

void Combination::sum(Limb* x, Limb* y, const StopToken& stop) {
  const Curve& curve = engine_.curve();
  limbs::negate_mod(responses_, responses_, order_.n());
  keys_.append(responses_, curve.x.data(), curve.y.data(), width_);
  Terms& all = commitments_;
  all.scalar.insert(all.scalar.end(), keys_.scalar.begin(), keys_.scalar.end());
  all.x.insert(all.x.end(), keys_.x.begin(), keys_.x.end());
  all.y.insert(all.y.end(), keys_.y.begin(), keys_.y.end());
  engine_.sum({x, y, nullptr}, {all.scalar.data(), limbs_}, {{all.x.data(), width_}, {all.y.data(), width_}},
              {0, all.scalar.size() / limbs_}, stop);
}

}  // namespace manymod::ecc::eddsa
