// SPDX-License-Identifier: Apache-2.0
// The last modulus that a plan's calls shared, with what was precomputed for it.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "exec/bucketing.hpp"
#include "exec/prepared.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// What a shared modulus came to, kept from call to call.
class CachedModulus {
 public:
  /// `modulus`: limbs without leading zero limbs.
  CachedModulus(const EngineSet& engines, std::span<const Limb> modulus, std::size_t modulus_bits,
                Operation op, TimingClass timing);

  /// Compared in time that depends on the lengths alone: moduli such as RSA primes are secrets themselves.
  [[nodiscard]] bool is(std::span<const Limb> modulus) const;

  [[nodiscard]] std::size_t limbs() const { return value_.size(); }
  [[nodiscard]] ModulusClass modulus_class() const { return class_; }
  [[nodiscard]] const PreparedModuli& prepared() const { return prepared_; }

 private:
  [[nodiscard]] std::span<const Limb> value() const { return value_.first(value_.size()); }

  limbs::Buffer value_;
  ModulusClass class_;
  PreparedModuli prepared_;
};

/// Of one set of engines, which must outlive it.
class ModulusCache {
 public:
  explicit ModulusCache(const EngineSet& engines) : engines_(engines) {}

  /// What `modulus`, one integer, comes to in a plan for moduli of up to `modulus_bits` bits.
  [[nodiscard]] std::shared_ptr<const CachedModulus> get(const BatchView& modulus, std::size_t modulus_bits,
                                                         Operation op, TimingClass timing) const;

 private:
  const EngineSet& engines_;
  mutable std::mutex mutex_;  ///< guards last_; never waited for, as a fork may have left it locked for ever
  mutable std::shared_ptr<const CachedModulus> last_;
};

}  // namespace manymod
