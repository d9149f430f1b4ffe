// SPDX-License-Identifier: Apache-2.0
// Fields modulo special primes in lanes: time of each function for one instance, and for those that multiply,
// the part of it that the multiplier instructions alone would take at the rate of src/arch/instruction_rates.
// batch_inverse: 256 elements in each lane, its three products an element against the whole time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "arch/instruction_rates.hpp"
#include "core/cpu_features.hpp"
#include "special_lane_loops.hpp"

#if MANYMOD_X86_64
namespace {

using manymod::CpuFeature;
using manymod::CpuFeatures;
namespace bench = manymod::bench;

/// Instructions per second: the best of several, since neighbours on the machine only slow them down.
double rate_of(std::string_view instruction) {
  static std::map<std::string_view, double> rates;
  const auto found = rates.find(instruction);
  if (found != rates.end()) return found->second;
  for (const manymod::InstructionLoop& loop : manymod::instruction_loops()) {
    if (loop.name != instruction) continue;
    double& rate = rates[instruction];
    for (int i = 0; i < 10; ++i) rate = std::max(rate, manymod::instruction_rate(loop, 0.05));
    return rate;
  }
  return 0;
}

void measure(benchmark::State& state, const bench::SpecialLaneLoop& loop, std::size_t lanes,
             std::string_view instruction) {
  const double limit = loop.instructions == 0 ? 0 : rate_of(instruction);
  for (auto _ : state) loop.run();
  const double elements = static_cast<double>(state.iterations()) * static_cast<double>(loop.elements);
  const double instances = elements * static_cast<double>(lanes);
  using benchmark::Counter;
  state.counters["s_per_instance"] = Counter(instances, Counter::kIsRate | Counter::kInvert);
  if (limit > 0)
    state.counters["limit_percent"] = Counter(100 * elements * loop.instructions / limit, Counter::kIsRate);
}

bool register_all() {
  const auto backend = [](const std::string& name, CpuFeatures needed,
                          std::span<const bench::SpecialLaneLoops> primes, std::string_view instruction) {
    if ((manymod::cpu_info().features & needed) != needed) return;
    for (const bench::SpecialLaneLoops& prime : primes) {
      for (const bench::SpecialLaneLoop& loop : prime.loop) {
        benchmark::RegisterBenchmark(
            ("special_lanes/" + name + "/" + prime.prime + "/" + loop.function).c_str(),
            [&loop, &prime, instruction](benchmark::State& state) {
              measure(state, loop, prime.lanes, instruction);
            });
      }
    }
  };
  const CpuFeatures avx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  const CpuFeatures avx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                             CpuFeature::avx512bw | CpuFeature::avx512vl;
  backend("avx512ifma", avx512 | CpuFeature::avx512ifma, bench::avx512ifma_special_lane_loops(),
          "vpmadd52_zmm");
  backend("avx512f", avx512, bench::avx512f_special_lane_loops(), "vpmuludq_zmm");
  backend("avx2", avx2, bench::avx2_special_lane_loops(), "vpmuludq_ymm");
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
#endif
