// SPDX-License-Identifier: Apache-2.0
// What the kernels of every width offer to the driver.
#pragma once

#include <cstdint>
#include <vector>

namespace peers {

/// Numbers of a launch, in device memory: little-endian 32-bit words, one number after the other.
struct Arguments {
  std::uint32_t* base = nullptr;
  std::uint32_t* exponent = nullptr;
  std::uint32_t* modulus = nullptr;
  std::uint32_t* radix_squared = nullptr;  ///< R^2 mod modulus, R = 2^bits
  std::uint32_t* result = nullptr;
  std::uint32_t instances = 0;
  std::uint32_t products = 0;  ///< of a chain
};

enum class Operation {
  power,  ///< base^exponent mod modulus
  chain,  ///< congruent to base^(products + 1), below 2^bits, by `products` Montgomery multiplications
};

using Kernel = void (*)(Arguments);

/// A compiled kernel. The threads per block are chosen at the launch.
struct Shape {
  Operation operation;
  unsigned threads_per_instance;
  unsigned window_bits;  ///< 0 for a chain
  bool converts;         ///< to Montgomery form by itself, else from a given R^2
  Kernel kernel;
};

/// The shapes of a width; each width is a translation unit of its own, since they compile slowly.
template <unsigned kBits>
std::vector<Shape> shapes();

}  // namespace peers
