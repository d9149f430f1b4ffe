// SPDX-License-Identifier: Apache-2.0
// The last shared modulus of a plan's calls, with the data precomputed for it.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "exec/bucketing.hpp"
#include "exec/prepared.hpp"
#include "repr/canonical.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// A shared modulus, its class and its precomputed data, kept from call to call.
class CachedModulus {
 public:
  /// `modulus`: memory that others may write to meanwhile. What is classified and computed with is a copy.
  CachedModulus(const EngineSet& engines, std::span<const Limb> modulus, std::size_t modulus_bits,
                Operation op, TimingClass timing);

  /// Constant-time for a given length: moduli such as RSA primes are secret themselves.
  [[nodiscard]] bool is(std::span<const Limb> modulus) const;

  [[nodiscard]] std::size_t limbs() const { return value_.size(); }
  /// The copy in place of the caller's `modulus`, whose sign it has.
  [[nodiscard]] BatchView view_of(const BatchView& modulus) const {
    return {value_.data(), 1, value_.size(), value_.size(), modulus.negative};
  }
  [[nodiscard]] ModulusClass modulus_class() const { return class_; }
  [[nodiscard]] const PreparedModuli& prepared() const { return prepared_; }

 private:
  [[nodiscard]] std::span<const Limb> value() const { return value_.first(value_.size()); }

  limbs::Buffer value_;
  ModulusClass class_;
  PreparedModuli prepared_;
};

/// For one set of engines, which must outlive it.
class ModulusCache {
 public:
  explicit ModulusCache(const EngineSet& engines) : engines_(engines) {}

  /// The entry of `modulus`, one integer, in a plan for moduli of up to `modulus_bits` bits.
  [[nodiscard]] std::shared_ptr<const CachedModulus> get(const BatchView& modulus, std::size_t modulus_bits,
                                                         Operation op, TimingClass timing) const;

 private:
  const EngineSet& engines_;
  mutable std::mutex
      mutex_;  ///< guards last_; only tried, never waited for: in a forked child it may stay locked forever
  mutable std::shared_ptr<const CachedModulus> last_;
};

}  // namespace manymod
