// SPDX-License-Identifier: Apache-2.0
// One case to measure: calls of one plan.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "operands.hpp"

namespace manymod::bench {

enum class Exponents : std::uint8_t { none, each, shared, f4 };  // F4 = 65537
enum class Results : std::uint8_t { kept, fresh };

struct Case {
  mm_op op = MM_OP_POWMOD;
  mm_timing timing = MM_TIMING_PUBLIC;
  unsigned bits = 0;
  Exponents exponents = Exponents::none;
  Results results = Results::kept;  ///< fresh: in newly allocated memory with each call
  bool on_device = false;           ///< arrays
  std::string device;               ///< that computes

  [[nodiscard]] const char* operation() const;
  [[nodiscard]] const char* timing_class() const { return timing == MM_TIMING_SECRET ? "secret" : "public"; }
  [[nodiscard]] const char* exponents_name() const;
  /// Of an item's operands and result, without what all items share.
  [[nodiscard]] std::size_t bytes_per_item() const;
};

class CaseRun {
 public:
  /// @throws std::runtime_error where there is no such plan
  CaseRun(const Case& what, Operands& operands);

  /// One call. @return seconds. @throws std::runtime_error
  double call(std::size_t items);
  [[nodiscard]] std::string variant(std::size_t items) const {
    return mm_plan_variant_for(plan_.get(), items);
  }

  struct Verdict {
    std::size_t checked = 0;
    std::string wrong;  ///< "" or what is
  };
  /// Call once more, and compare some of the results with the processor's.
  [[nodiscard]] Verdict check(std::size_t items);

 private:
  struct Destroy {
    void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
  };
  using Plan = std::unique_ptr<mm_plan, Destroy>;

  const Case& what_;
  Operands& operands_;
  Plan plan_;
  std::unique_ptr<std::uint64_t[]> fresh_;  // results of the last call

  [[nodiscard]] Plan make_plan(const char* device) const;
  [[nodiscard]] mm_view exponent_view(std::size_t items, bool on_device) const;
  [[nodiscard]] mm_call call_of(std::size_t items) const;
  [[nodiscard]] std::vector<std::uint64_t> expected(mm_plan* plan, std::size_t item) const;
  [[nodiscard]] std::vector<std::uint64_t> result(std::size_t item) const;
};

}  // namespace manymod::bench
