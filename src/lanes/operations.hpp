// SPDX-License-Identifier: Apache-2.0
// The operations of the lane engine on a bucket of items; engine.cpp chooses among them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "lanes/kernels.hpp"

namespace manymod::lanes {

/// Items of a bucket, all accepted, and what is common to them.
struct BucketRun {
  const Kernels& kernels;
  const Job& job;
  Items items;
  std::size_t limbs;  ///< of every modulus in the bucket
};

void run_product(const BucketRun& run);
void run_power(const BucketRun& run);
void run_fixed_base_power(const BucketRun& run);

/// Null if a stop was requested.
std::unique_ptr<PreparedBase> prepare_comb(const Kernels& kernels, const BatchView& base,
                                           std::span<const Limb> modulus, std::size_t exponent_bits,
                                           TimingClass timing, const StopToken& stop);

/// Reading one table entry by `select`, in Montgomery products of L digits: about kScanCost / L.
inline constexpr double kScanCost = 0.25;

}  // namespace manymod::lanes
