// SPDX-License-Identifier: Apache-2.0
// A technique's kernels on GPUs, and the variants that they make: one for each form and number of threads per
// instance, such as "row32.cuda.t4". A modulus goes to the shape with the fewest words that hold it.
//
// Most kernels compute from the items' numbers alone, with R a power of two. Those with constants
// (constants.hpp) may have further kernels for a modulus that all items share, and may refuse moduli.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "engine/variant.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

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
  /// Computes the items whose moduli the kernels refuse; its shapes hold all widths that these hold. Null
  /// where they refuse none.
  const Technique* for_refused = nullptr;
};

/// Append a variant for each form and number of threads per instance.
void add_variants(std::span<const Technique> forms, std::vector<Variant>& variants);

}  // namespace manymod::gpu
