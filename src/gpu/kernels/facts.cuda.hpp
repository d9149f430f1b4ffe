// SPDX-License-Identifier: Apache-2.0
// One thread of the kernels mm_modulus_facts, mm_exponent_range and mm_exponent_bits: properties of integers
// in device memory that the host needs. They read the limbs from the top down to the highest nonzero one, and
// the lowest limb.
//
// Timing: time and addresses depend on the lengths of the integers only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/length_range.hpp"
#include "core/modulus_class.hpp"
#include "core/portable.hpp"

namespace manymod::gpu {

inline constexpr unsigned kFactsBlock = 128;  ///< threads of a block

/// Integer i is the `width` limbs from limbs[i stride].
struct FactsOperand {
  const std::uint64_t* limbs = nullptr;
  std::uint64_t stride = 0;
  std::uint64_t width = 0;

  [[nodiscard]] MM_DEVICE const std::uint64_t* at(std::uint32_t item) const { return limbs + item * stride; }
  /// The number of limbs of integer `item` without leading zero limbs.
  [[nodiscard]] MM_DEVICE std::uint64_t size(std::uint32_t item) const {
    const std::uint64_t* const number = at(item);
    std::uint64_t size = width;
    while (size > 0 && number[size - 1] == 0) --size;
    return size;
  }
};

struct ModulusFactsJob {
  FactsOperand moduli;
  FactsOperand first;  ///< the first modulus of the batch
  std::uint32_t count = 0;
  bool secret = false;
  std::uint64_t modulus_bits = 0;
  ModulusFact* facts = nullptr;  ///< of each modulus
  std::uint32_t* different =
      nullptr;  ///< set to 1 if the facts of any modulus differ from those of the first
};

struct ExponentRangeJob {
  FactsOperand exponents;
  std::uint32_t count = 0;
  LengthRange* ranges = nullptr;  ///< of each thread's exponents
};

struct ExponentBitsJob {
  FactsOperand exponents;
  std::uint32_t count = 0;
  std::uint32_t* bits = nullptr;  ///< bit length of each, at most 2^32 - 1
};

MM_DEVICE ModulusFact fact_of(const ModulusFactsJob& job, const FactsOperand& moduli, std::uint32_t item) {
  const std::uint64_t* const number = moduli.at(item);
  const std::uint64_t size = moduli.size(item);
  return modulus_fact(size, number[0], size == 0 ? 0 : number[size - 1], job.modulus_bits, job.secret);
}

/// On input: item < job.count.
MM_DEVICE void find_modulus_fact(const ModulusFactsJob& job, std::uint32_t item) {
  const ModulusFact fact = fact_of(job, job.moduli, item), first = fact_of(job, job.first, 0);
  job.facts[item] = fact;
  const bool equal =
      fact.limbs == first.limbs && fact.modulus_class == first.modulus_class && fact.odd == first.odd;
  if (!equal) *job.different = 1;
}

/// The bit length of number `item`, at most 2^32 - 1.
MM_DEVICE std::uint32_t length_of(const FactsOperand& numbers, std::uint32_t item) {
  const std::uint64_t size = numbers.size(item);
  std::uint64_t bits = 0;
  if (size > 0) {
    bits = 64 * size - 64;
    for (std::uint64_t top = numbers.at(item)[size - 1]; top != 0; top >>= 1) ++bits;
  }
  return static_cast<std::uint32_t>(bits < 0xffffffffu ? bits : 0xffffffffu);
}

/// Thread `thread` of `threads`, by a grid-stride loop over the numbers.
MM_DEVICE void find_exponent_range(const ExponentRangeJob& job, std::uint32_t thread, std::uint32_t threads) {
  LengthRange range;
  for (std::uint64_t i = thread; i < job.count; i += threads) {
    range.add(length_of(job.exponents, static_cast<std::uint32_t>(i)));
  }
  job.ranges[thread] = range;
}

/// On input: item < job.count.
MM_DEVICE void find_exponent_bits(const ExponentBitsJob& job, std::uint32_t item) {
  job.bits[item] = length_of(job.exponents, item);
}

}  // namespace manymod::gpu
