// SPDX-License-Identifier: Apache-2.0
// Miller-Rabin tests of batches of odd numbers of 512, 768 and 1024 bits: known primes and composites, and
// random numbers, of which those with a small factor must be found composite.
//
//   nvcc -std=c++20 -arch=sm_90a -I<prefix>/include miller_rabin.cu -o miller_rabin
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "host_support.cuh"
#include "miller_rabin.cuh"

namespace {

using example::Words;

constexpr unsigned kBases = 8;
constexpr unsigned kBlock = 128;
struct Bases {
  std::uint32_t base[kBases];
};

extern __shared__ std::uint32_t shared_words[];

/// flags[i] = whether candidate i passes. All threads of a warp compute: those beyond the batch repeat the
/// last candidate.
template <class Modulus, unsigned kThreads>
__global__ void __launch_bounds__(kBlock)
    test_candidates(const std::uint32_t* candidates, unsigned count, Bases bases, unsigned most_twos,
                    std::uint32_t* flags) {
  const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / kThreads;
  const unsigned item = group < count ? group : count - 1;
  const auto n = Modulus::words(candidates + std::size_t{item} * Modulus::kWords);
  const Modulus modulus(n, Modulus::thread_memory(shared_words));
  const bool prime = miller_rabin::is_probable_prime(modulus, n, bases.base, kBases, most_twos);
  if (group < count && threadIdx.x % kThreads == 0) flags[item] = prime ? 1 : 0;
}

enum class Kind { prime, composite, unknown };

struct Batch {
  unsigned words;
  std::vector<Kind> kinds;
  Words numbers;
  unsigned most_twos = 1;

  void add(Kind kind, Words n) {
    n.resize(words, 0);
    kinds.push_back(kind);
    numbers.insert(numbers.end(), n.begin(), n.end());
    most_twos = std::max(most_twos, miller_rabin::twos_below({n.data(), words}));
  }
};

/// Known primes and composites, and random numbers of exactly `bits` bits.
Batch make_batch(unsigned bits, const Words& largest_prime, unsigned random) {
  using example::below_power, example::product;
  Batch batch{bits / 32, {}, {}};
  batch.add(Kind::prime, largest_prime);
  batch.add(Kind::prime, below_power(255, 19));
  batch.add(Kind::prime, {65537});
  if (bits > 521) batch.add(Kind::prime, below_power(521, 1));
  if (bits > 607) batch.add(Kind::prime, below_power(607, 1));
  batch.add(Kind::composite, below_power(bits, 1));  // 3 divides it
  batch.add(Kind::composite, product(below_power(255, 19), below_power(256, 189)));
  batch.add(Kind::composite, {561});          // Carmichael numbers
  batch.add(Kind::composite, {3215031751u});  // a strong pseudoprime to bases 2, 3, 5 and 7
  const std::vector<std::uint32_t> primes = example::primes_below(1000);
  std::mt19937 generate(bits);
  for (unsigned i = 0; i < random; ++i) {
    Words n(bits / 32);
    for (std::uint32_t& word : n) word = static_cast<std::uint32_t>(generate());
    n.front() |= 1;
    n.back() |= 0x80000000u;
    const bool divisible = std::any_of(primes.begin(), primes.end(),
                                       [&](std::uint32_t p) { return example::remainder(n, p) == 0; });
    batch.add(divisible ? Kind::composite : Kind::unknown, n);
  }
  return batch;
}

/// @return the number of wrong results
template <unsigned kBits, unsigned kThreads>
unsigned run(const Words& largest_prime, unsigned random) {
  using Modulus = manymod::device::Modulus<kBits, kThreads>;
  const Batch batch = make_batch(kBits, largest_prime, random);
  const auto count = static_cast<unsigned>(batch.kinds.size());
  const example::DeviceArray candidates(batch.numbers), flags(count);
  const Bases bases{{2, 3, 5, 7, 11, 13, 17, 19}};
  const unsigned blocks = (count * kThreads + kBlock - 1) / kBlock;
  test_candidates<Modulus, kThreads>
      <<<blocks, kBlock, kBlock * Modulus::kSharedWords * sizeof(std::uint32_t)>>>(
          candidates.data(), count, bases, batch.most_twos, flags.data());
  example::check(cudaGetLastError(), "launch");
  const Words passed = flags.to_host();

  unsigned primes = 0, wrong = 0;
  for (unsigned i = 0; i < count; ++i) {
    primes += passed[i];
    if (batch.kinds[i] != Kind::unknown && (passed[i] == 1) != (batch.kinds[i] == Kind::prime)) ++wrong;
  }
  std::printf("%u bits: %u probable primes among %u candidates, %u wrong answers\n", kBits, primes, count,
              wrong);
  return wrong;
}

}  // namespace

int main() {
  if (!example::have_device()) return example::kSkipped;
  unsigned wrong = 0;
  wrong += run<512, 2>(example::below_power(512, 569), 20000);
  wrong += run<768, 4>(example::below_power(768, 825), 10000);
  wrong += run<1024, 8>(example::below_power(1024, 105), 5000);
  return wrong == 0 ? 0 : 1;
}
