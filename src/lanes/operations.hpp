// SPDX-License-Identifier: Apache-2.0
// The operations of the lane engine on a bucket of items. engine.cpp dispatches to them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "lanes/kernels.hpp"

namespace manymod::lanes {

/// Items of one bucket, all accepted by the engine and with moduli of the same limb count, and the job they
/// belong to.
struct BucketRun {
  const Kernels& kernels;
  const Job& job;
  Items items;
  std::size_t limbs;  ///< of every modulus in the bucket
};

// Each computes the items of a bucket and stores results and statuses. If a stop is requested, it returns
// early.
void run_product(const BucketRun& run);
void run_power(const BucketRun& run);
void run_fixed_base_power(const BucketRun& run);

/// A comb of `base` for fixed_base_powmod with exponents of up to `exponent_bits` bits. Null if a stop was
/// requested.
std::unique_ptr<PreparedBase> prepare_comb(const Kernels& kernels, const BatchView& base,
                                           std::span<const Limb> modulus, std::size_t exponent_bits,
                                           TimingClass timing, const StopToken& stop);

/// The cost of reading one table entry by `select`, as a fraction of a Montgomery product of L digits:
/// kScanCost / L.
inline constexpr double kScanCost = 0.25;

}  // namespace manymod::lanes
