// SPDX-License-Identifier: Apache-2.0
// Powers of one base modulo one modulus, by a comb that is computed once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/batch_run.hpp"
#include "api/resident.hpp"
#include "dispatch/selection.hpp"
#include "dispatch/selection_options.hpp"
#include "exec/bucketing.hpp"
#include "exec/prepared.hpp"
#include "manymod/manymod.h"
#include "repr/limbs.hpp"

namespace manymod {

/// The longest exponent that a comb covers: the table for a longer one would cost more than it saves.
inline constexpr std::size_t kMaxCombExponentBits = std::size_t{1} << 20;

class FixedBase {
 public:
  /// @throws StatusError for options or integers that are wrong or that no variant can serve, and
  /// MM_ERR_CANCELLED if options.progress requested a stop
  FixedBase(const mm_fixed_base_options& options, const mm_view& base, const mm_view& modulus);

  /// @throws StatusError for a malformed call
  mm_status powmod(const mm_call& call) const;

  /// The variant that computes a call with `exponents` exponents, none of them negative.
  [[nodiscard]] const std::string& variant_name(std::size_t exponents = SIZE_MAX) const {
    return selection_.choices[bases_ ? bases_->choice_for(exponents) : 0].variant->name;
  }

 private:
  [[nodiscard]] std::span<const Limb> magnitude() const { return modulus_.first(modulus_.size()); }
  [[nodiscard]] BatchView modulus_view() const;
  [[nodiscard]] BatchView base_view() const;
  [[nodiscard]] mm_status run_resident(const mm_call& call, Job& job) const;
  [[nodiscard]] mm_status compute(const EngineSet& engines, const std::optional<PreparedBases>& bases,
                                  const Job& job, std::span<const std::size_t> refused,
                                  const Progress& progress, const ZeroItems& zero) const;

  struct Resident {
    Resident(const SelectionOptions& options, gpu::Device& device, TimingClass timing)
        : engines(options, device, timing) {}
    ResidentEngines engines;
    std::optional<PreparedBases> bases;
  };

  TimingClass timing_;
  limbs::Buffer base_;
  std::uint8_t base_negative_;
  std::size_t exponent_bits_;
  unsigned threads_;
  limbs::Buffer modulus_;  ///< without leading zero limbs
  std::uint8_t negative_;  ///< sign of the modulus
  bool has_signs_;         ///< the modulus came with a sign array, so results need one
  ModulusClass modulus_class_;
  SelectionOptions selection_options_;
  Selection selection_;
  EngineSet engines_;
  std::optional<PreparedBases> bases_;  ///< none for modulus 1 or -1
  PerDevice<Resident> resident_;
};

}  // namespace manymod
