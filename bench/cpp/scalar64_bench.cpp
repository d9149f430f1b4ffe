// SPDX-License-Identifier: Apache-2.0
// One core, no batch around it: the multiplication, squaring and exponentiation of scalar64, and what stands
// beside them. Counter `mulx_per_ns` is word products a nanosecond, of at most one a cycle.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "dispatch/obstacles.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"
#include "manymod/manymod.h"
#include "modinv/safegcd.hpp"
#include "modmul/division.hpp"
#include "modmul/scalar64/montgomery.hpp"
#include "random_limbs.hpp"

namespace manymod {
namespace {

using Limbs = std::vector<Limb>;

Limbs random_modulus(std::size_t limbs) {
  Limbs n = random_limbs(limbs);
  n.front() |= 1;
  n.back() |= Limb{1} << 63;
  return n;
}

Limbs random_residue(const Limbs& n) {
  Limbs x = random_limbs(n.size());
  x.back() >>= 1;
  return x;
}

/// Two elements in turn, as the lanes of an exponentiation are.
template <class Step>
void run_montgomery(benchmark::State& state, const scalar64::Kernels& kernels, double word_products,
                    Step step) {
  const auto limbs = static_cast<std::size_t>(state.range(0)) / kLimbBits;
  const Limbs n = random_modulus(limbs);
  scalar64::Montgomery mont(kernels);
  mont.assign(n);
  std::array<Limbs, 2> element{random_residue(n), random_residue(n)};
  Limbs scratch(scalar64::Montgomery::scratch_limbs(limbs));
  for (auto _ : state) {
    for (Limbs& value : element) step(mont, value.data(), scratch.data());
  }
  state.SetItemsProcessed(2 * static_cast<std::int64_t>(state.iterations()));
  state.counters["mulx_per_ns"] = benchmark::Counter(
      2 * word_products * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void montgomery_multiply(benchmark::State& state, const scalar64::Kernels* kernels) {
  const double limbs = static_cast<double>(state.range(0)) / kLimbBits;
  run_montgomery(
      state, *kernels, 2 * limbs * limbs + limbs,
      [](const scalar64::Montgomery& mont, Limb* x, Limb* scratch) { mont.mul(x, x, mont.one(), scratch); });
}

void montgomery_square(benchmark::State& state, const scalar64::Kernels* kernels) {
  const double limbs = static_cast<double>(state.range(0)) / kLimbBits;
  run_montgomery(state, *kernels, 1.5 * limbs * (limbs + 1),
                 [](const scalar64::Montgomery& mont, Limb* x, Limb* scratch) { mont.sqr(x, x, scratch); });
}

void remainder_of_product(benchmark::State& state) {
  const auto limbs = static_cast<std::size_t>(state.range(0)) / kLimbBits;
  Divisor divisor;
  divisor.assign(random_modulus(limbs));
  const Limbs u = random_limbs(2 * limbs);
  Limbs r(limbs);
  Limbs scratch(Divisor::scratch_limbs(2 * limbs));
  for (auto _ : state) {
    divisor.remainder_var(r, u, scratch.data());
    benchmark::DoNotOptimize(r.data());
  }
}

void inverse(benchmark::State& state, bool constant_time) {
  const auto limbs = static_cast<std::size_t>(state.range(0)) / kLimbBits;
  const Limbs n = random_modulus(limbs);
  const Limbs x = random_residue(n);
  SafeGcd gcd;
  gcd.assign(n);
  Limbs r(limbs);
  for (auto _ : state) {
    benchmark::DoNotOptimize(constant_time ? gcd.invert(r, x) : gcd.invert_var(r, x));
  }
}

/// A batch through the C ABI: what one item costs with everything around it.
void batch(benchmark::State& state, const std::string& variant, mm_op op, mm_timing timing,
           mm_modulus_kind kind) {
  const auto bits = static_cast<std::size_t>(state.range(0));
  const auto count = static_cast<std::size_t>(state.range(1));
  const std::size_t limbs = bits / kLimbBits;
  const std::size_t moduli = kind == MM_MODULUS_SHARED ? 1 : count;
  Limbs n;
  for (std::size_t i = 0; i < moduli; ++i) {
    const Limbs one = random_modulus(limbs);
    n.insert(n.end(), one.begin(), one.end());
  }
  const Limbs x = random_limbs(count * limbs);
  const Limbs y = random_limbs(count * limbs);
  Limbs result(count * limbs);
  mm_plan_options options{};
  options.struct_size = sizeof(options);
  options.op = op;
  options.timing = timing;
  options.modulus_kind = kind;
  options.modulus_bits = bits;
  options.variant = variant.c_str();
  options.threads = 1;
  mm_plan* plan = nullptr;
  if (mm_plan_create(&options, &plan) != MM_OK) {
    state.SkipWithError(mm_last_error());
    return;
  }
  mm_call call{};
  call.struct_size = sizeof(call);
  call.count = count;
  call.x = {x.data(), count, limbs, limbs, nullptr};
  call.y = {y.data(), count, limbs, limbs, nullptr};
  call.modulus = {n.data(), moduli, limbs, limbs, nullptr};
  call.result = {result.data(), count, limbs, limbs, nullptr};
  for (auto _ : state) {
    if (mm_plan_run(plan, &call) != MM_OK) state.SkipWithError(mm_last_error());
  }
  mm_plan_destroy(plan);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(count));
}

void register_kernels(const std::string& name, const scalar64::Kernels& kernels) {
  for (const std::int64_t bits : {64, 256, 512, 768, 1024, 2048, 4096}) {
    benchmark::RegisterBenchmark(("montgomery_multiply/" + name).c_str(), montgomery_multiply, &kernels)
        ->Arg(bits);
    benchmark::RegisterBenchmark(("montgomery_square/" + name).c_str(), montgomery_square, &kernels)
        ->Arg(bits);
  }
}

/// What the variant computes itself: others, such as products with a modulus for each item in vector
/// techniques, would be another variant's time.
void register_batches(const Variant& variant) {
  const auto add = [&](const char* name, mm_op op, mm_timing timing, mm_modulus_kind kind, std::int64_t bits,
                       std::int64_t count) {
    const auto timing_class = timing == MM_TIMING_SECRET ? TimingClass::secret : TimingClass::public_;
    if (!offers(variant, static_cast<Operation>(op), timing_class)) return;
    benchmark::RegisterBenchmark((std::string("batch/") + name + "/" + variant.name).c_str(), batch,
                                 variant.name, op, timing, kind)
        ->Args({bits, count});
  };
  for (const std::int64_t bits : {256, 1024, 2048}) {
    if (variant.accepts_every_item)
      add("mulmod", MM_OP_MULMOD, MM_TIMING_PUBLIC, MM_MODULUS_EACH, bits, 1000);
    add("mulmod_shared", MM_OP_MULMOD, MM_TIMING_PUBLIC, MM_MODULUS_SHARED, bits, 1000);
    add("addmod", MM_OP_ADDMOD, MM_TIMING_PUBLIC, MM_MODULUS_EACH, bits, 1000);
    add("powmod", MM_OP_POWMOD, MM_TIMING_PUBLIC, MM_MODULUS_EACH, bits, 16);
    add("powmod_secret", MM_OP_POWMOD, MM_TIMING_SECRET, MM_MODULUS_EACH, bits, 16);
  }
}

void register_all() {
  register_kernels("generic", scalar64::generic_kernels());
#if MANYMOD_X86_64
  const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((cpu_info().features & needed) == needed) register_kernels("adx", scalar64::adx_kernels());
#endif
  for (const std::int64_t bits : {64, 256, 1024, 2048}) {
    benchmark::RegisterBenchmark("remainder_of_product", remainder_of_product)->Arg(bits);
    benchmark::RegisterBenchmark("inverse/constant_time", inverse, true)->Arg(bits);
    benchmark::RegisterBenchmark("inverse/variable_time", inverse, false)->Arg(bits);
  }
  for (const Variant& variant : registry()) {
    if (hardware_obstacle(variant, catalogue("cpu").devices).empty()) register_batches(variant);
  }
}

}  // namespace
}  // namespace manymod

int main(int argc, char** argv) {
  manymod::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
