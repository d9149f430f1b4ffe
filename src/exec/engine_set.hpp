// SPDX-License-Identifier: Apache-2.0
// The engines of one plan: which of them computes how many items, and where.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "dispatch/selection.hpp"
#include "engine/engine.hpp"
#include "exec/placement.hpp"

namespace manymod {

struct EngineChoice {
  Placement placement;
  std::size_t lanes = 1;  ///< items computed at a time; a partly filled vector costs as much as a full one
  std::size_t min_items = 1;  ///< least number of remaining items for which this choice is taken
  bool accepts_every_item = true;

  /// The number of GPUs that it computes on; 0 for the CPU. On GPUs item_cost_ns is the cost on one GPU and
  /// holds only for many items, and chunks wait for the device.
  [[nodiscard]] unsigned gpus() const { return placement.gpus(); }
};

/// Ordered by preference: the first choice whose min_items is not above the number of items is taken.
class EngineSet {
 public:
  /// @throws std::logic_error unless some choice takes a single item
  explicit EngineSet(std::vector<EngineChoice> choices);

  [[nodiscard]] std::size_t size() const { return choices_.size(); }
  [[nodiscard]] const EngineChoice& operator[](std::size_t index) const { return choices_[index]; }

  /// Index of the choice for `items` >= 1 items.
  [[nodiscard]] std::size_t for_items(std::size_t items) const;
  [[nodiscard]] bool accepts(std::size_t index, const Job& job, std::size_t item) const;
  /// Index of the first choice with min_items <= `items` that accepts the item, else of the first that
  /// accepts it.
  /// @throws std::logic_error if none does
  [[nodiscard]] std::size_t accepting(const Job& job, std::size_t item, std::size_t items) const;
  /// Whether every choice accepts every item.
  [[nodiscard]] bool accepts_every_item() const { return accepts_every_item_; }

  /// Number of a place among those of all choices, < places().
  [[nodiscard]] std::size_t place_number(std::size_t index, std::size_t place) const {
    return first_places_[index] + place;
  }
  [[nodiscard]] std::size_t places() const { return first_places_.back(); }

 private:
  std::vector<EngineChoice> choices_;
  std::vector<std::size_t> first_places_;  ///< of each choice; then the number of all places
  bool accepts_every_item_;
};

/// Adapts a CPU engine, for instance to operands in a GPU's memory.
using AdaptCpuEngine = std::function<std::unique_ptr<const Engine>(std::unique_ptr<const Engine>)>;

/// The engines of a selection, one choice after the other: on the CPU, passed through `adapt_cpu` if that is
/// given, or on all GPUs of the choice with the selection's CPU fallback.
EngineSet make_engines(const Selection& selection, const AdaptCpuEngine& adapt_cpu = {});

}  // namespace manymod
