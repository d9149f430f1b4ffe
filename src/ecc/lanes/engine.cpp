// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/engine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ecc/lanes/lane_block.hpp"
#include "ecc/lanes/recoding.hpp"

namespace manymod::ecc::lanes {
namespace {

/// Vectors that share an inversion.
constexpr std::size_t kVectors = 64;
/// The same where each has a table: they stay in the second-level cache.
constexpr std::size_t kTableVectors = 16;

class LaneEngine final : public PointEngine {
 public:
  LaneEngine(const Curve& curve, const PointLaneBackend& backend, const PointLaneCalls& calls,
             std::unique_ptr<const PointEngine> exact)
      : PointEngine(curve),
        backend_(backend),
        calls_(calls),
        exact_(std::move(exact)),
        base_table_(calls.base_bytes) {
    for (const auto* number : {&curve.a, &curve.b}) {
      for (const Limb limb : *number) coefficients_.insert(coefficients_.end(), calls.lanes, limb);
    }
    for (const Limb limb : kSecp256k1Endomorphism.beta)
      cube_root_.insert(cube_root_.end(), calls.lanes, limb);
    fill_base();
  }

  [[nodiscard]] const char* variant() const override { return backend_.variant; }
  [[nodiscard]] std::size_t granularity() const override { return calls_.lanes; }
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass /*timing*/,
                     const StopToken& stop) const override {
    for_blocks(items, kVectors, calls_.vector_bytes, stop, [&](LaneBlock& block) {
      block.load_base_scalars(k);
      calls_.multiply_base(block.operands());
      block.store(r);
    });
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass /*timing*/, const StopToken& stop) const override {
    for_blocks(items, kTableVectors, calls_.table_bytes, stop, [&](LaneBlock& block) {
      block.load_points(points);
      block.load_scalars(k);
      calls_.multiply(block.operands());
      block.store(r);
    });
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
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
    for_blocks(items, kVectors, calls_.vector_bytes, StopToken(), [&](LaneBlock& block) {
      block.load_points(p);
      block.load_second_points(q);
      calls_.add(block.operands());
      block.store(r);
    });
  }

  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    for_blocks(items, kVectors, 0, StopToken(), [&](LaneBlock& block) {
      block.load_points({given, {}, nullptr});
      calls_.lift(block.operands());
      block.store_roots(r, found, odd);
    });
  }

  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    for_blocks(items, kVectors, 0, StopToken(), [&](LaneBlock& block) {
      block.load_points(points);
      calls_.check(block.operands());
      block.store_validity(valid, points.infinity);
    });
  }

  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    exact_->sum(r, k, points, items, stop);
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
    LaneBlock block(curve(), calls_, vectors, vectors * vector_bytes);
    block.set_constants(coefficients_.data(), cube_root_.data(), base_table_.data());
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

  /// The generator's table, from its multiples by the weights of the windows.
  void fill_base();

  const PointLaneBackend& backend_;
  const PointLaneCalls& calls_;
  std::unique_ptr<const PointEngine> exact_;
  std::vector<Limb> coefficients_, cube_root_;
  AlignedWords base_table_;
};

void LaneEngine::fill_base() {
  const std::size_t windows = calls_.base_windows, limbs = curve().limbs(), size = curve().scalar_limbs();
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
  LaneBlock block(curve(), calls_, (windows + calls_.lanes - 1) / calls_.lanes, calls_.fill_bytes);
  block.set_items(all, 0, windows);
  block.load_points({{x.data(), limbs}, {y.data(), limbs}, nullptr});
  calls_.fill_base(block.operands(), base_table_.data());
}

double LaneEngine::item_ns(PointOperation operation) const {
  // Of an instruction of the multiplier, with all that goes with it.
  constexpr double kInstructionNs = 0.35;
  const double product = calls_.mul_instructions * kInstructionNs / static_cast<double>(calls_.lanes);
  const auto bits = static_cast<double>(curve().order_bits), base = static_cast<double>(calls_.base_windows);
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
