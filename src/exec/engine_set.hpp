// SPDX-License-Identifier: Apache-2.0
// The engines of one plan: which of them computes how many items, and what each has precomputed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/published_once.hpp"
#include "dispatch/selection.hpp"
#include "engine/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod {

struct EngineChoice {
  std::unique_ptr<const Engine> engine;
  std::size_t lanes = 1;      ///< items computed at a time: part of a vector costs as much as a full one
  std::size_t min_items = 1;  ///< the choice where at least so many items are left
  bool accepts_every_item = true;
  unsigned gpus = 0;  ///< that it computes on, 0 for the CPU; then item_cost_ns is one GPU's and holds for
                      ///< many items only, and chunks wait for the device
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
  /// Index of the first choice for at most `items` items that accepts the item, or else of the first that
  /// does.
  /// @throws std::logic_error if none does
  [[nodiscard]] std::size_t accepting(const Job& job, std::size_t item, std::size_t items) const;
  /// Whether no choice ever turns an item down.
  [[nodiscard]] bool accepts_every_item() const { return accepts_every_item_; }

 private:
  std::vector<EngineChoice> choices_;
  bool accepts_every_item_;
};

/// An engine for each choice, in order: several GPUs are one (spread.hpp).
EngineSet make_engines(const Selection& selection);

/// One shared modulus, prepared for each engine that comes to need it. Engines and modulus must outlive it.
class PreparedModuli {
 public:
  PreparedModuli(const EngineSet& engines, std::span<const Limb> modulus, Operation op, TimingClass timing)
      : engines_(engines), modulus_(modulus), op_(op), timing_(timing), prepared_(engines.size()) {}

  [[nodiscard]] const PreparedModulus* for_engine(std::size_t index) const {
    return prepared_[index].get([&] { return engines_[index].engine->prepare(modulus_, op_, timing_); });
  }

 private:
  const EngineSet& engines_;
  std::span<const Limb> modulus_;
  Operation op_;
  TimingClass timing_;
  std::vector<PublishedOnce<PreparedModulus>> prepared_;
};

/// The comb of one base for each engine that comes to need it. Engines and modulus must outlive it.
class PreparedBases {
 public:
  /// `base`: one integer, copied. Makes no comb yet.
  PreparedBases(const EngineSet& engines, const BatchView& base, std::span<const Limb> modulus,
                std::size_t exponent_bits, TimingClass timing);

  /// Index of the engine for large batches: the first choice unless the modulus is not for it.
  [[nodiscard]] std::size_t main_engine() const { return main_engine_; }
  /// Index of the engine for a call with so many exponents, all that it accepts: a comb for what full vectors
  /// leave over would cost more than it saves.
  [[nodiscard]] std::size_t engine_for(std::size_t exponents) const;
  /// Null if `stop` was requested.
  [[nodiscard]] const PreparedBase* for_engine(std::size_t index, const StopToken& stop) const;

 private:
  const EngineSet& engines_;
  limbs::Buffer base_;
  std::uint8_t negative_;
  std::span<const Limb> modulus_;
  std::size_t exponent_bits_;
  TimingClass timing_;
  std::size_t main_engine_;
  std::vector<PublishedOnce<PreparedBase>> prepared_;
};

}  // namespace manymod
