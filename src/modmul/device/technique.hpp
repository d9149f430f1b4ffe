// SPDX-License-Identifier: Apache-2.0
// A technique's kernels on CUDA devices. They make the rows that register_variants (dispatch/registry.hpp)
// adds: one for each technique and number of threads per instance, such as "row32.cuda.t4". A modulus goes to
// the shape with the fewest words that hold it.
//
// Most compute from the items' numbers alone, with R a power of two. One with constants (constants.hpp) may
// have other kernels for a modulus that all items share, and may refuse moduli: their items are computed by
// row32, whose shapes have to hold all that its own do.
#pragma once

#include <limits>
#include <span>

#include "modmul/device/shape.hpp"

namespace manymod::device {

struct ConstantsSource;

struct Technique {
  const char* folder;  ///< under src/modmul
  const char* name;    ///< its variants' names begin with it: the folder's name, and which form of several
  const char* summary;
  int priority;
  std::span<const Shape> shapes;
  bool wants_fast_doubles = false;  ///< see Variant
  /// Of the instructions used; what the build has machine code or PTX for is another matter
  /// (MANYMOD_CUDA_ARCHITECTURES).
  unsigned min_compute_capability = 70;
  unsigned max_compute_capability = std::numeric_limits<unsigned>::max();
  const ConstantsSource* constants = nullptr;  ///< or null: the kernels need none
};

// Each defined in its folder.
std::span<const Technique> row32();
std::span<const Technique> dpf52();
std::span<const Technique> two_pass16();
std::span<const Technique> fios();
std::span<const Technique> rns();
std::span<const Technique> rns_float();

}  // namespace manymod::device
