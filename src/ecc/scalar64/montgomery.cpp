// SPDX-License-Identifier: Apache-2.0
// The engine of Montgomery curves: ladders alone, one item at a time.
#include <algorithm>
#include <array>

#include "ecc/formulas/ladder.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/scalar64/limb_counts.hpp"
#include "field/batch_inverse.hpp"
#include "field/scalar.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::scalar64 {
namespace {

constexpr std::size_t kTogether = 32;

template <std::size_t kLimbs>
class LadderEngine final : public PointEngine {
 public:
  using Field = field::ScalarField<kLimbs>;
  using Element = typename Field::Element;

  explicit LadderEngine(const Curve& curve)
      : PointEngine(curve), field_(manymod::scalar64::fastest_kernels(), curve.p) {
    // a24 = (A - 2) / 4
    Element one;
    field_.one(one);
    field_.from_limbs(a24_, curve.a);
    for (int i = 0; i < 2; ++i) field_.sub(a24_, a24_, one);
    for (int i = 0; i < 2; ++i) field_.half(a24_, a24_);
    field_.template normalize_weak<4>(a24_, a24_);
  }

  [[nodiscard]] const char* variant() const override { return kName; }
  [[nodiscard]] std::size_t granularity() const override { return 1; }
  [[nodiscard]] double item_ns(PointOperation) const override {
    return estimated_ns(curve(), PointOperation::ladder);
  }

  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override {
    const WipedStack<> stack;
    SecretArray<Workspace> storage(1);
    Workspace& work = storage[0];
    for (std::size_t begin = items.begin; begin < items.end; begin += kTogether) {
      const std::size_t count = std::min(kTogether, items.end - begin);
      for (std::size_t j = 0; j < count; ++j) {
        if (stop.requested()) return;
        multiply(work, {k[begin + j], curve().limbs()}, {u[begin + j], curve().limbs()}, bits);
        work.x[j] = work.pair.low.x;
        work.z[j] = work.pair.low.z;
      }
      field::batch_inverse(field_, work.z.data(), work.finite.data(), work.z.data(), count,
                           work.scratch.data());
      for (std::size_t j = 0; j < count; ++j) {
        field_.mul(work.x[j], work.x[j], work.z[j]);
        field_.to_limbs({r + (begin + j) * curve().limbs(), curve().limbs()}, work.x[j]);
      }
    }
  }

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass,
                     const StopToken& stop) const override {
    ladder(r.x, k, {curve().x.data(), 0}, static_cast<unsigned>(curve().field_bits), items, stop);
  }
  [[noreturn]] void multiply(const PointResults&, const NumberRows&, const PointRows&, ItemRange, TimingClass,
                             const StopToken&) const override {
    refuse("multiply");
  }
  [[noreturn]] void multiply_two(const PointResults&, const NumberRows&, const NumberRows&, const PointRows&,
                                 ItemRange, const StopToken&) const override {
    refuse("multiply_two");
  }
  [[noreturn]] void add(const PointResults&, const PointRows&, const PointRows&, ItemRange) const override {
    refuse("add");
  }
  [[noreturn]] void lift(Limb*, std::uint8_t*, const NumberRows&, const std::uint8_t*,
                         ItemRange) const override {
    refuse("lift");
  }
  [[noreturn]] void check(std::uint8_t*, const PointRows&, ItemRange) const override { refuse("check"); }
  [[noreturn]] void sum(const PointResults&, const NumberRows&, const PointRows&, ItemRange,
                        const StopToken&) const override {
    refuse("sum");
  }

 private:
  /// It holds secrets.
  struct Workspace {
    ladder::Pair<Field> pair;
    Element u;
    std::array<Element, kTogether> x, z, scratch;
    std::array<Limb, kTogether> finite;
  };

  Field field_;
  Element a24_;

  /// work.pair.low = k (u, .), for the lowest `bits` bits of k.
  void multiply(Workspace& work, std::span<const Limb> k, std::span<const Limb> u, unsigned bits) const {
    field_.from_limbs(work.u, u);
    ladder::start(field_, work.pair, work.u);
    Limb swapped = 0;
    for (unsigned i = bits; i-- > 0;) {
      const Limb bit = limbs::extract_bits(k, i, 1);
      ladder::step(field_, work.pair, word::mask_from_bit(bit ^ swapped), work.u, a24_);
      swapped = bit;
    }
    ladder::swap_where(field_, work.pair, word::mask_from_bit(swapped));
  }
};

}  // namespace

std::unique_ptr<const PointEngine> make_montgomery(const Curve& curve) {
  return with_limb_count(curve.limbs(),
                         [&]<std::size_t kLimbs> { return make_engine<LadderEngine<kLimbs>>(curve); });
}

}  // namespace manymod::ecc::scalar64
