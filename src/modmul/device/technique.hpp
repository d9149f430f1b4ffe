// SPDX-License-Identifier: Apache-2.0
// A technique's kernels on CUDA devices. They make the rows that register_variants (dispatch/registry.hpp)
// adds: one for each technique and number of threads per instance, such as "row32.cuda.t4". A modulus goes to
// the shape with the fewest words that hold it.
#pragma once

#include <span>

#include "modmul/device/shape.hpp"

namespace manymod::device {

struct Technique {
  const char* folder;  ///< under src/modmul
  const char* name;    ///< its variants' names begin with it: the folder's name, and which form of several
  const char* summary;
  int priority;
  std::span<const Shape> shapes;
  bool wants_fast_doubles = false;  ///< see Variant
};

// Each defined in its folder.
std::span<const Technique> row32();
std::span<const Technique> dpf52();
std::span<const Technique> two_pass16();
std::span<const Technique> fios();

}  // namespace manymod::device
