// SPDX-License-Identifier: Apache-2.0
// Data that the engines of a set precompute for a shared modulus or a fixed base, separately for each place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/published_once.hpp"
#include "exec/engine_set.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// One shared modulus, prepared for each engine when it is first needed. Engines and modulus must outlive it.
/// Safe to use from several threads.
class PreparedModuli {
 public:
  PreparedModuli(const EngineSet& engines, std::span<const Limb> modulus, Operation op, TimingClass timing)
      : engines_(engines), modulus_(modulus), op_(op), timing_(timing), prepared_(engines.places()) {}

  /// For the engine of choice `index` at `place`.
  [[nodiscard]] const PreparedModulus* get(std::size_t index, std::size_t place) const {
    return prepared_[engines_.place_number(index, place)].get(
        [&] { return engines_[index].placement.engine(place).prepare(modulus_, op_, timing_); });
  }

 private:
  const EngineSet& engines_;
  std::span<const Limb> modulus_;
  Operation op_;
  TimingClass timing_;
  std::vector<PublishedOnce<PreparedModulus>> prepared_;
};

/// The comb of one base, computed for each engine when it is first needed. Engines and modulus must outlive
/// it. Safe to use from several threads.
class PreparedBases {
 public:
  /// `base`: one integer, which is copied. Computes no comb yet.
  PreparedBases(const EngineSet& engines, const BatchView& base, std::span<const Limb> modulus,
                std::size_t exponent_bits, TimingClass timing);

  /// Index of the choice for large batches: the first one, unless it does not accept the modulus.
  [[nodiscard]] std::size_t main_choice() const { return main_choice_; }
  /// Index of the choice that computes a call with that many exponents, as far as it accepts them. The tail
  /// after full vectors stays with that choice, because a second comb would cost more than it saves.
  [[nodiscard]] std::size_t choice_for(std::size_t exponents) const;

  /// Ensure that choice `index` has a comb at one place at least: if there is none yet, compute one.
  /// @return false if `stop` was requested
  /// @throws StatusError if all places fail
  bool prepare(std::size_t index, const StopToken& stop) const;

  /// The comb for the engine of choice `index` at `place`, computed when it is first needed.
  /// @return null if `stop` was requested
  [[nodiscard]] const PreparedBase* get(std::size_t index, std::size_t place, const StopToken& stop) const;

 private:
  const EngineSet& engines_;
  limbs::Buffer base_;
  std::uint8_t negative_;
  std::span<const Limb> modulus_;
  std::size_t exponent_bits_;
  TimingClass timing_;
  std::size_t main_choice_;
  std::vector<PublishedOnce<PreparedBase>> prepared_;
};

}  // namespace manymod
