// SPDX-License-Identifier: Apache-2.0
#include "modmul/scalar64/variants.hpp"

// The engine of technique scalar64 and its rows in the registry.
#include <algorithm>

#include "engine/cpu_requirements.hpp"
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

class Scalar64Engine final : public Engine {
 public:
  explicit Scalar64Engine(const Kernels& kernels) : kernels_(kernels) {}

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return std::make_unique<PreparedSharedModulus>(kernels_, modulus, parts_needed(op, timing, true));
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    return prepare_comb(kernels_, base, modulus, exponent_bits, timing, stop);
  }

  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const override {
    if (job.op == Operation::invmod) return job.shared != nullptr ? kInversionBlock : 1;
    return lanes_for(modulus_limbs);
  }

  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    const auto limbs = static_cast<double>(modulus_limbs);
    const double product_ns = 8 + 0.65 * limbs * limbs;
    // The cost of reducing operands that are wider than the modulus.
    const auto terms = static_cast<double>(has_terms(job.op) ? job.terms : 1);
    const double excess_limbs = terms * (excess(job.x.width, modulus_limbs) +
                                         (has_exponent(job.op) ? 0 : excess(job.y.width, modulus_limbs))) +
                                excess(job.z.width, modulus_limbs);
    return excess_limbs * (3 + 1.5 * limbs) + reduced_cost_ns(job, limbs, product_ns);
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    const BucketRun bucket{kernels_, job, items, modulus_limbs};
    const bool secret = job.timing == TimingClass::secret;
    switch (job.op) {
      case Operation::addmod:
      case Operation::submod:
      case Operation::negmod:
        return secret ? run_linear_secret(bucket) : run_add_sub_neg(bucket);
      case Operation::mulmod:
      case Operation::sqrmod:
      case Operation::fmamod:
        return secret ? run_linear_secret(bucket) : run_mul_sqr(bucket);
      case Operation::summod:
      case Operation::dotmod:
        return secret ? run_linear_secret(bucket) : run_sums(bucket);
      case Operation::prodmod:
        return secret ? run_linear_secret(bucket) : run_products(bucket);
      case Operation::invmod:
        return run_inverse(bucket);
      case Operation::powmod:
        return run_power(bucket);
      case Operation::multi_powmod:
        return run_multi_power(bucket);
      case Operation::fixed_base_powmod:
        return run_fixed_base_power(bucket);
    }
  }

 private:
  const Kernels& kernels_;

  /// The limbs by which an operand is wider than the modulus.
  static double excess(std::size_t width, std::size_t limbs) {
    return width > limbs ? static_cast<double>(width - limbs) : 0;
  }

  /// The cost for operands no wider than the modulus.
  static double reduced_cost_ns(const Job& job, double limbs, double product_ns) {
    const double bits = static_cast<double>(job.y.width * kLimbBits);
    // Constant-time products are computed in Montgomery form, which a modulus of their own needs; operands of
    // constant-time sums are reduced by a quotient digit.
    const bool secret = job.timing == TimingClass::secret;
    const double preparation_ns = job.shared == nullptr ? 20 * product_ns : 0;
    const double digit_ns =
        job.shared == nullptr ? 150 : 0;  // what constant-time division needs of a modulus
    const double preparation_of_terms_ns = secret ? preparation_ns : 0;
    const auto terms = static_cast<double>(job.terms);
    switch (job.op) {
      case Operation::addmod:
      case Operation::submod:
      case Operation::negmod:
        return secret ? 40 + digit_ns + 12 * limbs : 10 + 3 * limbs;
      case Operation::mulmod:
      case Operation::sqrmod:
        return 40 + 2 * product_ns + (secret ? preparation_ns : 0);
      case Operation::fmamod:
        return 40 + 2 * product_ns + preparation_of_terms_ns;
      case Operation::summod:
        return secret ? digit_ns + terms * (20 + 6 * limbs) : 40 + product_ns + terms * (4 + limbs);
      case Operation::dotmod:
        return 40 + product_ns + terms * (secret ? 2.5 : 0.6) * product_ns + preparation_of_terms_ns;
      case Operation::prodmod:
        return 40 + (terms + 20) * product_ns + preparation_of_terms_ns;
      case Operation::invmod:
        return job.shared != nullptr && job.timing == TimingClass::public_ ? 8 * product_ns
                                                                           : 300 * limbs + 8 * product_ns;
      case Operation::multi_powmod:
        return product_ns * (bits + static_cast<double>(job.terms) * (bits / 6 + 8));
      case Operation::fixed_base_powmod:
        return product_ns * (10 + bits / 6);
      case Operation::powmod:
        break;
    }
    return product_ns * (20 + 1.2 * bits);
  }
};

Variant make_variant(const std::string& shape, std::string summary) {
  Variant variant;
  variant.name = "scalar64." + shape;
  variant.technique = "scalar64";
  variant.public_operations = kAllOperations;
  variant.secret_operations = kAllOperations & ~operation_bit(Operation::multi_powmod);
  variant.summary = std::move(summary);
  return variant;
}

}  // namespace

std::unique_ptr<Engine> make_fastest_engine() { return std::make_unique<Scalar64Engine>(fastest_kernels()); }

void register_variants(std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant adx = make_variant("adx", "64-bit limbs, two carry chains by mulx, adcx and adox");
  adx.requirements = cpu_requirements(CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2);
  adx.priority = 20;
  adx.make_engine = [](unsigned) -> std::unique_ptr<Engine> {
    return std::make_unique<Scalar64Engine>(adx_kernels());
  };
  variants.push_back(std::move(adx));
#endif
  Variant generic = make_variant("generic", "64-bit limbs in portable C++");
  generic.priority = 10;
  generic.make_engine = [](unsigned) -> std::unique_ptr<Engine> {
    return std::make_unique<Scalar64Engine>(generic_kernels());
  };
  variants.push_back(std::move(generic));
}

}  // namespace manymod::scalar64
