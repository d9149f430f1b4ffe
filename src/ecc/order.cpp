// SPDX-License-Identifier: Apache-2.0
#include "ecc/order.hpp"

#include <algorithm>
#include <array>

#include "core/cpu_features.hpp"
#include "field/batch_inverse.hpp"
#include "field/scalar.hpp"
#include "modmul/scalar64/kernels.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// kLimbs: at least those of n. Numbers of n's own length are extended by zeros.
template <std::size_t kLimbs>
class OrderField final : public Order {
 public:
  explicit OrderField(std::span<const Limb> n) : Order(n), field_(manymod::scalar64::fastest_kernels(), n) {}

  void reduce(Limb* r, const NumberRows& x, std::size_t limbs, std::size_t count) const override {
    Limb remainder[kLimbs];
    for (std::size_t i = 0; i < count; ++i) {
      field_.remainder(remainder, {x[i], limbs});
      std::copy_n(remainder, this->limbs(), r + i * this->limbs());
    }
    wipe(remainder);
  }

  void mul(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const override {
    Limb x[kLimbs] = {}, y[kLimbs] = {};
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(a[i], limbs(), x);
      std::copy_n(b[i], limbs(), y);
      field_.mul_plain(x, x, y);
      std::copy_n(x, limbs(), r + i * limbs());
    }
    wipe(x);
    wipe(y);
  }

  void inverse(Limb* r, const NumberRows& a, std::size_t count) const override {
    for (std::size_t begin = 0; begin < count; begin += kTogether) {
      const std::size_t size = std::min(kTogether, count - begin);
      inverse_together(r + begin * limbs(), {a[begin], a.stride}, size);
    }
  }

 private:
  using Field = field::ScalarField<kLimbs>;
  using Element = typename Field::Element;

  /// Numbers that share one inversion.
  static constexpr std::size_t kTogether = 256;

  Field field_;

  [[nodiscard]] std::span<Limb> row(Limb* r, std::size_t i) const { return {r + i * limbs(), limbs()}; }

  void inverse_together(Limb* r, const NumberRows& a, std::size_t count) const {
    SecretArray<Element> elements(count), products(count);
    std::array<typename Field::Mask, kTogether> exists;
    for (std::size_t i = 0; i < count; ++i) field_.from_limbs(elements[i], {a[i], limbs()});
    field::batch_inverse(field_, elements.data(), exists.data(), elements.data(), count, products.data());
    for (std::size_t i = 0; i < count; ++i) field_.to_limbs(row(r, i), elements[i]);
  }
};

template <class Combine>
void combine(const Order& order, Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count,
             const Combine& combine_row) {
  const std::size_t limbs = order.limbs();
  for (std::size_t i = 0; i < count; ++i) {
    combine_row(std::span(r + i * limbs, limbs), std::span(a[i], limbs), std::span(b[i], limbs), order.n());
  }
}

}  // namespace

std::unique_ptr<const Order> Order::of(const Curve& curve) {
  const std::size_t limbs = curve.scalar_limbs();
  if (limbs <= 4) return std::make_unique<const OrderField<4>>(curve.n);
  if (limbs <= 6) return std::make_unique<const OrderField<6>>(curve.n);
  if (limbs <= 9) return std::make_unique<const OrderField<9>>(curve.n);
  return std::make_unique<const OrderField<11>>(curve.n);
}

void Order::add(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const {
  combine(*this, r, a, b, count, [](auto sum, auto x, auto y, auto n) { limbs::add_mod(sum, x, y, n); });
}

void Order::sub(Limb* r, const NumberRows& a, const NumberRows& b, std::size_t count) const {
  combine(*this, r, a, b, count, [](auto rest, auto x, auto y, auto n) { limbs::sub_mod(rest, x, y, n); });
}

void Order::negate(Limb* r, const NumberRows& a, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    limbs::negate_mod({r + i * limbs(), limbs()}, {a[i], limbs()}, n());
  }
}

Limb in_range(std::span<const Limb> x, std::span<const Limb> n) {
  return word::mask_from_bit(limbs::less(x, n) & (limbs::is_zero(x) ^ 1));
}

}  // namespace manymod::ecc
