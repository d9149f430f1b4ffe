// SPDX-License-Identifier: Apache-2.0
// What an engine is asked to prepare, kept for other engines that may have to compute in its place.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod {

class ModulusPreparation {
 public:
  ModulusPreparation(std::span<const Limb> modulus, Operation op, TimingClass timing)
      : modulus_(modulus.size()), op_(op), timing_(timing) {
    std::copy(modulus.begin(), modulus.end(), modulus_.data());
  }

  [[nodiscard]] std::unique_ptr<PreparedModulus> by(const Engine& engine) const {
    return engine.prepare({modulus_.data(), modulus_.size()}, op_, timing_);
  }

 private:
  limbs::Buffer modulus_;
  Operation op_;
  TimingClass timing_;
};

class BasePreparation {
 public:
  BasePreparation(const BatchView& base, std::span<const Limb> modulus, std::size_t exponent_bits,
                  TimingClass timing)
      : base_(base.width),
        negative_(base.is_negative(0) ? 1 : 0),
        modulus_(modulus.size()),
        exponent_bits_(exponent_bits),
        timing_(timing) {
    std::copy_n(base.magnitude(0).data(), base.width, base_.data());
    std::copy(modulus.begin(), modulus.end(), modulus_.data());
  }

  /// Null if `stop` was requested.
  [[nodiscard]] std::unique_ptr<PreparedBase> by(const Engine& engine, const StopToken& stop) const {
    const BatchView base{base_.data(), 1, base_.size(), base_.size(), &negative_};
    return engine.prepare_base(base, {modulus_.data(), modulus_.size()}, exponent_bits_, timing_, stop);
  }

 private:
  limbs::Buffer base_;
  std::uint8_t negative_;
  limbs::Buffer modulus_;
  std::size_t exponent_bits_;
  TimingClass timing_;
};

}  // namespace manymod
