// SPDX-License-Identifier: Apache-2.0
// Functions of a field, one instance at a time on scalar code and several in the lanes of vectors.
// items_per_second counts instances.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "field/lanes.hpp"
#include "field/scalar.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/ifma52/kernels.hpp"
#include "modmul/radix29/kernels.hpp"

namespace {

using manymod::CpuFeature;
using manymod::CpuFeatures;
using manymod::Limb;
using Limbs = std::vector<Limb>;
namespace field = manymod::field;

/// 2^bits - 1 less a little, an odd number of all lengths alike.
Limbs modulus(std::size_t bits) {
  Limbs n(manymod::limbs_for_bits(bits), ~Limb{0});
  if (bits % 64 != 0) n.back() >>= 64 - bits % 64;
  n[0] -= 188;
  return n;
}

enum class Function { mul, sqr, add, sub, half, inverse };
constexpr std::size_t kBits[] = {256, 384, 521};
constexpr const char* kNames[] = {"mul", "sqr", "add", "sub", "half", "inverse"};

/// One call after the other, each on the result of the last one, as in a formula.
template <class F>
void measure(benchmark::State& state, const F& f, Function function, std::size_t instances) {
  typename F::Element one, a, b;
  f.one(one);
  f.half(a, one);
  f.normalize_weak(a, a);
  b = a;
  const auto loop = [&](auto step) {
    for (auto _ : state) {
      step();
      benchmark::DoNotOptimize(a);
      benchmark::ClobberMemory();
    }
  };
  switch (function) {
    case Function::mul:
      loop([&] { f.mul(a, a, b); });
      break;
    case Function::sqr:
      loop([&] { f.sqr(a, a); });
      break;
    case Function::add:
      loop([&] { f.add(a, b, b); });
      break;
    case Function::sub:
      loop([&] { f.sub(a, b, one); });
      break;
    case Function::half:
      loop([&] { f.half(a, b); });
      break;
    case Function::inverse:
      loop([&] { f.inverse(a, b); });
      break;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(instances));
}

template <std::size_t kLimbs>
void scalar(benchmark::State& state, Function function, std::size_t bits) {
  const auto* kernels = &manymod::scalar64::generic_kernels();
#if MANYMOD_X86_64
  const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((manymod::cpu_info().features & needed) == needed) kernels = &manymod::scalar64::adx_kernels();
#endif
  measure(state, field::ScalarField<kLimbs>(*kernels, modulus(bits)), function, 1);
}

#if MANYMOD_X86_64
void in_lanes(benchmark::State& state, const manymod::lanes::Kernels& kernels, Function function,
              std::size_t bits) {
  const Limbs n = modulus(bits);
  const std::vector<std::span<const Limb>> same(kernels.lanes, n);
  const std::size_t digits = field::lane_field_digits(kernels, bits);
  manymod::limbs::Buffer scratch;
  manymod::lanes::Moduli moduli(kernels);
  moduli.assign(same, digits, scratch);
  const std::vector<const manymod::lanes::Moduli*> vectors(field::lane_field_vectors(kernels, digits),
                                                           &moduli);
  const field::LaneField<8 * 19> f(vectors);
  measure(state, f, function, f.lanes());
}
#endif

bool register_all() {
  const auto each = [](const std::string& name, auto run) {
    for (const Function function :
         {Function::mul, Function::sqr, Function::add, Function::sub, Function::half, Function::inverse}) {
      for (const std::size_t bits : kBits) {
        benchmark::RegisterBenchmark(
            ("field/" + name + "/" + kNames[static_cast<std::size_t>(function)] + "/" + std::to_string(bits))
                .c_str(),
            [=](benchmark::State& state) { run(state, function, bits); });
      }
    }
  };
  each("scalar64", [](benchmark::State& state, Function function, std::size_t bits) {
    if (bits == 256) return scalar<4>(state, function, bits);
    return bits == 384 ? scalar<6>(state, function, bits) : scalar<9>(state, function, bits);
  });
#if MANYMOD_X86_64
  const auto lanes = [&](const std::string& name, const manymod::lanes::Kernels& kernels,
                         CpuFeatures needed) {
    if ((manymod::cpu_info().features & needed) != needed) return;
    each(name, [&kernels](benchmark::State& state, Function function, std::size_t bits) {
      in_lanes(state, kernels, function, bits);
    });
  };
  const CpuFeatures avx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  const CpuFeatures avx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                             CpuFeature::avx512bw | CpuFeature::avx512vl;
  lanes("ifma52.avx512", manymod::ifma52::avx512ifma_kernels(), avx512 | CpuFeature::avx512ifma);
  lanes("dpf52.avx512f", manymod::dpf52::avx512f_kernels().lanes, avx512);
  lanes("radix29.avx512f", manymod::radix29::avx512f_kernels(), avx512);
  lanes("dpf52.avx2", manymod::dpf52::avx2_kernels().lanes, avx2);
  lanes("radix29.avx2", manymod::radix29::avx2_kernels(), avx2);
#endif
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
