// SPDX-License-Identifier: Apache-2.0
// The operands and results of some vectors of items, between rows of numbers and the layout of EdwardsBlock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "ecc/lanes/edwards_lane_calls.hpp"
#include "ecc/lanes/lane_block.hpp"
#include "ecc/point_engine.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::lanes {

/// Vectors of a call of kernels, which share an inversion.
inline constexpr std::size_t kVectors = 32;
/// The same of sums, whose points and buckets stay in the caches of a core.
inline constexpr std::size_t kSumVectors = 1024;

/// Memory for the operands, results and scratch of a block. It may hold secrets, and is zeroed at the end.
class Workspace {
 public:
  Workspace(const EdwardsLaneCalls& calls, std::size_t items, std::size_t max_vectors,
            std::size_t (*scratch_bytes)(std::size_t vectors))
      : calls_(calls),
        vectors_(std::min(max_vectors, (items + calls.lanes - 1) / calls.lanes)),
        words_(vectors_ * calls.limbs * calls.lanes),
        number_(calls.limbs),
        memory_(kArrays * words_ + scratch_bytes(vectors_) / sizeof(Limb)) {
    block_.scratch = memory_.data() + kArrays * words_;
  }

  [[nodiscard]] std::size_t items() const { return vectors_ * calls_.lanes; }
  [[nodiscard]] EdwardsBlock& block() { return block_; }

  /// Begin a block of at most items() items.
  void begin(ItemRange items) {
    items_ = items;
    block_.vectors = (items.size() + calls_.lanes - 1) / calls_.lanes;
  }
  /// Array `index` with the numbers of the items, changed by edit(number); lanes without an item have the
  /// numbers of the first one.
  template <class Edit>
  const Limb* pack(std::size_t index, const NumberRows& rows, const Edit& edit) {
    return pack_each(index, [&](std::span<Limb> number, std::size_t slot) {
      std::copy_n(rows[item(slot)], number.size(), number.begin());
      edit(number);
    });
  }
  const Limb* pack(std::size_t index, const NumberRows& rows) {
    return pack(index, rows, [](std::span<Limb>) {});
  }
  /// Array `index` with the numbers that make(number, slot) writes for each lane of each vector.
  template <class Make>
  const Limb* pack_each(std::size_t index, const Make& make) {
    const std::span<Limb> number = number_.first(calls_.limbs);
    for (std::size_t slot = 0; slot < block_.vectors * calls_.lanes; ++slot) {
      make(number, slot);
      for (std::size_t limb = 0; limb < number.size(); ++limb) array(index)[word(slot, limb)] = number[limb];
    }
    return array(index);
  }
  /// The item of a slot.
  [[nodiscard]] std::size_t item(std::size_t slot) const {
    return items_.begin + (slot < items_.size() ? slot : 0);
  }
  /// The number of a slot from an array.
  void read(std::span<Limb> number, const Limb* from, std::size_t slot) const {
    for (std::size_t limb = 0; limb < number.size(); ++limb) number[limb] = from[word(slot, limb)];
  }
  /// Sets numbers of lanes without an item to 0.
  void clear_unused(std::size_t index) {
    for (std::size_t i = items_.size(); i < block_.vectors * calls_.lanes; ++i) {
      for (std::size_t limb = 0; limb < calls_.limbs; ++limb) array(index)[word(i, limb)] = 0;
    }
  }
  /// Array `index` for numbers or masks that a kernel writes.
  Limb* result(std::size_t index) { return array(index); }
  /// The numbers of the items from an array to rows.
  void unpack(Limb* rows, const Limb* from) const {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (std::size_t limb = 0; limb < calls_.limbs; ++limb)
        rows[(items_.begin + i) * calls_.limbs + limb] = from[word(i, limb)];
    }
  }

  static constexpr std::size_t kArrays = 12;

 private:
  const EdwardsLaneCalls& calls_;
  std::size_t vectors_, words_;
  limbs::Buffer number_, memory_;
  EdwardsBlock block_;
  ItemRange items_;

  Limb* array(std::size_t index) { return memory_.data() + index * words_; }
  [[nodiscard]] std::size_t word(std::size_t i, std::size_t limb) const {
    return (i / calls_.lanes * calls_.limbs + limb) * calls_.lanes + i % calls_.lanes;
  }
};

/// step(workspace, block) for blocks of the items.
template <class Step>
void for_blocks(Workspace& work, ItemRange items, const StopToken& stop, const Step& step) {
  const WipedKernelStack stack;
  for (std::size_t begin = items.begin; begin < items.end && !stop.requested_now();) {
    const ItemRange block{begin, std::min(items.end, begin + work.items())};
    work.begin(block);
    step(work, block);
    begin = block.end;
  }
}

template <class Step>
void for_blocks(const EdwardsLaneCalls& calls, ItemRange items, const StopToken& stop, const Step& step) {
  if (items.size() == 0) return;
  Workspace work(calls, items.size(), kVectors, calls.scratch_bytes);
  for_blocks(work, items, stop, step);
}

}  // namespace manymod::ecc::lanes
