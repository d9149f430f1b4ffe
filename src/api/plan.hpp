// SPDX-License-Identifier: Apache-2.0
// A plan: one operation, timing class and modulus kind, for which variants are selected once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/batch_run.hpp"
#include "api/modulus_cache.hpp"
#include "api/resident.hpp"
#include "dispatch/selection.hpp"
#include "dispatch/selection_options.hpp"
#include "exec/engine_set.hpp"
#include "manymod/manymod.h"

namespace manymod {

class Plan {
 public:
  /// @throws StatusError for options that are wrong or that no variant can serve
  explicit Plan(const mm_plan_options& options);

  /// @throws StatusError for a malformed call
  mm_status run(const mm_call& call) const;

  /// See Selection::for_items.
  [[nodiscard]] const std::string& variant_name(std::size_t items = SIZE_MAX) const {
    return selection_.for_items(items).name;
  }

 private:
  struct Resident {
    Resident(const SelectionOptions& options, gpu::Device& device, TimingClass timing)
        : engines(options, device, timing), moduli(engines.engines()) {}
    ResidentEngines engines;
    ModulusCache moduli;
  };

  [[nodiscard]] mm_status run_resident(const mm_call& call, Job& job) const;
  /// As whole rows. @return nothing if the modulus that all items share is not computed with
  [[nodiscard]] std::optional<mm_status> run_rows(const mm_call& call, const Resident& resident,
                                                  ResidentCall& arrays, Job& job) const;
  [[nodiscard]] mm_status compute(const EngineSet& engines, const ModulusCache& moduli, const Job& job,
                                  const Progress& progress, const ZeroItems& zero) const;

  [[nodiscard]] BucketedBatch bucketed(const Job& job) const;

  Operation op_;
  TimingClass timing_;
  bool shared_;
  std::size_t modulus_bits_;
  unsigned threads_;
  SelectionOptions selection_options_;
  Selection selection_;
  EngineSet engines_;
  ModulusCache moduli_;
  PerDevice<Resident> resident_;
};

}  // namespace manymod
