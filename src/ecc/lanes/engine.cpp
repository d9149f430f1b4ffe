// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/engine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ecc/lanes/bucket_sums.hpp"
#include "ecc/lanes/lane_block.hpp"
#include "ecc/lanes/recoding.hpp"
#include "ecc/scalar_length.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::lanes {
namespace {

/// Vectors that share an inversion.
constexpr std::size_t kBlockVectors = 64;
/// The same where each has a table: they stay in the second-level cache.
constexpr std::size_t kTableVectors = 16;

jacobian::CoefficientA kind_of_a(const Curve& curve) {
  std::vector<Limb> sum(curve.limbs()), three(curve.limbs());
  three[0] = 3;
  if (limbs::normalized_size_var(curve.a) == 0) return jacobian::CoefficientA::zero;
  limbs::add_mod(sum, curve.a, three, curve.p);
  return limbs::normalized_size_var(sum) == 0 ? jacobian::CoefficientA::minus_three
                                              : jacobian::CoefficientA::any;
}

class LaneEngine final : public PointEngine {
 public:
  LaneEngine(const Curve& curve, const PointLaneBackend& backend, const PointLaneCalls& calls,
             std::unique_ptr<const PointEngine> exact)
      : PointEngine(curve),
        backend_(backend),
        calls_(calls),
        exact_(std::move(exact)),
        short_order_(curve.order_bits < kMinBaseBits),
        needs_complete_additions_(short_order_ || !curve.has_cofactor_one()),
        base_windows_(short_order_ ? 0 : base_windows(calls, curve.order_bits)),
        base_table_(base_windows_ * calls.base_window_bytes) {
    set_constants();
    if (!short_order_) fill_base();
  }

  [[nodiscard]] const char* variant() const override { return backend_.variant; }
  [[nodiscard]] std::size_t granularity() const override { return calls_.lanes; }
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                     const StopToken& stop) const override {
    if (short_order_) return exact_->multiply_base(r, k, items, timing, stop);
    for_blocks(items, kBlockVectors, calls_.vector_bytes, stop, [&](LaneBlock& block) {
      block.load_base_scalars(k);
      calls_.multiply_base(block.operands());
      block.store(r);
    });
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override {
    // Fewer items than lanes cost as much as a vector.
    constexpr PointOperation kOperation = PointOperation::multiply;
    if (static_cast<double>(items.size()) * exact_->item_ns(kOperation) <
        static_cast<double>(calls_.lanes) * item_ns(kOperation)) {
      return exact_->multiply(r, k, points, items, timing, stop);
    }
    const auto function = needs_complete_additions_ ? calls_.multiply_complete : calls_.multiply;
    for_blocks(items, kTableVectors, calls_.table_bytes, stop, [&](LaneBlock& block) {
      block.load_points(points);
      block.load_scalars(k);
      function(block.operands());
      block.store(r);
    });
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    if (short_order_) return exact_->multiply_two(r, u, v, points, items, stop);
    std::vector<std::size_t> infinite;
    for_blocks(items, kTableVectors, calls_.table_bytes, stop, [&](LaneBlock& block) {
      load_two(block, u, v, points);
      calls_.multiply_two(block.operands());
      block.store(r);
      block.append_infinite(infinite);
    });
    for_blocks(infinite, kTableVectors, calls_.table_bytes, stop, [&](LaneBlock& block) {
      load_two(block, u, v, points);
      calls_.multiply_two_complete(block.operands());
      block.store(r);
    });
  }

  /// Montgomery curves alone have it, and no variant on lanes offers these.
  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override {
    exact_->ladder(r, k, u, bits, items, stop);
  }

  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override {
    for_blocks(items, kBlockVectors, calls_.vector_bytes, StopToken(), [&](LaneBlock& block) {
      block.load_points(p);
      block.load_second_points(q);
      calls_.add(block.operands());
      block.store(r);
    });
  }

  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    if (curve().p[0] % 4 != 3) return exact_->lift(r, found, given, odd, items);
    for_blocks(items, kBlockVectors, 0, StopToken(), [&](LaneBlock& block) {
      block.load_points({given, {}, nullptr});
      calls_.lift(block.operands());
      block.store_roots(r, found, odd);
    });
  }

  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    for_blocks(items, kBlockVectors, 0, StopToken(), [&](LaneBlock& block) {
      block.load_points(points);
      calls_.check(block.operands());
      block.store_validity(valid, points.infinity);
    });
  }

  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    if (items.size() < min_bucket_terms(calls_)) return exact_->sum(r, k, points, items, stop);
    const std::size_t most = std::min(items.size(), most_bucket_terms(calls_));
    BucketSums sums(curve(), calls_, constants_, most, longest_scalar_var(curve(), k, items));
    // The sum of the parts so far, the next part, and both.
    const std::size_t limbs = curve().limbs();
    std::vector<Limb> x(3 * limbs), y(3 * limbs);
    std::uint8_t infinity[3] = {1, 1, 1};
    const auto rows = [&](std::size_t i) {
      return PointRows{{&x[i * limbs], limbs}, {&y[i * limbs], limbs}, infinity + i};
    };
    const auto results = [&](std::size_t i) {
      return PointResults{&x[i * limbs], &y[i * limbs], infinity + i};
    };
    for (ItemRange part{items.begin, items.begin}; part.end < items.end;) {
      part = {part.end, part.end + std::min(items.end - part.end, most)};
      if (!sums.compute(results(1), k, points, part, stop)) return;
      add(results(2), rows(0), rows(1), {0, 1});
      std::copy_n(&x[2 * limbs], limbs, x.data());
      std::copy_n(&y[2 * limbs], limbs, y.data());
      infinity[0] = infinity[2];
    }
    std::copy_n(x.data(), limbs, r.x);
    if (r.y != nullptr) std::copy_n(y.data(), limbs, r.y);
    r.infinity[0] = infinity[0];
  }

 private:
  /// compute(block) for blocks of at most max_vectors vectors of the items, until `stop` is requested.
  template <class Compute>
  void for_blocks(const ItemList& items, std::size_t max_vectors, std::size_t vector_bytes,
                  const StopToken& stop, const Compute& compute) const {
    const std::size_t lanes = calls_.lanes, size = items.size();
    if (size == 0) return;
    const WipedKernelStack stack;
    const std::size_t vectors = std::min(max_vectors, (size + lanes - 1) / lanes);
    LaneBlock block(curve(), calls_, constants_, vectors, vectors * vector_bytes);
    for (std::size_t done = 0; done < size && !stop.requested_now(); done += vectors * lanes) {
      block.set_items(items, done, std::min(vectors * lanes, size - done));
      compute(block);
    }
  }

  static void load_two(LaneBlock& block, const NumberRows& u, const NumberRows& v, const PointRows& points) {
    block.load_points(points);
    block.load_scalars(v);
    block.load_base_scalars(u);
  }

  void set_constants();
  /// The generator's table, from its multiples by the weights of the windows.
  void fill_base();

  const PointLaneBackend& backend_;
  const PointLaneCalls& calls_;
  std::unique_ptr<const PointEngine> exact_;
  bool short_order_;  ///< n has too few bits for base tables
  /// Points may have a small order: n is short, or the cofactor is not 1.
  bool needs_complete_additions_;
  std::size_t base_windows_;
  std::vector<Limb> coefficients_, cube_root_;
  AlignedWords base_table_;
  montgomery_lanes::Constants modulus_;
  PointBlock constants_;  ///< what all blocks have in common
};

void LaneEngine::set_constants() {
  for (const auto* number : {&curve().a, &curve().b}) {
    for (const Limb limb : *number) coefficients_.insert(coefficients_.end(), calls_.lanes, limb);
  }
  for (const Limb limb : kSecp256k1Endomorphism.beta) cube_root_.insert(cube_root_.end(), calls_.lanes, limb);
  constants_.a = coefficients_.data();
  constants_.b = constants_.a + curve().limbs() * calls_.lanes;
  constants_.cube_root = cube_root_.data();
  constants_.base_table = base_table_.data();
  if (calls_.curve != CurveId::custom) return;
  modulus_ = montgomery_lanes::make_constants(curve().p, calls_.digits, calls_.digit_bits);
  constants_.kind_of_a = kind_of_a(curve());
  constants_.order_bits = static_cast<unsigned>(curve().order_bits);
  constants_.constants = &modulus_;
}

void LaneEngine::fill_base() {
  const std::size_t windows = base_windows_, limbs = curve().limbs(), size = curve().scalar_limbs();
  std::vector<Limb> weights(windows * size), x(windows * limbs), y(windows * limbs);
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t bit = i * calls_.base_width;
    weights[i * size + bit / kLimbBits] = Limb{1} << bit % kLimbBits;
  }
  std::vector<std::uint8_t> infinity(windows);
  const PointRows generator = {{curve().x.data(), 0}, {curve().y.data(), 0}, nullptr};
  const ItemRange all = {0, windows};
  multiply({x.data(), y.data(), infinity.data()}, {weights.data(), size}, generator, all,
           TimingClass::public_, StopToken());
  LaneBlock block(curve(), calls_, constants_, (windows + calls_.lanes - 1) / calls_.lanes,
                  calls_.fill_bytes);
  block.set_items(all, 0, windows);
  block.load_points({{x.data(), limbs}, {y.data(), limbs}, nullptr});
  calls_.fill_base(block.operands(), base_table_.data());
}

double LaneEngine::item_ns(PointOperation operation) const {
  // The time of an instruction of the multiplier, with all that goes with it.
  constexpr double kInstructionNs = 0.35;
  const double product = calls_.mul_instructions * kInstructionNs / static_cast<double>(calls_.lanes);
  const auto bits = static_cast<double>(curve().order_bits), base = static_cast<double>(base_windows_);
  // Doublings take 8 products or squares, additions 11, the inversion's share some 20.
  const double table = 20 * 11, doublings = 8 * bits / static_cast<double>(calls_.terms),
               additions = 11 * bits / 5;
  switch (operation) {
    case PointOperation::multiply_base:
      return product * (11 * base + 20);
    case PointOperation::multiply:
      return product * (table + doublings + additions);
    case PointOperation::multiply_two:
      return product * (table + doublings + additions + 11 * base);
    case PointOperation::lift:
      return product * static_cast<double>(curve().field_bits);
    case PointOperation::add:
      return product * 60;
    case PointOperation::check:
      return product * 10;
    case PointOperation::sum:
      return product * bits;
    case PointOperation::ladder:
      break;
  }
  return exact_->item_ns(operation);
}

}  // namespace

const PointLaneCalls* find_calls(const PointLaneBackend& backend, const Curve& curve) {
  for (const PointLaneCalls* const calls : backend.curves) {
    if (calls->curve == curve.id) return calls;
  }
  // Scalars are recoded to odd ones by n.
  if (curve.form != MM_ECC_WEIERSTRASS || curve.n[0] % 2 == 0) return nullptr;
  for (const PointLaneCalls* const calls : backend.any_curve) {
    if (curve.field_bits <= calls->field_bits) return calls;
  }
  return nullptr;
}

bool runs_here(const PointLaneBackend& backend) {
  return (cpu_info().features & backend.needs) == backend.needs;
}

std::unique_ptr<const PointEngine> make_engine(const Curve& curve, const PointLaneBackend& backend,
                                               std::unique_ptr<const PointEngine> exact) {
  return std::make_unique<LaneEngine>(curve, backend, *find_calls(backend, curve), std::move(exact));
}

}  // namespace manymod::ecc::lanes
