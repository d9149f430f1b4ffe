// SPDX-License-Identifier: Apache-2.0
// Items in the lanes of vectors: loading operands, multiplying, storing results.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "lanes/multiplier.hpp"

namespace manymod::lanes {

/// Vectors computed in turn for moduli of `limbs` limbs.
std::size_t vectors_for(const Kernels& kernels, std::size_t limbs);

/// A plan's shared modulus in every lane.
class PreparedLanes final : public PreparedModulus {
 public:
  PreparedLanes(const Kernels& kernels, std::span<const Limb> modulus);
  [[nodiscard]] const Moduli& moduli() const { return moduli_; }
  [[nodiscard]] const Moduli* in_lanes() const override { return &moduli_; }

 private:
  Moduli moduli_;
};

/// The moduli that a plan prepared for every lane; null where each item has its own.
const Moduli* shared_moduli(const Job& job);

/// Up to lanes() items at a time. Lanes without an item of their own repeat the last one's operands; their
/// results are dropped.
class Group {
 public:
  /// `shared`: the moduli of every lane, or null for each item's own.
  Group(const Kernels& kernels, const Job& job, std::size_t limbs, const Moduli* shared);

  /// Lanes of a full group.
  [[nodiscard]] std::size_t lanes() const { return vectors_ * kernels_.lanes; }

  /// The items to compute, at most lanes() of them, and their moduli.
  void assign(Items items);

  [[nodiscard]] std::size_t item(std::size_t lane) const { return items_[std::min(lane, count_ - 1)]; }
  /// For the vectors that hold items.
  [[nodiscard]] Multiplier multiplier() { return {used_moduli(), scratch_.data()}; }

  /// r = the operand of each item in Montgomery form, or in vectors_used() elements as it is.
  void load_montgomery(Limb* r, const BatchView& operand);
  /// r = a / R mod n, exact digits.
  void leave_montgomery(Limb* r, const Limb* a);
  /// r = a mod n, exact digits, for a < 4 n.
  void reduce(Limb* r, const Limb* a);
  /// Whether every |operand| is below R, by its width alone.
  [[nodiscard]] bool fits(const BatchView& operand) const;
  /// r = |operand| of each item. In: fits(operand).
  void load_plain(Limb* r, const BatchView& operand);
  /// Results and statuses of all items. In: exact digits, canonical.
  void store(const Limb* a);

 private:
  const Kernels& kernels_;
  const Job& job_;
  std::size_t limbs_;
  const Moduli* shared_;
  std::size_t vectors_;
  std::size_t count_ = 0;
  Items items_;
  std::vector<Moduli> own_;
  std::array<const Moduli*, kMaxLanes> moduli_{};
  std::array<std::span<const Limb>, kMaxLanes> operands_;
  std::array<bool, kMaxLanes> negative_{};
  limbs::Buffer scratch_;
  limbs::Buffer residue_;

  [[nodiscard]] std::span<const Moduli* const> used_moduli() const {
    return std::span(moduli_).first((count_ + kernels_.lanes - 1) / kernels_.lanes);
  }
  void find_operands(const BatchView& operand);
  /// step(moduli, first lane, first word) for each vector that holds items
  template <class Step>
  void for_each_vector(Step step) {
    const auto used = used_moduli();
    for (std::size_t v = 0; v < used.size(); ++v) {
      step(*used[v], v * kernels_.lanes, v * used[v]->words());
    }
  }
};

}  // namespace manymod::lanes
