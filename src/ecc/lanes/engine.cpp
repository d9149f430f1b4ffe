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
      : PointEngine(curve), backend_(backend), calls_(calls), exact_(std::move(exact)) {
    for (const auto* number : {&curve.a, &curve.b}) {
      for (const Limb limb : *number) coefficients_.insert(coefficients_.end(), calls.lanes, limb);
    }
    for (const Limb limb : kCubeRoot) cube_root_.insert(cube_root_.end(), calls.lanes, limb);
    fill_base();
  }

  [[nodiscard]] const char* variant() const override { return backend_.variant; }
  [[nodiscard]] std::size_t granularity() const override { return calls_.lanes; }
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass /*timing*/,
                     const StopToken& stop) const override {
    for_blocks(items, kVectors, calls_.vector_bytes, stop, [&](LaneBlock& block) {
      load_base_scalars(block, k);
      calls_.multiply_base(block.operands());
      block.store(r);
    });
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass /*timing*/, const StopToken& stop) const override {
    for_blocks(items, kTableVectors, calls_.table_bytes, stop, [&](LaneBlock& block) {
      block.load_points(points);
      load_scalars(block, k);
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
    const std::size_t vectors = std::min(max_vectors, (size + lanes - 1) / lanes);
    LaneBlock block(curve(), calls_, vectors, vectors * vector_bytes);
    block.set_constants(coefficients_.data(), cube_root_.data(), base_table_.data());
    for (std::size_t done = 0; done < size && !stop.requested_now(); done += vectors * lanes) {
      block.set_items(items, done, std::min(vectors * lanes, size - done));
      compute(block);
    }
  }

  void load_base_scalars(LaneBlock& block, const NumberRows& k) const { block.load_base_scalars(k); }
  void load_scalars(LaneBlock& block, const NumberRows& k) const { block.load_scalars(k); }
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

}  // namespace
}  // namespace manymod::ecc::lanes
