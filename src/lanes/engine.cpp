// SPDX-License-Identifier: Apache-2.0
#include "lanes/engine.hpp"

#include <algorithm>

#include "engine/cpu_requirements.hpp"
#include "lanes/group.hpp"
#include "lanes/operations.hpp"

namespace manymod::lanes {
namespace {

constexpr std::size_t kFusedLimbs = 8;

class LaneEngine final : public Engine {
 public:
  explicit LaneEngine(const Kernels& kernels) : kernels_(kernels) {}

  /// Accepts odd moduli and exponents >= 0. Accepts products in variable time only if several items share the
  /// modulus: a single product is computed by long division in less time than the preparation of a modulus
  /// takes. Sums with products of up to kFusedLimbs limbs are as fast without vectors. In constant time the
  /// division would take longer than Montgomery products of lanes with a modulus each.
  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    const bool secret = job.timing == TimingClass::secret;
    if (!secret && (job.modulus.magnitude(item)[0] & 1) == 0) return false;
    if (contains(kProductOperations, job.op)) {
      if (secret) return true;
      if (job.op == Operation::fmamod && job.modulus.width <= kFusedLimbs) return false;
      return job.modulus.broadcast() && job.result.count > 1;
    }
    return !job.y.is_negative(item);
  }

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation,
                                                         TimingClass) const override {
    return std::make_unique<PreparedLanes>(kernels_, modulus);
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    return prepare_comb(kernels_, base, modulus, exponent_bits, timing, stop);
  }

  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t modulus_limbs) const override {
    return kernels_.lanes * vectors_for(kernels_, modulus_limbs);
  }

  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    const auto digits = static_cast<double>(kernels_.digits_for(modulus_limbs * kLimbBits));
    const double product_ns =
        (10 + kernels_.digit_pair_ns * digits * digits) / static_cast<double>(kernels_.lanes);
    const auto bits = static_cast<double>(job.y.width * kLimbBits);
    switch (job.op) {
      case Operation::mulmod:
      case Operation::sqrmod:
      case Operation::fmamod:
        return (job.shared != nullptr ? 4 : 20) * product_ns + 4 * digits;
      case Operation::fixed_base_powmod:
        return product_ns * (10 + bits / 6);
      default:
        return product_ns * (40 + 1.2 * bits);
    }
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    const BucketRun bucket{kernels_, job, items, modulus_limbs};
    switch (job.op) {
      case Operation::mulmod:
      case Operation::sqrmod:
      case Operation::fmamod:
        return run_product(bucket);
      case Operation::fixed_base_powmod:
        return run_fixed_base_power(bucket);
      default:
        return run_power(bucket);
    }
  }

 private:
  const Kernels& kernels_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Kernels& kernels) { return std::make_unique<LaneEngine>(kernels); }

Variant make_variant(std::string technique, const std::string& shape, const Kernels& kernels,
                     CpuFeatures features) {
  Variant variant;
  variant.name = technique + "." + shape;
  variant.technique = std::move(technique);
  variant.public_operations =
      kProductOperations | operation_bit(Operation::powmod) | operation_bit(Operation::fixed_base_powmod);
  variant.secret_operations = variant.public_operations;
  variant.shared_modulus_operations = kProductOperations;
  variant.max_bits =
      std::min(kMaxModulusBits, kernels.max_digits * kernels.digit_bits - kernels.headroom_bits);
  variant.accepts_every_item = false;
  variant.instances = static_cast<unsigned>(kernels.lanes);
  variant.requirements = cpu_requirements(features);
  return variant;
}

}  // namespace manymod::lanes
