// SPDX-License-Identifier: Apache-2.0
// Short notations for plans and calls of the C ABI.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manymod/manymod.h"

namespace manymod::testing {

struct DestroyPlan {
  void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
};
using PlanPointer = std::unique_ptr<mm_plan, DestroyPlan>;

struct DestroyFixedBase {
  void operator()(mm_fixed_base* fixed_base) const { mm_fixed_base_destroy(fixed_base); }
};
using FixedBasePointer = std::unique_ptr<mm_fixed_base, DestroyFixedBase>;

inline mm_plan_options plan_options(mm_op op, mm_timing timing = MM_TIMING_PUBLIC,
                                    std::size_t modulus_bits = 64, mm_modulus_kind kind = MM_MODULUS_EACH) {
  mm_plan_options options{};
  options.struct_size = sizeof options;
  options.op = op;
  options.timing = timing;
  options.modulus_kind = kind;
  options.modulus_bits = modulus_bits;
  return options;
}

/// A plan, or null and a test failure.
inline PlanPointer make_plan(const mm_plan_options& options) {
  mm_plan* plan = nullptr;
  EXPECT_EQ(mm_plan_create(&options, &plan), MM_OK) << mm_last_error();
  return PlanPointer(plan);
}

inline mm_call make_call(const mm_view& x, const mm_view& y, const mm_view& modulus, const mm_result& result,
                         std::uint8_t* item_status = nullptr) {
  mm_call call{};
  call.struct_size = sizeof call;
  call.count = result.count;
  call.x = x;
  call.y = y;
  call.modulus = modulus;
  call.result = result;
  call.item_status = item_status;
  return call;
}

inline std::size_t usable_gpus() {
  std::size_t gpus = 0;
  for (std::size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(mm_device_get(i, &info), MM_OK);
    if (info.backend == MM_BACKEND_CUDA && std::string_view(info.obstacle).empty()) ++gpus;
  }
  return gpus;
}

/// Registered variants that this machine can run. `usable` is determined once per process, possibly while a
/// fake GPU was installed by an earlier test; without a GPU now, CUDA variants are omitted.
inline std::vector<mm_variant_info> usable_variants() {
  const bool has_gpu = usable_gpus() > 0;
  std::vector<mm_variant_info> usable;
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(mm_variant_get(i, &info), MM_OK);
    if (info.usable != 0 && (has_gpu || info.backend != MM_BACKEND_CUDA)) usable.push_back(info);
  }
  return usable;
}

inline std::vector<mm_variant_info> cuda_variants() {
  std::vector<mm_variant_info> variants = usable_variants();
  std::erase_if(variants, [](const mm_variant_info& variant) { return variant.backend != MM_BACKEND_CUDA; });
  return variants;
}

inline bool offers(const mm_variant_info& variant, mm_op op, mm_timing timing) {
  const unsigned set = timing == MM_TIMING_SECRET ? variant.secret_ops : variant.public_ops;
  return ((set >> op) & 1u) != 0;
}

/// Whether a plan with these options may force the variant.
inline bool serves(const mm_variant_info& variant, const mm_plan_options& options) {
  return offers(variant, options.op, options.timing) && variant.min_bits <= options.modulus_bits &&
         options.modulus_bits <= variant.max_bits;
}

}  // namespace manymod::testing
