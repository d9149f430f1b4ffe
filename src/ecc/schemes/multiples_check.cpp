// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/multiples_check.hpp"

#include <algorithm>

#include "arch/scalar/word.hpp"
#include "crypto/random.hpp"
#include "repr/constant_time.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// Multiples of as many items as the engine computes together that take about as long as the equation of few
/// items.
constexpr std::size_t kSumCost = 16;

/// Odd numbers of one limb.
Rows random_factors(const Order& order, std::size_t count) {
  std::vector<Limb> random(count);
  crypto::random_bytes(std::span(random));
  Rows z(count, order.limbs());
  for (std::size_t i = 0; i < count; ++i) z[i][0] = random[i] | 1;
  return z;
}

/// sum z_i k_i mod n: the sum first, then its remainder. Constant-time.
Rows combined(const Order& order, const Rows& z, const NumberRows& k, std::size_t count) {
  const std::size_t limbs = order.limbs();
  // A product is below 2^(64 (limbs + 1)), and there are fewer than 2^64.
  Rows sum(1, limbs + 2);
  for (std::size_t i = 0; i < count; ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < limbs; ++j) {
      sum[0][j] = word::multiply_add(sum[0][j], z[i][0], k[i][j], carry);
    }
    Limb over = 0;
    sum[0][limbs] = word::add_carry(sum[0][limbs], carry, over);
    sum[0][limbs + 1] += over;
  }
  Rows r(1, limbs);
  order.reduce(r.data(), sum.view(), sum.limbs(), 1);
  return r;
}

/// Whether the only points of both are equal. The verdict is public; where it is right, so is the point.
bool is_same(const Points& p, const Points& q) {
  return p.infinity[0] == q.infinity[0] && std::ranges::equal(p.x[0], q.x[0]) &&
         std::ranges::equal(p.y[0], q.y[0]);
}

}  // namespace

bool confirms_multiples(const PointEngine& engine, const Order& order, const NumberRows& k,
                        const PointRows& points, std::size_t count, const StopToken& stop) {
  const Curve& curve = engine.curve();
  if (count < kSumCost * engine.granularity() || curve.order_bits <= 2 * kLimbBits) return false;
  const Rows z = random_factors(order, count);
  Points sum(1, curve.limbs()), expected(1, curve.limbs());
  engine.sum(sum.results(curve), z.view(), points, {0, count}, stop);
  engine.multiply_base(expected.results(curve), combined(order, z, k, count).view(), {0, 1},
                       TimingClass::secret, stop);
  return !stop.was_requested() && is_same(sum, expected);
}

Points multiply_again(const PointEngine& engine, const NumberRows& k, std::size_t limbs, std::size_t count,
                      const StopToken& stop) {
  const std::size_t width = engine.curve().limbs();
  Rows shifted(count + 1, limbs);
  std::copy_n(k.data, limbs, shifted.data());
  std::copy_n(k.data, count * limbs, shifted.data() + limbs);
  Points all(count + 1, width), r(count, width);
  engine.multiply_base(all.results(engine.curve()), shifted.view(), {0, count + 1}, TimingClass::secret,
                       stop);
  std::copy_n(all.x.data() + width, count * width, r.x.data());
  std::copy_n(all.y.data() + width, count * width, r.y.data());
  std::copy_n(all.infinity.data() + 1, count, r.infinity.data());
  return r;
}

void with_parity(std::span<Limb> r, std::span<const Limb> y, Limb odd, std::span<const Limb> p) {
  const constant_time::Mask other = word::mask_from_bit((y[0] ^ odd) & 1);
  limbs::negate_mod(r, y, p);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = constant_time::select(other, r[i], y[i]);
}

}  // namespace manymod::ecc
