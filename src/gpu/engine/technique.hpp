// SPDX-License-Identifier: Apache-2.0
// A technique's kernels on GPUs, and the variants that they form: one for each form and number of threads per
// instance, such as "row32.cuda.t4". A modulus goes to the shape with the fewest words that hold it.
//
// Most kernels read only the items' numbers, with R a power of two. Those that need constants (constants.hpp)
// may come with further kernels for a modulus that all items share, and may refuse moduli.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/variant.hpp"
#include "gpu/backend.hpp"
#include "gpu/program/shape.hpp"

namespace manymod::gpu {

struct ConstantsSource;

struct Technique {
  const char* folder;  ///< in src/modmul
  const char* name;  ///< prefix of its variants' names: the folder's name, and the form if there are several
  const char* summary;
  int priority;
  std::span<const Shape> shapes;
  const Backend* backend;                            ///< runs the kernels
  std::shared_ptr<const Requirements> requirements;  ///< of all its variants
  const ConstantsSource* constants = nullptr;        ///< null: the kernels need none
  /// A technique that computes the items whose moduli the kernels refuse; its shapes hold all widths that
  /// `shapes` hold. Null where the kernels refuse none.
  const Technique* general = nullptr;
  bool comparison_only = false;  ///< see Variant
  /// An engine on the CPU whose results those of each kernel are compared with before its first use on a
  /// device (known_answers.hpp). Null: kernels are compiled with the library, and tested with it.
  std::unique_ptr<Engine> (*reference)() = nullptr;
};

/// Append a variant for each form and number of threads per instance.
void add_variants(std::span<const Technique> forms, std::vector<Variant>& variants);

}  // namespace manymod::gpu
