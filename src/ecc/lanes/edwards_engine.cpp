// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/edwards_engine.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "ecc/lanes/edwards_workspace.hpp"
#include "ecc/order.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/scalar_length.hpp"
#include "ecc/sum_comparison.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::lanes {
namespace {

/// Nanoseconds of one item on one core: multiplier instructions of eight lanes at about half their rate.
double estimated_ns(const EdwardsLaneCalls& calls, double products, double squares) {
  constexpr double kNsPerInstruction = 0.6;
  return kNsPerInstruction * (products * calls.mul_instructions + squares * calls.sqr_instructions) /
         static_cast<double>(calls.lanes);
}

const EdwardsLaneCalls& calls_of(const Curve& curve, const EdwardsLaneBackend& backend) {
  return curve.field_bits == 255 ? *backend.curves25519 : *backend.curves448;
}

class EdwardsEngine final : public PointEngine, SumComparison {
 public:
  EdwardsEngine(const Curve& curve, const EdwardsLaneBackend& backend)
      : PointEngine(curve), backend_(backend), calls_(calls_of(curve, backend)), order_(Order::of(curve)) {}

  [[nodiscard]] const SumComparison* comparison() const override { return this; }

  [[nodiscard]] const char* variant() const override { return backend_.variant; }
  [[nodiscard]] std::size_t granularity() const override { return calls_.lanes; }

  [[nodiscard]] double item_ns(PointOperation operation) const override {
    constexpr double kInversion = 20;
    const double base = calls_.base_products + kInversion;
    switch (operation) {
      case PointOperation::multiply_base:
        return estimated_ns(calls_, base, 0);
      case PointOperation::multiply:
        return estimated_ns(calls_, calls_.multiply_products + kInversion, calls_.multiply_squares);
      case PointOperation::multiply_two:
        return estimated_ns(calls_, base + calls_.multiply_products, calls_.multiply_squares);
      case PointOperation::lift:
        return estimated_ns(calls_, 25, static_cast<double>(curve().field_bits));
      case PointOperation::add:
        return estimated_ns(calls_, 30, 0);
      case PointOperation::check:
        return estimated_ns(calls_, 4, 2);
      case PointOperation::sum:
        return estimated_ns(calls_, static_cast<double>(curve().order_bits), 0);
      case PointOperation::ladder:
        break;
    }
    return 0;
  }

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass /*timing*/,
                     const StopToken& stop) const override {
    const limbs::Buffer& table = base_table();
    for_blocks(calls_, items, stop, [&](Workspace& work, ItemRange) {
      work.block().base_scalar = pack_base_scalars(work, k);
      work.block().base_table = table.data();
      compute(work, r, calls_.multiply_base);
    });
  }

  /// r = u of k times the base point of the Montgomery curve, for k < 2^field_bits.
  void multiply_montgomery_base(Limb* r, const NumberRows& k, ItemRange items, const StopToken& stop) const {
    const limbs::Buffer& table = base_table();
    for_blocks(calls_, items, stop, [&](Workspace& work, ItemRange) {
      work.block().base_scalar = work.pack(kBaseScalar, k, [&](std::span<Limb> number) {
        reduce(number);
        make_odd(number);
      });
      work.block().base_table = table.data();
      compute(work, {r, nullptr, nullptr}, calls_.multiply_montgomery_base);
    });
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass /*timing*/, const StopToken& stop) const override {
    for_blocks(calls_, items, stop, [&](Workspace& work, ItemRange) {
      work.block().scalar = pack_scalars(work, k);
      pack_points(work, points);
      compute(work, r, calls_.multiply);
    });
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    const limbs::Buffer& table = base_table();
    for_blocks(calls_, items, stop, [&](Workspace& work, ItemRange) {
      work.block().base_scalar = pack_base_scalars(work, u);
      work.block().base_table = table.data();
      work.block().scalar = pack_scalars(work, v);
      pack_points(work, points);
      compute(work, r, calls_.multiply_two);
    });
  }

  [[nodiscard]] double item_ns() const override {
    return estimated_ns(calls_, calls_.compare_products, calls_.compare_squares);
  }
  /// tau D = 0 in the place of D = 0: see half_scalars.hpp.
  void compare(std::uint8_t* equal, const NumberRows& u, const NumberRows& v, const PointRows& p,
               const PointRows& r, unsigned doublings, ItemRange items,
               const StopToken& stop) const override {
    if (items.size() == 0) return;
    std::call_once(wide_once_, [&] { fill_wide_table(); });
    Workspace work(calls_, items.size(), kVectors, calls_.compare_bytes);
    for_blocks(work, items, stop, [&](Workspace&, ItemRange range) {
      EdwardsBlock& block = work.block();
      split(work, v);
      block.base_scalar = work.pack_each(kBaseScalar, [&](std::span<Limb> number, std::size_t slot) {
        work.read(number, block.tau, slot);
        limbs::shift_right_bits(number, number, 1);
        order_->mul(number.data(), {number.data(), 0}, {u[work.item(slot)], 0}, 1);
        limbs::shift_left(number, number, 1);
      });
      block.base_table = wide_table_.data();
      pack_points(work, p);
      block.qx = work.pack(kOtherX, r.x);
      block.qy = work.pack(kOtherY, r.y);
      block.doublings = doublings;
      block.mask = work.result(kMask);
      calls_.compare(block);
      for (std::size_t i = 0; i < range.size(); ++i) equal[range.begin + i] = block.mask[i] != 0 ? 1 : 0;
    });
  }

  [[noreturn]] void ladder(Limb* /*r*/, const NumberRows& /*k*/, const NumberRows& /*u*/, unsigned /*bits*/,
                           ItemRange /*items*/, const StopToken& /*stop*/) const override {
    scalar64::refuse("ladder");
  }

  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override {
    for_blocks(calls_, items, {}, [&](Workspace& work, ItemRange) {
      pack_points(work, p);
      work.block().qx = work.pack(kOtherX, q.x);
      work.block().qy = work.pack(kOtherY, q.y);
      compute(work, r, calls_.add);
    });
  }

  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    for_blocks(calls_, items, {}, [&](Workspace& work, ItemRange block) {
      work.block().py = work.pack(kPointY, given);
      work.block().x = work.result(kResultX);
      work.block().mask = work.result(kMask);
      calls_.lift(work.block());
      work.unpack(r, work.block().x);
      for (std::size_t i = 0; i < block.size(); ++i) {
        const std::size_t item = block.begin + i;
        const std::span<Limb> x(r + item * calls_.limbs, calls_.limbs);
        found[item] = work.block().mask[i] != 0 ? 1 : 0;
        if (found[item] == 0) std::ranges::fill(x, Limb{0});
        if ((x[0] & 1) != (odd[item] & 1U)) limbs::negate_mod(x, x, curve().p);
      }
    });
  }

  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    for_blocks(calls_, items, {}, [&](Workspace& work, ItemRange block) {
      pack_points(work, points);
      work.block().mask = work.result(kMask);
      calls_.check(work.block());
      for (std::size_t i = 0; i < block.size(); ++i)
        valid[block.begin + i] = work.block().mask[i] != 0 ? 1 : 0;
    });
  }

  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    std::fill_n(r.x, calls_.limbs, Limb{0});
    std::fill_n(r.y, calls_.limbs, Limb{0});
    r.y[0] = 1;
    if (items.size() == 0) return;
    Workspace work(calls_, items.size(), kSumVectors, calls_.sum_bytes);
    for_blocks(work, items, stop, [&](Workspace&, ItemRange block) {
      EdwardsBlock& operands = work.block();
      operands.bits = longest_scalar_var(curve(), k, block);
      operands.scalar = pack_scalars(work, k);
      work.clear_unused(kScalar);
      pack_points(work, points);
      operands.x = work.result(kResultX);
      operands.y = work.result(kResultY);
      calls_.sum(operands);
      add_lanes(r, work);
    });
  }

 private:
  /// Arrays of a workspace.
  enum Array : std::size_t {
    kResultX,
    kResultY,
    kMask,
    kPointX,
    kPointY,
    kOtherX,
    kOtherY,
    kScalar,
    kBaseScalar,
    kRho,
    kTau,
    kNegative,
    kArrays
  };
  static_assert(std::size_t{kArrays} == Workspace::kArrays);

  const EdwardsLaneBackend& backend_;
  const EdwardsLaneCalls& calls_;
  const std::unique_ptr<const Order> order_;
  /// n times the cofactor, the order of the group.
  const std::vector<Limb> group_order_{shifted_order(calls_.cofactor_bits)};
  const std::array<std::vector<Limb>, 3> multiples_{shifted_order(2), shifted_order(1), curve().n};
  mutable std::once_flag table_once_, wide_once_;
  mutable limbs::Buffer table_, wide_table_;

  static void pack_points(Workspace& work, const PointRows& points) {
    work.block().px = work.pack(kPointX, points.x);
    work.block().py = work.pack(kPointY, points.y);
  }
  /// The scalars of the kernel `compare` from those of its points.
  void split(Workspace& work, const NumberRows& v) const {
    EdwardsBlock& block = work.block();
    block.scalar = work.pack(kScalar, v);
    block.group_order = group_order_.data();
    block.rho = work.result(kRho);
    block.tau = work.result(kTau);
    block.mask = work.result(kNegative);
    calls_.split(block);
    block.scalar = block.rho;
    block.other_scalar = block.tau;
    block.negative = block.mask;
  }
  static const Limb* pack_scalars(Workspace& work, const NumberRows& k) {
    return work.pack(kScalar, k, [](std::span<Limb> number) { limbs::shift_left(number, number, 1); });
  }
  const Limb* pack_base_scalars(Workspace& work, const NumberRows& k) const {
    return work.pack(kBaseScalar, k, [&](std::span<Limb> number) { make_odd(number); });
  }
  /// k, or k + n, whichever is odd.
  void make_odd(std::span<Limb> k) const { limbs::add_if(k, k, curve().n, ~k[0] & 1); }
  /// k mod n for k < 2^field_bits < 8 n.
  void reduce(std::span<Limb> k) const {
    for (const std::vector<Limb>& multiple : multiples_) limbs::reduce_once(k, multiple);
  }
  [[nodiscard]] std::vector<Limb> shifted_order(unsigned bits) const {
    std::vector<Limb> r(curve().n);
    limbs::shift_left(r, r, bits);
    return r;
  }

  static void compute(Workspace& work, const PointResults& r, void (*kernel)(const EdwardsBlock&)) {
    EdwardsBlock& block = work.block();
    block.x = work.result(kResultX);
    block.y = r.y != nullptr ? work.result(kResultY) : nullptr;
    kernel(block);
    work.unpack(r.x, block.x);
    if (r.y != nullptr) work.unpack(r.y, block.y);
  }

  /// r = r + the points of all lanes of the results, whose number is a power of two. A block is copied before
  /// it is computed, so that results may be operands.
  void add_lanes(const PointResults& r, Workspace& work) const {
    const std::size_t lanes = calls_.lanes, limbs = calls_.limbs;
    std::vector<Limb> x(lanes * limbs), y(x.size());
    work.begin({0, lanes});
    work.unpack(x.data(), work.block().x);
    work.unpack(y.data(), work.block().y);
    const auto point = [&](std::size_t lane) {
      return PointRows{{&x[lane * limbs], limbs}, {&y[lane * limbs], limbs}};
    };
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      add({x.data(), y.data(), nullptr}, point(0), point(half), {0, half});
    }
    add({r.x, r.y, nullptr}, {{r.x, limbs}, {r.y, limbs}}, point(0), {0, 1});
  }

  [[nodiscard]] PointRows generator() const { return {{curve().x.data(), 0}, {curve().y.data(), 0}}; }
  const limbs::Buffer& base_table() const {
    std::call_once(table_once_, [&] { fill_base_table(); });
    return table_;
  }

  /// Entry j of window i is (2 j + 1) 2^(w i) G: all windows' entries j from their entries j - 1.
  void fill_base_table() const {
    const std::size_t windows = calls_.base_windows, entries = calls_.base_entries, limbs = calls_.limbs;
    std::vector<Limb> x(windows * limbs), y(x.size()), twice_x(x.size()), twice_y(x.size());
    std::vector<Limb> scalars(x.size()), all_x(entries * x.size()), all_y(all_x.size());
    for (std::size_t i = 0; i < windows; ++i) {
      const std::size_t bit = i * calls_.base_width;
      scalars[i * limbs + bit / kLimbBits] = Limb{1} << bit % kLimbBits;
    }
    const PointRows odd{{x.data(), limbs}, {y.data(), limbs}},
        twice{{twice_x.data(), limbs}, {twice_y.data(), limbs}};
    multiply({x.data(), y.data(), nullptr}, {scalars.data(), limbs}, generator(), {0, windows},
             TimingClass::public_, {});
    add({twice_x.data(), twice_y.data(), nullptr}, odd, odd, {0, windows});
    for (std::size_t j = 0; j < entries; ++j) {
      for (std::size_t i = 0; i < windows; ++i) {
        std::copy_n(&x[i * limbs], limbs, &all_x[(i * entries + j) * limbs]);
        std::copy_n(&y[i * limbs], limbs, &all_y[(i * entries + j) * limbs]);
      }
      std::vector<Limb> next_x(x.size()), next_y(x.size());
      add({next_x.data(), next_y.data(), nullptr}, odd, twice, {0, windows});
      std::ranges::copy(next_x, x.begin());
      std::ranges::copy(next_y, y.begin());
    }
    table_.require(calls_.base_bytes / sizeof(Limb));
    store_table(calls_.fill_base, table_, all_x, all_y);
  }
  /// Entry j of half i is j 2^(i w windows) G.
  void fill_wide_table() const {
    const std::size_t entries = std::size_t{1} << (calls_.wide_width - 1), limbs = calls_.limbs;
    const std::size_t half_bits = std::size_t{calls_.wide_width} * calls_.wide_windows;
    std::vector<Limb> x(2 * (entries + 1) * limbs), y(x.size()), scalar(limbs);
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
      Limb* const px = &x[half * (entries + 1) * limbs];
      Limb* const py = &y[half * (entries + 1) * limbs];
      const auto from = [&](std::size_t entry, std::size_t stride) {
        return PointRows{{px + entry * limbs, stride}, {py + entry * limbs, stride}};
      };
      py[0] = 1;
      std::ranges::fill(scalar, Limb{0});
      scalar[half * half_bits / kLimbBits] = Limb{1} << half * half_bits % kLimbBits;
      multiply({px + limbs, py + limbs, nullptr}, {scalar.data(), 0}, generator(), {0, 1},
               TimingClass::public_, {});
      for (std::size_t count = 1; count < entries; count *= 2) {
        add({px + (count + 1) * limbs, py + (count + 1) * limbs, nullptr}, from(1, limbs), from(count, 0),
            {0, count});
      }
    }
    wide_table_.require(calls_.wide_bytes / sizeof(Limb));
    store_table(calls_.fill_wide, wide_table_, x, y);
  }
  void store_table(void (*fill)(const EdwardsBlock&, void*), limbs::Buffer& table, const std::vector<Limb>& x,
                   const std::vector<Limb>& y) const {
    const std::size_t count = x.size() / calls_.limbs;
    const std::size_t lanes = calls_.lanes, limbs = calls_.limbs, vectors = (count + lanes - 1) / lanes;
    manymod::limbs::Buffer memory(2 * vectors * lanes * limbs);
    Limb* const px = memory.data();
    Limb* const py = px + vectors * lanes * limbs;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t limb = 0; limb < limbs; ++limb) {
        const std::size_t at = (i / lanes * limbs + limb) * lanes + i % lanes;
        px[at] = x[i * limbs + limb];
        py[at] = y[i * limbs + limb];
      }
    }
    EdwardsBlock block;
    block.vectors = vectors;
    block.px = px;
    block.py = py;
    fill(block, table.data());
  }
};

class MontgomeryEngine final : public PointEngine {
 public:
  MontgomeryEngine(const Curve& curve, const EdwardsLaneBackend& backend)
      : PointEngine(curve),
        backend_(backend),
        calls_(calls_of(curve, backend)),
        edwards_(named_curve(curve.id == CurveId::x25519 ? CurveId::ed25519 : CurveId::ed448), backend),
        scalar_(scalar64::make_montgomery(curve)) {}

  [[nodiscard]] const char* variant() const override { return backend_.variant; }
  [[nodiscard]] std::size_t granularity() const override { return calls_.lanes; }
  [[nodiscard]] double item_ns(PointOperation operation) const override {
    if (operation == PointOperation::multiply_base) return edwards_.item_ns(operation);
    const auto bits = static_cast<double>(curve().field_bits);
    return operation == PointOperation::ladder ? estimated_ns(calls_, 6.0 * bits + 20, 4.0 * bits)
                                               : scalar_->item_ns(operation);
  }

  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override {
    for_blocks(calls_, items, stop, [&](Workspace& work, ItemRange) {
      EdwardsBlock& block = work.block();
      block.bits = bits;
      block.scalar = work.pack(0, k);
      block.px = work.pack(1, u);
      block.x = work.result(2);
      calls_.ladder(block);
      work.unpack(r, block.x);
    });
  }

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass /*timing*/,
                     const StopToken& stop) const override {
    edwards_.multiply_montgomery_base(r.x, k, items, stop);
  }

  // What Montgomery curves have no operation for.
  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override {
    scalar_->multiply(r, k, points, items, timing, stop);
  }
  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    scalar_->multiply_two(r, u, v, points, items, stop);
  }
  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override {
    scalar_->add(r, p, q, items);
  }
  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    scalar_->lift(r, found, given, odd, items);
  }
  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    scalar_->check(valid, points, items);
  }
  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    scalar_->sum(r, k, points, items, stop);
  }

 private:
  const EdwardsLaneBackend& backend_;
  const EdwardsLaneCalls& calls_;
  EdwardsEngine edwards_;
  std::unique_ptr<const PointEngine> scalar_;
};

}  // namespace

bool offers_edwards_lanes(const Curve& curve) {
  return curve.id == CurveId::ed25519 || curve.id == CurveId::x25519 || curve.id == CurveId::ed448 ||
         curve.id == CurveId::x448;
}

std::unique_ptr<const PointEngine> make_edwards_lanes(const Curve& curve, const EdwardsLaneBackend& backend) {
  if (curve.form == MM_ECC_MONTGOMERY) return std::make_unique<const MontgomeryEngine>(curve, backend);
  return std::make_unique<const EdwardsEngine>(curve, backend);
}

}  // namespace manymod::ecc::lanes
