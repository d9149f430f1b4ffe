// SPDX-License-Identifier: Apache-2.0
// The operands and results of some vectors of items, between rows of numbers and the layout of PointBlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ecc/lanes/point_lane_calls.hpp"
#include "ecc/point_engine.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::lanes {

/// Kernels have frames of up to 40 KiB.
using WipedKernelStack = WipedStack<65536>;

/// Words from a multiple of 64 bytes on, all 0 at first, wiped on destruction.
class AlignedWords {
 public:
  explicit AlignedWords(std::size_t bytes) : words_(bytes / sizeof(Limb) + kAlignment / sizeof(Limb)) {}

  [[nodiscard]] Limb* data() { return words_.data() + offset(); }
  [[nodiscard]] const Limb* data() const { return words_.all().data() + offset(); }

 private:
  static constexpr std::size_t kAlignment = 64;
  [[nodiscard]] std::size_t offset() const {
    const auto address = reinterpret_cast<std::uintptr_t>(words_.all().data());
    return (kAlignment - address % kAlignment) % kAlignment / sizeof(Limb);
  }

  SecretArray<Limb> words_;
};

/// Which items to compute: a range, or some.
class ItemList {
 public:
  ItemList(ItemRange range)
      : begin_(range.begin), size_(range.size()) {}  // NOLINT(google-explicit-constructor)
  ItemList(const std::vector<std::size_t>& items)    // NOLINT(google-explicit-constructor)
      : items_(items.data()), size_(items.size()) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t operator[](std::size_t i) const {
    return items_ != nullptr ? items_[i] : begin_ + i;
  }

 private:
  const std::size_t* items_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t size_;
};

/// Memory for some vectors, to be filled and computed repeatedly. Loads and stores are constant-time in
/// scalars and coordinates; lanes without an item repeat the last one.
class LaneBlock {
 public:
  /// The curve, the functions and what `constants` points to must outlive the block.
  LaneBlock(const Curve& curve, const PointLaneCalls& calls, const PointBlock& constants, std::size_t vectors,
            std::size_t scratch_bytes);

  /// The items of the block are `count` of the list from `first` on, 1 <= count <= vectors lanes.
  void set_items(const ItemList& items, std::size_t first, std::size_t count);

  void load_points(const PointRows& points);
  void load_second_points(const PointRows& points);
  void load_scalars(const NumberRows& k);
  void load_base_scalars(const NumberRows& k);

  [[nodiscard]] const PointBlock& operands() const { return operands_; }

  /// Affine points.
  void store(const PointResults& r);
  /// Appends the items whose result is infinity.
  void append_infinite(std::vector<std::size_t>& items) const;
  /// y of `lift`, with the lowest bits that are asked for.
  void store_roots(Limb* r, std::uint8_t* found, const std::uint8_t* odd);
  /// The verdicts of `check`; items with `infinity` set are valid.
  void store_validity(std::uint8_t* valid, const std::uint8_t* infinity) const;

 private:
  [[nodiscard]] std::size_t slots() const { return operands_.vectors * calls_.lanes; }
  /// The item of a slot, lane by lane of one vector after the other.
  [[nodiscard]] std::size_t item(std::size_t slot) const;
  /// Limb 0 of the number in a slot: its limbs are `lanes` words apart.
  [[nodiscard]] std::size_t at(std::size_t slot, std::size_t limbs) const;
  void load(Limb* to, const NumberRows& from, std::size_t limbs) const;
  void load_masks(Limb* to, const std::uint8_t* flags) const;
  Limb* take(std::size_t words);

  const Curve& curve_;
  const PointLaneCalls& calls_;
  AlignedWords words_;
  Limb* free_;
  PointBlock operands_;
  // The operands that the block writes.
  Limb *px_, *py_, *p_infinite_, *qx_, *qy_, *q_infinite_, *scalar_, *negate_, *base_scalar_, *base_negate_;
  ItemList items_{ItemRange{}};
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace manymod::ecc::lanes
