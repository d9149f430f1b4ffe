// SPDX-License-Identifier: Apache-2.0
// Stage 1 of Pollard's p - 1 method on a batch of 512-bit composites, each with one prime factor p for which
// p - 1 divides lcm(1, .., 1000) and one for which it does not.
//
//   nvcc -std=c++20 -arch=sm_90a -I<prefix>/include pminus1.cu -o pminus1
#include <cstdint>
#include <cstdio>
#include <vector>

#include "host_support.cuh"
#include "pminus1.cuh"

namespace {

using example::Words;

constexpr unsigned kBits = 512;
constexpr unsigned kThreads = 2;
constexpr unsigned kBlock = 64;
constexpr std::uint32_t kBound = 1000;
using Modulus = manymod::device::Modulus<kBits, kThreads>;

// Size of each thread's table of powers, in shared memory behind the multiplier's words.
constexpr unsigned kTableWords = Modulus::table_words(pminus1::kWindow - 1);
constexpr unsigned kSharedBytes = kBlock * (Modulus::kSharedWords + kTableWords) * sizeof(std::uint32_t);

extern __shared__ std::uint32_t shared_words[];

__global__ void __launch_bounds__(kBlock)
    find_factors(const std::uint32_t* composites, unsigned count, const std::uint32_t* exponent,
                 unsigned exponent_words, std::uint32_t* factors) {
  const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / kThreads;
  const std::size_t at = std::size_t{group < count ? group : count - 1} * Modulus::kWords;
  const auto memory = Modulus::thread_memory(shared_words);
  const auto table = Modulus::thread_memory(shared_words + Modulus::kSharedWords * blockDim.x);
  const Modulus modulus(Modulus::words(composites + at), memory);
  const auto factor = pminus1::stage1(modulus, {exponent, exponent_words}, table);
  modulus.store(factors + at, factor, group < count);
}

/// lcm(1, .., kBound - 1)
Words smooth_exponent() {
  Words e{1};
  for (const std::uint32_t p : example::primes_below(kBound)) {
    std::uint32_t power = p;
    while (std::uint64_t{power} * p < kBound) power *= p;
    e = example::product(e, {power});
  }
  while (e.back() == 0) e.pop_back();
  return e;
}

/// Primes p for which p - 1 is a product of distinct primes below kBound.
const Words kSmooth[] = {
    {0x42ecc52b, 0x8c239bd8, 0xec58e8bd, 0x83fcd013, 0xf6a5c1f4, 0x8c5b8bfc, 0x9e9e9a04, 0x0d65ada3},
    {0xca258b4f, 0xe42c6f6e, 0x12a45387, 0x420e35f0, 0xd69b9aee, 0xbed8e39b, 0x7b14eaac, 0x4d0bfe72},
    {0x0760f713, 0x7a8893c4, 0x9bdf49f6, 0x669d9e76, 0xe9dd777b, 0x91a055b6, 0x13ad0c97, 0x0f153c98},
    {0x45cf3817, 0x70d8a4fa, 0xbb3efb2d, 0x6f30fdf7, 0x2f05bf8c, 0x33f55f6d, 0x5fb8605d, 0x050e03b6},
};
/// Primes 2^256 - k for which p - 1 is not kBound-smooth.
constexpr std::uint32_t kOthers[] = {189, 357, 435, 587, 617, 923, 1053, 1299};

}  // namespace

int main() {
  if (!example::have_device()) return example::kSkipped;
  Words composites, expected;
  unsigned count = 0;
  for (const Words& p : kSmooth) {
    for (const std::uint32_t k : kOthers) {
      const Words n = example::product(p, example::below_power(256, k));
      composites.insert(composites.end(), n.begin(), n.end());
      expected.insert(expected.end(), p.begin(), p.end());
      expected.resize(composites.size(), 0);
      ++count;
    }
  }

  const Words exponent = smooth_exponent();
  const example::DeviceArray on_device(composites), exponent_on_device(exponent), factors(composites.size());
  const unsigned blocks = (count * kThreads + kBlock - 1) / kBlock;
  example::check(
      cudaFuncSetAttribute(find_factors, cudaFuncAttributeMaxDynamicSharedMemorySize, int{kSharedBytes}),
      "shared memory");
  find_factors<<<blocks, kBlock, kSharedBytes>>>(on_device.data(), count, exponent_on_device.data(),
                                                 static_cast<unsigned>(exponent.size()), factors.data());
  example::check(cudaGetLastError(), "launch");
  const bool right = factors.to_host() == expected;
  std::printf("p - 1 with bound %u: %s factors of %u composites\n", kBound, right ? "all" : "not all", count);
  return right ? 0 : 1;
}
