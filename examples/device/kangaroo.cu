// SPDX-License-Identifier: Apache-2.0
// A discrete logarithm on secp256k1 in an interval, by Pollard's kangaroos: k of k G for 0 <= k - first <
// 2^bits.
//
//   nvcc -std=c++20 -arch=sm_90a -I<prefix>/include kangaroo.cu -o kangaroo
//   kangaroo                        solves a random problem of 64 bits
//   kangaroo BITS [CHAIN]           of BITS bits, 32 to 125, by CHAIN kangaroos a thread
//   kangaroo BITS CHAIN X Y FIRST   finds k of the point (X, Y); numbers in hexadecimal
//
// It prints k, and checks k G = (X, Y).
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "host_support.cuh"
#include "kangaroo_search.cuh"

namespace {

using example::check;
using kangaroo::Affine;
using kangaroo::Curve;
using kangaroo::Field;
using kangaroo::Herd;
using kangaroo::Jump;
using kangaroo::Quad;
using kangaroo::Scalar;
using kangaroo::Search;
using kangaroo::Sighting;
using kangaroo::Sightings;

constexpr unsigned kBlock = 128;
constexpr unsigned kBlocks = 4;   // on a multiprocessor at the same time: 128 registers a thread
constexpr unsigned kSteps = 256;  // jumps of a kangaroo in a launch
constexpr unsigned kChain = 32;   // kangaroos of a thread that share an inversion

__global__ void __launch_bounds__(kBlock) place(Herd herd, Affine tame, Affine wild) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < herd.count) kangaroo::start(herd, i, i % 2 == 0 ? tame : wild);
}
__global__ void place_one(Herd herd, std::uint32_t i, Affine base) { kangaroo::start(herd, i, base); }

__global__ void __launch_bounds__(kBlock, kBlocks)
    jump_on(Herd herd, const Jump* jumps, unsigned steps, std::uint32_t mask, Sightings sightings) {
  __shared__ Jump shared[kangaroo::kJumps];
  for (unsigned i = threadIdx.x; i < kangaroo::kJumps; i += kBlock) shared[i] = jumps[i];
  __syncthreads();
  kangaroo::walk(herd, shared, blockIdx.x * kBlock + threadIdx.x, steps, mask, sightings);
}

/// `count` objects in device memory.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : words_(count * sizeof(T) / sizeof(std::uint32_t)) {}
  T* data() const { return reinterpret_cast<T*>(words_.data()); }
  void write(std::size_t at, const T* from, std::size_t count) const {
    check(cudaMemcpy(data() + at, from, count * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  void read(T* to, std::size_t count) const {
    check(cudaMemcpy(to, data(), count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
  }

 private:
  example::DeviceArray words_;
};

/// The kangaroos of a GPU.
class Hunt {
 public:
  Hunt(Search& search, unsigned blocks, unsigned chain, unsigned distinguished)
      : search_(search),
        blocks_(blocks),
        mask_((std::uint32_t{1} << distinguished) - 1),
        quads_(std::size_t{Herd::kQuads} * blocks * kBlock * chain),
        herd_{quads_.data(), blocks * kBlock * chain, blocks * kBlock},
        jumps_(kangaroo::kJumps),
        seen_(capacity(distinguished)),
        seen_count_(1),
        found_(capacity(distinguished)) {
    jumps_.write(0, search.jumps().data(), kangaroo::kJumps);
    std::vector<Quad> distances(herd_.count);
    for (Quad& distance : distances) distance = search.random_distance();
    quads_.write(std::size_t{Herd::distance} * herd_.count, distances.data(), distances.size());
    place<<<herd_.count / kBlock, kBlock>>>(herd_, search.base(0), search.base(1));
    check(cudaDeviceSynchronize(), "start");
  }

  /// Jumps until k is known, or `most` jumps. @return the number of jumps, 0 if k was not found
  double run(double most) {
    double jumps = 0;
    std::size_t seen = 0;
    for (; jumps < most; jumps += static_cast<double>(herd_.count) * kSteps) {
      launch();
      // While the GPU computes: what it saw in the launch before.
      const bool found = take(seen);
      check(cudaDeviceSynchronize(), "jumps");
      if (found) return jumps;
      seen = read();
      restart();
    }
    return 0;
  }

 private:
  Search& search_;
  unsigned blocks_;
  std::uint32_t mask_;
  Array<Quad> quads_;
  Herd herd_;
  Array<Jump> jumps_;
  Array<Sighting> seen_;
  Array<std::uint32_t> seen_count_;
  std::vector<Sighting> found_;
  std::vector<std::uint32_t> repeated_;

  /// Twice as many sightings as a launch has on average, and some more.
  std::size_t capacity(unsigned distinguished) const {
    return (std::size_t{herd_.count} * kSteps >> distinguished) * 2 + 1000;
  }
  void launch() const {
    const std::uint32_t none = 0;
    seen_count_.write(0, &none, 1);
    const Sightings sightings{seen_count_.data(), seen_.data(), static_cast<std::uint32_t>(found_.size())};
    jump_on<<<blocks_, kBlock>>>(herd_, jumps_.data(), kSteps, mask_, sightings);
    check(cudaGetLastError(), "launch");
  }
  bool take(std::size_t seen) {
    repeated_.clear();
    for (std::size_t i = 0; i < seen; ++i) {
      const Search::Outcome outcome = search_.take(found_[i]);
      if (outcome == Search::Outcome::found) return true;
      if (outcome == Search::Outcome::repeated) repeated_.push_back(found_[i].kangaroo);
    }
    return false;
  }
  std::size_t read() {
    std::uint32_t count = 0;
    seen_count_.read(&count, 1);
    const std::size_t seen = std::min<std::size_t>(count, found_.size());
    seen_.read(found_.data(), seen);
    return seen;
  }
  void restart() {
    for (const std::uint32_t i : repeated_) {
      const Quad distance = search_.random_distance();
      quads_.write(std::size_t{Herd::distance} * herd_.count + i, &distance, 1);
      place_one<<<1, 1>>>(herd_, i, search_.base(i));
    }
  }
};

bool parse(Scalar& r, const char* hex) {
  const std::size_t digits = std::strlen(hex);
  if (digits == 0 || digits > 8 * Curve::kOrderWords) return false;
  r = {};
  for (std::size_t i = 0; i < digits; ++i) {
    const char digit[] = {hex[digits - 1 - i], 0};
    char* end = nullptr;
    r.word[i / 8] |= static_cast<std::uint32_t>(std::strtoul(digit, &end, 16)) << (4 * (i % 8));
    if (*end != 0) return false;
  }
  return true;
}

/// A point k G and an interval with k.
struct Problem {
  Affine target;
  Scalar first;

  static Problem random(unsigned bits, std::mt19937_64& random) {
    Scalar first, offset;
    for (unsigned j = 0; j < 7; ++j) first.word[j] = static_cast<std::uint32_t>(random());
    for (unsigned j = 0; 32 * j < bits; ++j) offset.word[j] = static_cast<std::uint32_t>(random());
    if (bits % 32 != 0) offset.word[bits / 32] &= (std::uint32_t{1} << (bits % 32)) - 1;
    return {Curve::to_affine(kangaroo::multiple(kangaroo::sum(first, offset))), first};
  }
  static bool read(Problem& r, char** arguments) {
    Scalar x, y;
    if (!parse(x, arguments[0]) || !parse(y, arguments[1]) || !parse(r.first, arguments[2])) return false;
    r.target = {Field::load(x.word), Field::load(y.word)};
    return Curve::is_on_curve(r.target);
  }
};

int solve(const Problem& problem, unsigned bits, unsigned chain, std::uint64_t seed) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "device");
  const unsigned blocks = static_cast<unsigned>(device.multiProcessorCount) * kBlocks;
  const std::uint64_t count = std::uint64_t{blocks} * kBlock * chain;
  const int spare = static_cast<int>(bits / 2) - static_cast<int>(std::bit_width(count));
  const auto distinguished = static_cast<unsigned>(std::clamp(spare, 0, 30));

  Search search(problem.target, problem.first, bits, seed);
  Hunt hunt(search, blocks, chain, distinguished);
  const double expected = search.expected_jumps(static_cast<double>(count), distinguished);
  const auto begin = std::chrono::steady_clock::now();
  const double jumps = hunt.run(30 * expected);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (jumps == 0) {
    std::puts("not found");
    return 1;
  }
  std::printf("k = ");
  for (unsigned j = Curve::kOrderWords; j-- > 0;) std::printf("%08x", search.key().word[j]);
  std::printf("\n%llu kangaroos, %.3g jumps of %.3g expected in %.2f s: %.2f G/s; %zu distinguished points\n",
              static_cast<unsigned long long>(count), jumps, expected, seconds.count(),
              jumps / seconds.count() * 1e-9, search.trails());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const unsigned bits = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 64;
  const unsigned chain = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : kChain;
  std::random_device seed;
  std::mt19937_64 random(seed());
  Problem problem;
  if (bits < 32 || bits > 125 || chain == 0 || chain > 1024 || (count > 3 && count != 6) ||
      (count == 6 && !Problem::read(problem, arguments + 3))) {
    std::fprintf(stderr, "usage: %s [BITS [CHAIN [X Y FIRST]]], 32 <= BITS <= 125, (X, Y) on secp256k1\n",
                 arguments[0]);
    return 2;
  }
  if (!example::have_device()) return example::kSkipped;
  if (count != 6) problem = Problem::random(bits, random);
  return solve(problem, bits, chain, seed());
}
