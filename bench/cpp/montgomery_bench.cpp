// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication and squaring of the vector techniques, kernels alone (ifma52.row:
// montgomery_latency_bench.cpp):
//
//   montgomery/{mul,sqr}/TECHNIQUE/BITS         a batch in L2, each instance with its own modulus; on one
//                                               thread and on all
//   montgomery/{mul,sqr}_chain/TECHNIQUE/BITS   each result the next operand: latency
//
// Counters: instances a second; instructions that one call executes, by class (executed_instructions.hpp);
// the core's frequency during the run; percent of the limit that vpmadd52 alone sets (2 L^2 for a product,
// L (L + 1) for a square, 2 L^2 + L for a reduction, L = ceil(bits / 52), eight instances a vector).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <string_view>

#include "arch/instruction_rates.hpp"
#include "arch/scalar/word.hpp"
#include "core/cpu_features.hpp"
#include "executed_instructions.hpp"
#include "lanes/kernels.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/ifma52/kernels.hpp"
#include "modmul/radix29/kernels.hpp"
#include "modmul/vcpc512/kernels.hpp"

#if MANYMOD_X86_64

namespace manymod {
namespace {

constexpr CpuFeatures kAvx2 = CpuFeature::avx2 | CpuFeature::fma | CpuFeature::bmi2;
constexpr CpuFeatures kAvx512 = CpuFeature::avx512f | CpuFeature::avx512dq | CpuFeature::avx512bw |
                                CpuFeature::avx512vl | CpuFeature::bmi2;

struct Technique {
  std::string_view name;
  CpuFeatures needs;
  const lanes::Kernels& (*kernels)();
};

constexpr Technique kTechniques[] = {
    {"ifma52.avx512", kAvx512 | CpuFeature::avx512ifma, ifma52::avx512ifma_kernels},
    {"radix29.avx512f", kAvx512, radix29::avx512f_kernels},
    {"radix29.avx2", kAvx2, radix29::avx2_kernels},
    {"dpf52.avx512f", kAvx512, []() -> const lanes::Kernels& { return dpf52::avx512f_kernels().lanes; }},
    {"dpf52.avx2", kAvx2, []() -> const lanes::Kernels& { return dpf52::avx2_kernels().lanes; }},
    {"vcpc512.avx512f", kAvx512, vcpc512::avx512f_kernels},
};

constexpr std::size_t kWidths[] = {256, 384, 512, 1024, 1536, 2048, 3072, 4096};
constexpr std::size_t kBatchBytes = 1U << 20;

/// Zeroed words at 64-byte boundaries, as elements need them.
class AlignedWords {
 public:
  explicit AlignedWords(std::size_t count) : words_(new(std::align_val_t{64}) Limb[count]{}) {}
  ~AlignedWords() { operator delete[](words_, std::align_val_t{64}); }
  AlignedWords(const AlignedWords&) = delete;
  AlignedWords& operator=(const AlignedWords&) = delete;
  Limb* data() { return words_; }

 private:
  Limb* words_;
};

/// `count` elements a, b and their moduli, r = a b / R mod n for each.
struct Batch {
  const lanes::Kernels& kernels;
  std::size_t bits, count, digits, element, block;
  AlignedWords a, b, r, moduli, scratch;
  std::mt19937_64 random{7};

  Batch(const lanes::Kernels& k, std::size_t width, std::size_t elements)
      : kernels(k),
        bits(width),
        count(elements),
        digits(k.digits_for(width)),
        element(round_up(digits * k.lanes)),
        block(round_up((digits + 1) * k.lanes)),
        a(count * element),
        b(count * element),
        r(count * element),
        moduli(count * block),
        scratch(k.scratch_words ? round_up(k.scratch_words(digits)) + 8 : 8) {
    for (std::size_t i = 0; i < count; ++i) {
      // Below 2^(bits-1), so below the modulus.
      fill(a.data() + i * element, bits - 1);
      fill(b.data() + i * element, bits - 1);
      fill_modulus(moduli.data() + i * block);
    }
  }

  void mul(std::size_t i) {
    kernels.mul(r.data() + i * element, a.data() + i * element, b.data() + i * element,
                moduli.data() + i * block, digits, scratch.data());
  }
  void sqr(std::size_t i) {
    kernels.sqr(r.data() + i * element, a.data() + i * element, moduli.data() + i * block, digits,
                scratch.data());
  }
  void mul_chain() { kernels.mul(a.data(), a.data(), b.data(), moduli.data(), digits, scratch.data()); }
  void sqr_chain() { kernels.sqr(a.data(), a.data(), moduli.data(), digits, scratch.data()); }

 private:
  static constexpr std::size_t round_up(std::size_t words) { return (words + 7) / 8 * 8; }

  [[nodiscard]] Limb digit_mask(std::size_t digit, std::size_t width) const {
    const std::size_t start = digit * kernels.digit_bits;
    if (start >= width) return 0;
    const std::size_t used = width - start < kernels.digit_bits ? width - start : kernels.digit_bits;
    return used == 64 ? ~Limb{0} : (Limb{1} << used) - 1;
  }

  void fill(Limb* words, std::size_t width) {
    for (std::size_t d = 0; d < digits; ++d) {
      for (std::size_t lane = 0; lane < kernels.lanes; ++lane) {
        words[d * kernels.lanes + lane] = random() & digit_mask(d, width);
      }
    }
  }

  void fill_modulus(Limb* words) {
    fill(words, bits);
    const std::size_t top = (bits - 1) / kernels.digit_bits;
    for (std::size_t lane = 0; lane < kernels.lanes; ++lane) {
      words[lane] |= 1;
      words[top * kernels.lanes + lane] |= Limb{1} << ((bits - 1) % kernels.digit_bits);
      words[digits * kernels.lanes + lane] = word::negated_inverse(words[lane]) & digit_mask(0, bits);
    }
  }
};

/// Rate of one instruction now; 0 where the CPU lacks it.
double rate_of(std::string_view name) {
  for (const InstructionLoop& loop : instruction_loops()) {
    if (loop.name == name && (loop.needs & ~cpu_info().features) == 0) return instruction_rate(loop, 0.01);
  }
  return 0;
}

/// Instructions of the limit for a vector of eight instances.
double limit_cost(std::size_t bits, bool square) {
  const auto digits = static_cast<double>((bits + 51) / 52);
  return (square ? digits * (digits + 1) : 2 * digits * digits) + 2 * digits * digits + digits;
}

/// The rates around a run, and what becomes of them.
class Surroundings {
 public:
  explicit Surroundings(benchmark::State& state) : state_(state) {
    if (state_.thread_index() == 0) measure();
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  /// `seconds` of the whole run for `instances` instances of a thread.
  void report(std::size_t bits, bool square, double instances, double seconds) {
    if (state_.thread_index() != 0) return;
    measure();
    state_.counters["hertz"] = hertz_ / 2;
    constexpr double kLanes = 8;
    const double limit = kLanes * madd52_ / 2 / limit_cost(bits, square);
    if (limit > 0) state_.counters["percent_of_limit"] = 100 * instances / seconds / limit;
  }

 private:
  benchmark::State& state_;
  double hertz_ = 0, madd52_ = 0;

  void measure() {
    hertz_ += rate_of("add_chain");
    madd52_ += rate_of("vpmadd52_zmm");
  }
};

/// Processor time of this thread in seconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void count_instructions(benchmark::State& state, Batch& batch, bool square) {
  if (state.threads() > 1) return;
  const auto counts =
      square ? count_executed(reinterpret_cast<const void*>(batch.kernels.sqr), [&] { batch.sqr(0); })
             : count_executed(reinterpret_cast<const void*>(batch.kernels.mul), [&] { batch.mul(0); });
  if (!counts) return;
  state.counters["vector_instructions"] = static_cast<double>(counts->vector);
  state.counters["vector_copies"] = static_cast<double>(counts->copies);
  state.counters["mask_instructions"] = static_cast<double>(counts->mask);
  state.counters["scalar_instructions"] = static_cast<double>(counts->scalar);
}

template <class Step>
void measure(benchmark::State& state, Batch& batch, bool square, Step step) {
  Surroundings surroundings(state);
  const double start = processor_time();
  for (auto _ : state) step();
  const double seconds = processor_time() - start;
  const auto lanes = static_cast<double>(batch.kernels.lanes);
  const double instances = static_cast<double>(state.iterations()) * static_cast<double>(batch.count) * lanes;
  state.SetItemsProcessed(static_cast<std::int64_t>(instances));
  state.counters["lanes"] = benchmark::Counter(lanes, benchmark::Counter::kAvgThreads);
  surroundings.report(batch.bits, square, instances, seconds);
}

void throughput(benchmark::State& state, const Technique& technique, std::size_t bits, bool square) {
  const lanes::Kernels& kernels = technique.kernels();
  const std::size_t element_bytes = 4 * kernels.digits_for(bits) * kernels.lanes * sizeof(Limb);
  Batch batch(kernels, bits, kBatchBytes / element_bytes + 1);
  measure(state, batch, square, [&] {
    for (std::size_t i = 0; i < batch.count; ++i) square ? batch.sqr(i) : batch.mul(i);
  });
  count_instructions(state, batch, square);
}

void chain(benchmark::State& state, const Technique& technique, std::size_t bits, bool square) {
  Batch batch(technique.kernels(), bits, 1);
  measure(state, batch, square, [&] { square ? batch.sqr_chain() : batch.mul_chain(); });
}

void register_technique(const Technique& technique) {
  const lanes::Kernels& kernels = technique.kernels();
  for (const std::size_t bits : kWidths) {
    if (kernels.digits_for(bits) > kernels.max_digits) continue;
    for (const bool square : {false, true}) {
      const std::string end = "/" + std::string(technique.name) + "/" + std::to_string(bits);
      const std::string start = square ? "montgomery/sqr" : "montgomery/mul";
      const auto run = [&technique, bits, square](benchmark::State& state) {
        throughput(state, technique, bits, square);
      };
      benchmark::RegisterBenchmark((start + end).c_str(), run);
      benchmark::RegisterBenchmark((start + end).c_str(), run)->UseRealTime()->ThreadPerCpu();
      benchmark::RegisterBenchmark(
          (start + "_chain" + end).c_str(),
          [&technique, bits, square](benchmark::State& state) { chain(state, technique, bits, square); });
    }
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Technique& technique : kTechniques) {
    if ((technique.needs & ~cpu_info().features) == 0) register_technique(technique);
  }
  return true;
}();

}  // namespace
}  // namespace manymod

#endif
