// SPDX-License-Identifier: Apache-2.0
// A plan: one operation, timing class and modulus kind, with the variant resolved once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "dispatch/bucketing.hpp"
#include "dispatch/engine_set.hpp"
#include "dispatch/selection.hpp"
#include "manymod/manymod.h"
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

class Plan {
 public:
  /// @throws StatusError for options that are wrong or that no variant can serve
  explicit Plan(const mm_plan_options& options);

  /// @throws StatusError for a malformed call
  mm_status run(const mm_call& call);

  /// See Selection::for_items.
  [[nodiscard]] const std::string& variant_name(std::size_t items = SIZE_MAX) const {
    return selection_.for_items(items).name;
  }

 private:
  std::shared_ptr<const CachedModulus> shared_modulus(const BatchView& modulus);

  Operation op_;
  TimingClass timing_;
  bool shared_;
  std::size_t modulus_bits_;
  unsigned threads_;
  Selection selection_;
  EngineSet engines_;
  std::mutex mutex_;  ///< guards last_modulus_; never waited for, as a fork may have left it locked for ever
  std::shared_ptr<const CachedModulus> last_modulus_;
};

}  // namespace manymod
