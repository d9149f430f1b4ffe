// SPDX-License-Identifier: Apache-2.0
// PhiRSA's tables 1 and 3 on this machine: one Montgomery multiplication by vcpc512, its executed
// instructions beside the paper's count, and scalar64 at the same sizes. One instance, each result the next
// operand.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "arch/scalar/word.hpp"
#include "core/cpu_features.hpp"
#include "executed_instructions.hpp"
#include "modmul/ifma52/row.hpp"
#include "modmul/scalar64/montgomery.hpp"
#include "modmul/vcpc512/kernels.hpp"

#if MANYMOD_X86_64

namespace manymod {
namespace {

/// Random words in 64-byte aligned memory, as elements are.
class AlignedWords {
 public:
  explicit AlignedWords(std::size_t count) : words_(new(std::align_val_t{64}) Limb[count]) {
    static std::mt19937_64 random(7);
    for (std::size_t i = 0; i < count; ++i) words_[i] = random();
  }
  ~AlignedWords() { operator delete[](words_, std::align_val_t{64}); }
  AlignedWords(const AlignedWords&) = delete;
  AlignedWords& operator=(const AlignedWords&) = delete;
  Limb& operator[](std::size_t i) { return words_[i]; }
  Limb* data() { return words_; }

 private:
  Limb* words_;
};

/// Counters: executed instructions, and per 32-bit round those that the paper counts.
void count_instructions(benchmark::State& state, const void* function, const auto& multiply) {
  const auto counts = count_executed(function, multiply);
  if (!counts) return;
  const auto vector = static_cast<double>(counts->vector);
  const auto mask = static_cast<double>(counts->mask);
  state.counters["vector"] = vector;
  state.counters["copies"] = static_cast<double>(counts->copies);
  state.counters["mask"] = mask;
  state.counters["scalar"] = static_cast<double>(counts->scalar);
  const double bits = static_cast<double>(state.range(0));
  state.counters["vector_and_mask_a_round"] = (vector + mask) / (bits / 32);
  state.counters["phirsa_a_round"] = 9 * (bits / 512) + 4;
}

/// A kernel table with one lane and exact digits; `finish` completes the modulus block.
template <class Finish>
void row_multiply(benchmark::State& state, const lanes::Kernels& kernels, std::size_t modulus_words,
                  Finish finish) {
  const auto bits = static_cast<std::size_t>(state.range(0));
  const std::size_t digits = kernels.digits_for(bits);
  const Limb digit_mask = ~Limb{0} >> (kLimbBits - kernels.digit_bits);
  AlignedWords x(digits);
  AlignedWords y(digits);
  AlignedWords modulus(modulus_words);
  for (std::size_t i = 0; i < digits; ++i) {
    x[i] &= digit_mask;
    y[i] &= digit_mask;
    modulus[i] &= digit_mask;
  }
  modulus[0] |= 1;
  const Limb top = ~Limb{0} >> (digits * kernels.digit_bits - bits + kLimbBits - kernels.digit_bits);
  modulus[digits - 1] = top;
  x[digits - 1] = y[digits - 1] = top >> 1;
  modulus[digits] = word::negated_inverse(modulus[0]) & digit_mask;
  finish(modulus.data(), digits);
  const auto multiply = [&] { kernels.mul(x.data(), x.data(), y.data(), modulus.data(), digits, nullptr); };
  for (auto _ : state) multiply();
  count_instructions(state, reinterpret_cast<const void*>(kernels.mul), multiply);
}

void vcpc512_multiply(benchmark::State& state) {
  const lanes::Kernels& kernels = vcpc512::avx512f_kernels();
  const std::size_t words = kernels.digits_for(static_cast<std::size_t>(state.range(0))) + 1;
  row_multiply(state, kernels, words, [](Limb*, std::size_t) {});
}

void ifma52_multiply(benchmark::State& state) {
  const lanes::Kernels& kernels = ifma52::row_kernels();
  const std::size_t digits = kernels.digits_for(static_cast<std::size_t>(state.range(0)));
  row_multiply(state, kernels, kernels.modulus_words(digits), kernels.prepare);
}

void scalar_multiply(benchmark::State& state, bool square) {
  const auto limbs = static_cast<std::size_t>(state.range(0)) / kLimbBits;
  AlignedWords x(limbs);
  AlignedWords y(limbs);
  AlignedWords scratch(scalar64::Montgomery::scratch_limbs(limbs));
  std::vector<Limb> n(y.data(), y.data() + limbs);
  n.front() |= 1;
  n.back() |= Limb{1} << 63;
  scalar64::Montgomery mont(scalar64::adx_kernels());
  mont.assign(n);
  for (auto _ : state) {
    if (square) {
      mont.sqr(x.data(), x.data(), scratch.data());
    } else {
      mont.mul(x.data(), x.data(), mont.one(), scratch.data());
    }
  }
}

void register_benchmarks() {
  const auto at_every_width = [](benchmark::internal::Benchmark* bench) {
    for (const int bits : {512, 1024, 1536, 2048, 3072, 4096}) bench->Arg(bits);
  };
  const CpuFeatures scalar = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  const CpuFeatures vector = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                             CpuFeature::avx512bw | CpuFeature::avx512vl;
  const CpuFeatures present = cpu_info().features;
  if ((present & vector) == vector) {
    at_every_width(benchmark::RegisterBenchmark("montgomery_multiply/vcpc512.avx512f", vcpc512_multiply));
  }
  const CpuFeatures ifma = vector | CpuFeature::avx512ifma;
  if ((present & ifma) == ifma) {
    at_every_width(benchmark::RegisterBenchmark("montgomery_multiply/ifma52.row", ifma52_multiply));
  }
  if ((present & scalar) == scalar) {
    at_every_width(benchmark::RegisterBenchmark("montgomery_multiply/scalar64.adx", scalar_multiply, false));
    at_every_width(benchmark::RegisterBenchmark("montgomery_square/scalar64.adx", scalar_multiply, true));
  }
}

[[maybe_unused]] const bool kRegistered = (register_benchmarks(), true);

}  // namespace
}  // namespace manymod

#endif
