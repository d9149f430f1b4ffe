// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/known_answers.hpp"

#include <algorithm>
#include <span>

#include "repr/limbs.hpp"

namespace manymod::ecc::device {
namespace {

/// Points are j G for j from 1 to this.
constexpr std::size_t kKnownPoints = 40;

/// Numbers below n.
class EdgeScalars {
 public:
  /// n has that many bits.
  EdgeScalars(const std::vector<Limb>& n, std::size_t bits) : n_(n), bits_(bits) {}

  /// 0 1 2 .. and n - 1, n - 2, .., powers of two and their neighbours, then random numbers.
  [[nodiscard]] std::vector<Limb> scalar(std::size_t i) {
    std::vector<Limb> r = small(i / 4);
    switch (i % 4) {
      case 0:
        break;
      case 1:
        limbs::negate_mod(r, r, n_);
        break;
      case 2:
        r.assign(n_.size(), 0);
        set_bit(r, i * bits_ / kKnownPoints % (bits_ - 1));
        break;
      default:
        for (Limb& limb : r) limb = random();
        limbs::truncate_bits(r, bits_ - 1);
    }
    return r;
  }
  [[nodiscard]] std::vector<Limb> small(Limb value) const {
    std::vector<Limb> r(n_.size());
    r[0] = value;
    return r;
  }

 private:
  const std::vector<Limb>& n_;
  std::size_t bits_;
  Limb state_ = 1;

  static void set_bit(std::vector<Limb>& r, std::size_t bit) {
    r[bit / kLimbBits] |= Limb{1} << bit % kLimbBits;
  }
  /// D. Knuth's MMIX generator, mixed: Lehmer's low bits alternate.
  Limb random() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ ^ state_ >> 29;
  }
};

}  // namespace

KnownOperands::KnownOperands(const PointEngine& reference)
    : size_(reference.curve().scalar_limbs()),
      limbs_(reference.curve().limbs()),
      points_(reference.curve(), kKnownPoints),
      second_(points_),
      terms_(points_) {
  const Curve& curve = reference.curve();
  EdgeScalars scalars(curve.n, curve.order_bits);
  std::vector<Limb> factors;
  for (std::size_t i = 0; i < kKnownPoints; ++i) {
    const std::vector<Limb> factor = scalars.small(i + 1);
    factors.insert(factors.end(), factor.begin(), factor.end());
    std::vector<Limb> u = scalars.scalar(i), v = scalars.scalar(i + 3);
    // u G + (i + 1) G: infinity, and a sum of equal points.
    if (i % 8 == 5) limbs::negate_mod(u, factor, curve.n);
    if (i % 8 == 6) u = factor;
    if (i % 8 == 5 || i % 8 == 6) v = scalars.small(1);
    if (i == 0) v = scalars.small(0);
    u_.insert(u_.end(), u.begin(), u.end());
    v_.insert(v_.end(), v.begin(), v.end());
  }
  reference.multiply_base(points_.results(), {factors.data(), size_}, items(), TimingClass::public_, {});
  add_second(curve);
  candidates_ = points_.y;
  for (std::size_t i = 0; i < kKnownPoints; i += 2) candidates_[i * limbs_] ^= 1;
}

/// Numbers below p have all lengths.
KnownLadders::KnownLadders(const Curve& curve) : limbs_(curve.limbs()) {
  EdgeScalars numbers(curve.p, curve.field_bits);
  for (std::size_t i = 0; i < kKnownPoints; ++i) {
    const std::vector<Limb> k = numbers.scalar(i), u = numbers.scalar(kKnownPoints - 1 - i);
    k_.insert(k_.end(), k.begin(), k.end());
    u_.insert(u_.end(), u.begin(), u.end());
  }
}

void KnownOperands::add_second(const Curve& curve) {
  second_ = points_;
  for (std::size_t i = 0; i < kKnownPoints; ++i) {
    const std::span x = std::span(second_.x).subspan(i * limbs_, limbs_),
                    y = std::span(second_.y).subspan(i * limbs_, limbs_),
                    negated = curve.form == MM_ECC_EDWARDS ? x : y;
    if (i % 3 == 1) limbs::negate_mod(negated, negated, curve.p);
    if (i % 3 != 2) continue;
    const std::size_t other = (i + 7) % kKnownPoints * limbs_;
    std::copy_n(points_.x.data() + other, limbs_, x.data());
    std::copy_n(points_.y.data() + other, limbs_, y.data());
  }
  terms_ = AnsweredPoints(curve, 0);
  for (const AnsweredPoints* const points : {&points_, &second_, &points_, &second_}) {
    terms_.x.insert(terms_.x.end(), points->x.begin(), points->x.end());
    terms_.y.insert(terms_.y.end(), points->y.begin(), points->y.end());
    factors_.insert(factors_.end(), u_.begin(), u_.end());
  }
}

}  // namespace manymod::ecc::device
