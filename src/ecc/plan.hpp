// SPDX-License-Identifier: Apache-2.0
// A plan: curves, and for each of them the engines of the devices that its options name.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/point_engine.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc {

struct Variant;

/// The engines of one curve.
class CurveEngines {
 public:
  /// Choose variants for the curve on the devices that `device` names, "auto", "cpu", "cuda", "cuda:K",
  /// "opencl" or "opencl:K": the one called `forced`, or if that is null the fastest one of the CPU and of
  /// the GPUs. GPUs share the items of a call; one that fails is left out.
  /// @throws StatusError MM_ERR_UNKNOWN_DEVICE, MM_ERR_UNKNOWN_VARIANT, MM_ERR_UNUSABLE_VARIANT; the failure
  /// of a GPU if no device is left
  CurveEngines(std::shared_ptr<const Curve> curve, const char* device, const char* forced);

  [[nodiscard]] const Curve& curve() const { return *curve_; }
  [[nodiscard]] const std::shared_ptr<const Curve>& shared_curve() const { return curve_; }
  /// Null if the options do not allow the CPU, or no variant there has the curve.
  [[nodiscard]] const PointEngine* on_cpu() const { return cpu_.get(); }
  /// Likewise on GPUs; it computes on the CPU what they fail to. At least one of the two is not null.
  [[nodiscard]] const PointEngine* on_gpu() const { return gpu_.get(); }

 private:
  std::shared_ptr<const Curve> curve_;
  std::unique_ptr<const PointEngine> cpu_;  ///< may be null
  std::unique_ptr<const PointEngine> gpu_;  ///< may be null
};

/// The nanoseconds after which `threads` threads are expected to have computed `items` items, each of which
/// takes item_ns on one thread.
double expected_cpu_ns(const PointEngine& engine, double item_ns, std::size_t items, unsigned threads);
/// The number of items that a thread gives to the engine's GPUs at a time; arguments as below. Usually it is
/// the engine's granularity, for sums a multiple of it. If the threads' own part of such a chunk would take
/// longer than the GPUs take for all items, it is smaller, so that every thread gets a share of the items.
std::size_t gpu_granule(const PointEngine& engine, PointOperation operation, double item_ns,
                        std::size_t items, unsigned threads);
/// The same on the engine's GPUs. item_ns includes the time that the operation takes on one GPU, which all
/// threads share.
double expected_gpu_ns(const PointEngine& engine, PointOperation operation, double item_ns, std::size_t items,
                       unsigned threads);

class Plan {
 public:
  /// @throws StatusError for options that are wrong or that no variant can serve
  Plan(const mm_ecc_plan_options& options, std::span<const std::shared_ptr<const Curve>> curves);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] std::size_t size() const { return curves_.size(); }
  [[nodiscard]] const CurveEngines& curve(std::size_t index) const { return *curves_[index]; }
  [[nodiscard]] unsigned threads() const { return threads_; }  ///< 0: default_threads()
  /// The GPUs that compute on a curve, if there are enough items: the maximum over all curves.
  [[nodiscard]] unsigned gpus() const;
  /// See mm_ecc_plan_variant.
  [[nodiscard]] const char* variant_name(std::size_t index) const;

  /// @throws StatusError for a malformed call, or one that libcrypto or a device fails
  mm_status run(const mm_ecc_call& call) const;

 private:
  unsigned threads_;
  std::vector<std::shared_ptr<const CurveEngines>> curves_;
};

}  // namespace manymod::ecc
