// SPDX-License-Identifier: Apache-2.0
// Functions of a field on scalar code. special_lane_bench.cpp has fields in lanes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "field/scalar.hpp"

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
void measure(benchmark::State& state, const F& f, Function function) {
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
  state.SetItemsProcessed(state.iterations());
}

template <std::size_t kLimbs>
void scalar(benchmark::State& state, Function function, std::size_t bits) {
  const auto* kernels = &manymod::scalar64::generic_kernels();
#if MANYMOD_X86_64
  const CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((manymod::cpu_info().features & needed) == needed) kernels = &manymod::scalar64::adx_kernels();
#endif
  measure(state, field::ScalarField<kLimbs>(*kernels, modulus(bits)), function);
}

bool register_all() {
  for (const Function function :
       {Function::mul, Function::sqr, Function::add, Function::sub, Function::half, Function::inverse}) {
    for (const std::size_t bits : kBits) {
      benchmark::RegisterBenchmark(
          ("field/scalar64/" + std::string(kNames[static_cast<std::size_t>(function)]) + "/" +
           std::to_string(bits))
              .c_str(),
          [=](benchmark::State& state) {
            if (bits == 256) return scalar<4>(state, function, bits);
            return bits == 384 ? scalar<6>(state, function, bits) : scalar<9>(state, function, bits);
          });
    }
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
