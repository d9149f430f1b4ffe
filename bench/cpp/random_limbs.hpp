// SPDX-License-Identifier: Apache-2.0
// Operands of benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// `count` limbs, the same in every run of the program.
inline std::vector<std::uint64_t> random_limbs(std::size_t count) {
  static std::mt19937_64 random(1);
  std::vector<std::uint64_t> limbs(count);
  for (std::uint64_t& limb : limbs) limb = random();
  return limbs;
}
