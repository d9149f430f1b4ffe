// SPDX-License-Identifier: Apache-2.0
// Assignment of items to the lanes of vectors: loads operands, provides the multiplier, stores results.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "lanes/multiplier.hpp"

namespace manymod::lanes {

/// The number of vectors that are computed at a time for moduli of `limbs` limbs, 1 or 2.
std::size_t vectors_for(const Kernels& kernels, std::size_t limbs);

/// A plan's shared modulus, prepared in every lane.
class PreparedLanes final : public PreparedModulus {
 public:
  PreparedLanes(const Kernels& kernels, std::span<const Limb> modulus);
  [[nodiscard]] const Moduli& moduli() const { return moduli_; }
  [[nodiscard]] const Moduli* in_lanes() const override { return &moduli_; }

 private:
  Moduli moduli_;
};

/// The shared modulus of a job's plan, in every lane; null if each item has its own modulus.
const Moduli* shared_moduli(const Job& job);

/// At most lanes() items at a time. A lane without an item repeats the operands of the last item, and its
/// result is discarded.
class Group {
 public:
  /// On input: `shared` are the moduli of every lane, or null if each item has its own.
  Group(const Kernels& kernels, const Job& job, std::size_t limbs, const Moduli* shared);

  /// The lanes of a full group.
  [[nodiscard]] std::size_t lanes() const { return vectors_ * kernels_.lanes; }

  /// Sets the items to compute, at most lanes() of them, and prepares their moduli.
  void assign(Items items);

  /// The item in a lane; the last item in lanes without one.
  [[nodiscard]] std::size_t item(std::size_t lane) const { return items_[std::min(lane, count_ - 1)]; }
  /// The multiplier of the vectors that hold items.
  [[nodiscard]] Multiplier multiplier() { return {used_moduli(), scratch_.data()}; }

  /// r = the operand of each item in Montgomery form, almost reduced.
  void load_montgomery(Limb* r, const BatchView& operand);
  /// r = a / R mod n, 0 <= r < n, exact digits. On input: almost reduced.
  void from_montgomery(Limb* r, const Limb* a);
  /// r = a mod n, 0 <= r < n, exact digits. On input: a < 4 n.
  void reduce(Limb* r, const Limb* a);
  /// True if the operand's width guarantees that every |operand| is below R.
  [[nodiscard]] bool fits(const BatchView& operand) const;
  /// r = |operand| of each item as digits. On input: fits(operand).
  void load_plain(Limb* r, const BatchView& operand);
  /// r = the operand of each item mod n, 0 <= r < n, exact digits. Timing: that of the job; in variable time
  /// operands that are not below n take longer.
  void load_residues(Limb* r, const BatchView& operand);
  /// r = a + b mod n. On input: 0 <= a, b < n, exact digits; so is r.
  void add(Limb* r, const Limb* a, const Limb* b);
  /// Stores results and statuses of all items. On input: 0 <= a < n, exact digits.
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
  limbs::Buffer moduli_copies_;  ///< of the items' own moduli

  /// The moduli of the vectors that hold items.
  [[nodiscard]] std::span<const Moduli* const> used_moduli() const {
    return std::span(moduli_).first((count_ + kernels_.lanes - 1) / kernels_.lanes);
  }
  /// Fills operands_ and negative_ with the operand of each lane's item.
  void find_operands(const BatchView& operand);
  /// step(moduli, first lane, index of the first word) for each vector that holds items
  template <class Step>
  void for_each_vector(Step step) {
    const auto used = used_moduli();
    for (std::size_t v = 0; v < used.size(); ++v) {
      step(*used[v], v * kernels_.lanes, v * used[v]->words());
    }
  }
};

}  // namespace manymod::lanes
