// SPDX-License-Identifier: Apache-2.0
// Composes a plan's list of choices from the variants that are usable.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/candidates.hpp"
#include "dispatch/selection.hpp"
#include "dispatch/tuning.hpp"

namespace manymod {

/// For one list of choices. The request, the tuning rows and the candidates' variants and devices must
/// outlive it. select_variants says which choices there are.
class Chooser {
 public:
  /// `usable`: the variants usable on the requested devices. `on_cpu`: those usable on the CPU, among which
  /// the general variant is looked for if none of `usable` is general.
  Chooser(const VariantRequest& request, std::span<const TuningRow> tuning, std::vector<Candidate> usable,
          std::vector<Candidate> on_cpu);

  /// The choices without a forced variant. On input: some variant is usable.
  Selection best();
  /// The choices where `candidate` is forced.
  Selection forced(const Candidate& candidate);

 private:
  const VariantRequest& request_;
  std::span<const TuningRow> tuning_;
  std::vector<Candidate> usable_, on_cpu_;  // highest priority first
  const Device* largest_gpu_;
  Selection chosen_;

  // ---- candidates ---------------------------------------------------------------------------------------

  // The one of `among` that the row names, if the row is for the request; else null.
  [[nodiscard]] const Candidate* named_by(const TuningRow& row, const std::vector<Candidate>& among) const;
  [[nodiscard]] bool computes_rows(const Candidate& candidate) const;
  // The variant for rows on GPUs that were requested by name; null if there is none.
  [[nodiscard]] const Candidate* row_variant() const;
  // The GPU variant for items that the row variant does not accept: the one chosen for the largest batches if
  // there were no row variant. Null if there is no other, or if the choices have no variant for rows.
  [[nodiscard]] const Candidate* after_rows() const;
  // The best variant that accepts every item; null if there is none.
  [[nodiscard]] const Candidate* general_variant_of(const std::vector<Candidate>& among) const;
  // Most CPUs compute a sum or a product in less time than the copies of its operands to a GPU and of its
  // result back take.
  [[nodiscard]] bool transfer_pays(const Candidate& candidate) const;
  // False for a candidate on GPUs that would leave the largest one idle.
  [[nodiscard]] bool uses_largest_gpu(const Candidate& candidate) const;

  // ---- choices ------------------------------------------------------------------------------------------

  [[nodiscard]] Choice choice_of(const Candidate& candidate, std::size_t min_items) const;
  // Ignored unless its min_items is below that of the choices before it.
  void add(const Candidate& candidate, std::size_t min_items);
  // Adds the usable variants that meet `condition`, if there is no choice yet.
  template <class Condition>
  void add_unmeasured(Condition&& condition);
  // Adds the choices for what the others do not accept, and for failover.
  Selection with_fallback();
};

}  // namespace manymod
