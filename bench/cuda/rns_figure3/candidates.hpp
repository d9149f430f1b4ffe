// SPDX-License-Identifier: Apache-2.0
// The kernels that figure 3 compares, and what they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/cuda/device.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::bench {

struct Candidate {
  std::string implementation;  ///< the paper's letter; "" where it has none
  std::string form;
  bool specialised = false;
  gpu::Shape shape;
  std::vector<std::byte> constants;          ///< that the kernel reads; none where they are compiled in
  std::vector<std::uint32_t> squared_radix;  ///< M_B^2; none where R is a power of two
};

/// Of this library for moduli of so many bits: row32, for scale, then all forms of rns_float.
std::vector<Candidate> library_candidates(unsigned bits);
/// Of kernels.cu.
std::vector<Candidate> loaded_candidates();

}  // namespace manymod::bench
