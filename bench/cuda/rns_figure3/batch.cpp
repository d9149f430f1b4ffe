// SPDX-License-Identifier: Apache-2.0
#include "batch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>

#include "manymod/manymod.h"

namespace manymod::bench {
namespace {

Limbs random_rows(std::mt19937_64& random, std::size_t limbs) {
  Limbs rows(limbs);
  std::ranges::generate(rows, random);
  return rows;
}

Limbs half_weight_exponent(std::mt19937_64& random, unsigned bits) {
  std::vector<unsigned> places(bits - 1);
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::shuffle(places, random);
  Limbs exponent(bits / 64);
  exponent.back() = std::uint64_t{1} << 63;
  for (unsigned i = 0; i + 1 < bits / 2; ++i) {
    exponent[places[i] / 64] |= std::uint64_t{1} << (places[i] % 64);
  }
  return exponent;
}

gpu::DeviceBuffer brought(const cuda::Stream& stream, const Limbs& limbs) {
  const std::size_t bytes = limbs.size() * sizeof(std::uint64_t);
  gpu::DeviceBuffer buffer(stream.device(), bytes);
  stream.copy_to_device(buffer.data(), limbs.data(), bytes);
  stream.synchronize();
  return buffer;
}

void require_success(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(std::string("the CPU library failed: ") + mm_last_error());
}

}  // namespace

Batch::Batch(const cuda::Stream& stream, unsigned bits, std::size_t count) : bits_(bits), count_(count) {
  std::mt19937_64 random(bits);
  moduli_ = random_rows(random, count * limbs());
  bases_ = random_rows(random, count * limbs());
  for (std::size_t i = 0; i < count; ++i) {
    moduli_[i * limbs()] |= 1;
    moduli_[(i + 1) * limbs() - 1] |= std::uint64_t{1} << 63;
    bases_[(i + 1) * limbs() - 1] &= ~(std::uint64_t{1} << 63);
  }
  exponent_ = half_weight_exponent(random, bits);
  moduli_on_device_ = brought(stream, moduli_);
  bases_on_device_ = brought(stream, bases_);
}

Limbs Batch::powers_on_cpu(std::size_t items, unsigned threads) const {
  mm_plan_options options{};
  options.struct_size = sizeof options;
  options.op = MM_OP_POWMOD;
  options.timing = MM_TIMING_PUBLIC;
  options.modulus_kind = MM_MODULUS_EACH;
  options.modulus_bits = bits_;
  options.device = "cpu";
  options.threads = threads;
  mm_plan* plan = nullptr;
  require_success(mm_plan_create(&options, &plan));
  Limbs result(items * limbs());
  mm_call call{};
  call.struct_size = sizeof call;
  call.count = items;
  call.x = {bases_.data(), items, limbs(), limbs(), nullptr};
  call.y = {exponent_.data(), 1, limbs(), limbs(), nullptr};
  call.modulus = {moduli_.data(), items, limbs(), limbs(), nullptr};
  call.result = {result.data(), items, limbs(), limbs(), nullptr};
  const mm_status status = mm_plan_run(plan, &call);
  mm_plan_destroy(plan);
  require_success(status);
  return result;
}

double Batch::seconds_on_cpu(std::size_t items, unsigned threads) const {
  using Clock = std::chrono::steady_clock;
  static_cast<void>(powers_on_cpu(items, threads));
  const Clock::time_point start = Clock::now();
  static_cast<void>(powers_on_cpu(items, threads));
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace manymod::bench
