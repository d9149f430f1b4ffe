// SPDX-License-Identifier: Apache-2.0
// One core, through the C++ wrapper: the ways of exponentiating and inverting that a plain powmod does not
// take. Items are powers, products of powers or inverses.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "manymod/manymod.hpp"
#include "random_limbs.hpp"

namespace {

using Limbs = std::vector<std::uint64_t>;
using manymod::Timing;

const manymod::Placement kOneThread{{}, {}, 1};

/// `limbs` limbs, top bit set, divisible by 2^twos and no higher power, twos < 64.
Limbs modulus_of(std::size_t limbs, unsigned twos) {
  Limbs n = random_limbs(limbs);
  n.back() |= std::uint64_t{1} << 63;
  n.front() = ((n.front() | 1) << twos) | (limbs == 1 ? std::uint64_t{1} << 63 : 0);
  return n;
}

void count_items(benchmark::State& state, std::size_t items) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
}

/// Arguments: modulus bits, exponent bits.
void fixed_base(benchmark::State& state, Timing timing) {
  constexpr std::size_t kItems = 64;
  const auto limbs = static_cast<std::size_t>(state.range(0)) / 64;
  const auto exponent_limbs = static_cast<std::size_t>(state.range(1)) / 64;
  const Limbs n = modulus_of(limbs, 0);
  const Limbs g = random_limbs(limbs);
  const Limbs exponents = random_limbs(kItems * exponent_limbs);
  manymod::FixedBase base({g, limbs}, {n, limbs}, exponent_limbs * 64, timing, kOneThread);
  for (auto _ : state) benchmark::DoNotOptimize(base.powmod({exponents, exponent_limbs}));
  count_items(state, kItems);
}

/// Arguments: modulus bits, terms of the product; 256-bit exponents.
void multi_power(benchmark::State& state) {
  constexpr std::size_t kExponentLimbs = 4;
  const auto limbs = static_cast<std::size_t>(state.range(0)) / 64;
  const auto terms = static_cast<std::size_t>(state.range(1));
  const Limbs n = modulus_of(limbs, 0);
  const Limbs bases = random_limbs(terms * limbs);
  const Limbs exponents = random_limbs(terms * kExponentLimbs);
  manymod::Plan plan(manymod::Op::multi_powmod, limbs * 64, manymod::ModulusKind::shared, Timing::public_,
                     kOneThread);
  const manymod::Operands operands{{bases, limbs}, {exponents, kExponentLimbs}, {n, limbs}, 1, terms};
  for (auto _ : state) benchmark::DoNotOptimize(plan.run(operands));
  count_items(state, 1);
}

/// Arguments: modulus bits, k of the modulus 2^k m.
void power_of_even_modulus(benchmark::State& state) {
  constexpr std::size_t kItems = 8;
  const auto limbs = static_cast<std::size_t>(state.range(0)) / 64;
  const Limbs n = modulus_of(limbs, static_cast<unsigned>(state.range(1)));
  const Limbs bases = random_limbs(kItems * limbs);
  const Limbs exponents = random_limbs(kItems * limbs);
  manymod::Plan plan(manymod::Op::powmod, limbs * 64, manymod::ModulusKind::shared, Timing::public_,
                     kOneThread);
  const manymod::Operands operands{{bases, limbs}, {exponents, limbs}, {n, limbs}};
  for (auto _ : state) benchmark::DoNotOptimize(plan.run(operands));
  count_items(state, kItems);
}

/// One modulus for the batch: simultaneous inversion. Modulo random n some items have no inverse; 2^521 - 1
/// is prime.
void simultaneous_inverse(benchmark::State& state) {
  constexpr std::size_t kLimbs = 9;
  const auto items = static_cast<std::size_t>(state.range(0));
  Limbs prime(kLimbs, ~std::uint64_t{0});
  prime.back() = 0x1ff;
  const Limbs x = random_limbs(items * kLimbs);
  manymod::Plan plan(manymod::Op::invmod, 521, manymod::ModulusKind::shared, Timing::public_, kOneThread);
  manymod::Operands operands;
  operands.x = {x, kLimbs};
  operands.modulus = {prime, kLimbs};
  for (auto _ : state) benchmark::DoNotOptimize(plan.run(operands));
  count_items(state, items);
}

BENCHMARK_CAPTURE(fixed_base, public, Timing::public_)
    ->Args({256, 256})
    ->Args({2048, 256})
    ->Args({2048, 2048});
BENCHMARK_CAPTURE(fixed_base, secret, Timing::secret)
    ->Args({256, 256})
    ->Args({2048, 256})
    ->Args({2048, 2048});
BENCHMARK(multi_power)->Args({256, 2})->Args({256, 16})->Args({256, 1024})->Args({2048, 2})->Args({2048, 64});
BENCHMARK(power_of_even_modulus)->Args({256, 1})->Args({2048, 1})->Args({2048, 63});
BENCHMARK(simultaneous_inverse)->Arg(1)->Arg(64)->Arg(1024);

}  // namespace
