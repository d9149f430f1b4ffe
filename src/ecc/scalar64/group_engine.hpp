// SPDX-License-Identifier: Apache-2.0
// The engine of a group of this folder (weierstrass.hpp says what a group is): one item at a time, with
// inversions shared by blocks of items.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>

#include "ecc/point_engine.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/scalar64/multiples.hpp"
#include "ecc/scalar64/sums.hpp"
#include "ecc/scalar_length.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::scalar64 {

template <class Group>
class GroupEngine final : public PointEngine {
 public:
  using Point = typename Group::Point;
  using Element = typename Group::Element;

  explicit GroupEngine(const Curve& curve) : PointEngine(curve), group_(curve) {}

  [[nodiscard]] const char* variant() const override { return kName; }
  [[nodiscard]] std::size_t granularity() const override { return 1; }
  [[nodiscard]] double item_ns(PointOperation operation) const override {
    return estimated_ns(curve(), operation);
  }

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                     const StopToken& stop) const override {
    const BaseTable<Group>& table = base_table();
    compute(r, items, stop, [&](Point& sum, std::size_t item, Workspace<Group>& work) {
      group_.set_neutral(sum);
      if (timing == TimingClass::secret) {
        table.accumulate(group_, sum, scalar(k, item), work);
      } else {
        table.accumulate_var(group_, sum, scalar(k, item), work);
      }
    });
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override {
    compute(r, items, stop, [&](Point& product, std::size_t item, Workspace<Group>& work) {
      load(product, points, item);
      if (timing == TimingClass::secret) {
        multiply_windows(group_, product, scalar(k, item), order_bits(), product, work);
      } else {
        multiply_naf(group_, product, scalar(k, item), order_bits(), product, work);
      }
    });
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    const BaseTable<Group>& table = base_table();
    compute(r, items, stop, [&](Point& sum, std::size_t item, Workspace<Group>& work) {
      load(sum, points, item);
      multiply_naf(group_, sum, scalar(v, item), order_bits(), sum, work);
      table.accumulate_var(group_, sum, scalar(u, item), work);
    });
  }

  [[noreturn]] void ladder(Limb* /*r*/, const NumberRows& /*k*/, const NumberRows& /*u*/, unsigned /*bits*/,
                           ItemRange /*items*/, const StopToken& /*stop*/) const override {
    refuse("ladder");
  }

  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override {
    compute(r, items, {}, [&](Point& sum, std::size_t item, Workspace<Group>& work) {
      load(sum, p, item);
      load(work.entry, q, item);
      group_.add(sum, sum, work.entry);
    });
  }

  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    const auto& f = group_.field();
    std::array<Element, kBlock> squares, inverses, scratch;
    std::array<Limb, kBlock> nonzero;
    for (ItemRange block = first_block(items); block.size() > 0; block = next_block(block, items)) {
      for (std::size_t j = 0; j < block.size(); ++j) {
        Element x;
        f.from_limbs(x, {given[block.begin + j], curve().limbs()});
        group_.other_squared(squares[j], inverses[j], x);
      }
      field::batch_inverse(f, inverses.data(), nonzero.data(), inverses.data(), block.size(), scratch.data());
      for (std::size_t j = 0; j < block.size(); ++j) {
        const std::size_t item = block.begin + j;
        f.mul(squares[j], squares[j], inverses[j]);
        found[item] = store_root(r + item * curve().limbs(), squares[j], odd[item]);
      }
    }
  }

  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    for (std::size_t item = items.begin; item < items.end; ++item) {
      Element x, y;
      group_.field().from_limbs(x, {points.x[item], curve().limbs()});
      group_.field().from_limbs(y, {points.y[item], curve().limbs()});
      const bool infinite = points.infinity != nullptr && points.infinity[item] != 0;
      valid[item] = infinite || group_.contains(x, y) != 0 ? 1 : 0;
    }
  }

  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    BucketSums<Group> sums(group_, curve().limbs(), longest_scalar_var(curve(), k, items),
                           std::min(items.size(), kMaxTerms));
    compute(r, {0, 1}, {}, [&](Point& total, std::size_t, Workspace<Group>&) {
      group_.set_neutral(total);
      for (ItemRange part{items.begin, items.begin}; part.end < items.end;) {
        part = {part.end, part.end + std::min(items.end - part.end, kMaxTerms)};
        if (!sums.accumulate(total, k, curve().scalar_limbs(), points, part, stop)) return;
      }
    });
  }

 private:
  Group group_;
  mutable std::once_flag table_once_;
  mutable std::unique_ptr<const BaseTable<Group>> table_;

  [[nodiscard]] unsigned order_bits() const { return static_cast<unsigned>(curve().order_bits); }
  [[nodiscard]] std::span<const Limb> scalar(const NumberRows& rows, std::size_t item) const {
    return {rows[item], curve().scalar_limbs()};
  }
  void load(Point& r, const PointRows& points, std::size_t item) const {
    group_.load(r, points, item, curve().limbs());
  }
  const BaseTable<Group>& base_table() const {
    std::call_once(table_once_, [&] {
      Point generator;
      load(generator, {{curve().x.data(), 0}, {curve().y.data(), 0}, nullptr}, 0);
      table_ = std::make_unique<const BaseTable<Group>>(group_, generator, order_bits());
    });
    return *table_;
  }

  static ItemRange first_block(ItemRange items) { return next_block({items.begin, items.begin}, items); }
  static ItemRange next_block(ItemRange block, ItemRange items) {
    return {block.end, block.end + std::min(kBlock, items.end - block.end)};
  }

  /// step(point, item, work) computes the point of each item, and r receives them.
  template <class Step>
  void compute(const PointResults& r, ItemRange items, const StopToken& stop, const Step& step) const {
    const WipedStack<> stack;
    SecretArray<Workspace<Group>> storage(1);
    Workspace<Group>& work = storage[0];
    for (ItemRange block = first_block(items); block.size() > 0; block = next_block(block, items)) {
      for (std::size_t j = 0; j < block.size(); ++j) {
        if (stop.requested()) return;
        step(work.points[j], block.begin + j, work);
      }
      store(r, block, work);
    }
  }

  /// Stores work.points in affine form. Timing: constant-time, infinity too.
  void store(const PointResults& r, ItemRange block, Workspace<Group>& work) const {
    const auto& f = group_.field();
    const std::size_t limbs = curve().limbs();
    invert_denominators(group_, work, block.size());
    for (std::size_t j = 0; j < block.size(); ++j) {
      const std::size_t item = block.begin + j;
      Element& t = work.scratch[j];
      f.mul(t, work.points[j].x, work.inverses[j]);
      f.to_limbs({r.x + item * limbs, limbs}, t);
      if (r.y != nullptr) {
        f.mul(t, work.points[j].y, work.inverses[j]);
        f.to_limbs({r.y + item * limbs, limbs}, t);
      }
      if (r.infinity != nullptr) r.infinity[item] = static_cast<std::uint8_t>(~work.finite[j] & 1);
    }
  }

  /// r = a square root whose lowest bit is that of odd, or 0 if there is none; @return whether there is one.
  std::uint8_t store_root(Limb* r, const Element& square, std::uint8_t odd) const {
    const auto& f = group_.field();
    const std::span<Limb> limbs(r, curve().limbs());
    Element root;
    if (!group_.roots().root_var(f, root, square)) {
      std::ranges::fill(limbs, Limb{0});
      return 0;
    }
    f.to_limbs(limbs, root);
    if ((limbs[0] & 1) != (odd & 1U)) limbs::negate_mod(limbs, limbs, curve().p);
    return 1;
  }
};

}  // namespace manymod::ecc::scalar64
