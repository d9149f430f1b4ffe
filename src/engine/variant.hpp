// SPDX-License-Identifier: Apache-2.0
// What a technique registers: one variant of it, the hardware that it requires and how to build its engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/operation.hpp"
#include "engine/engine.hpp"
#include "engine/requirements.hpp"

namespace manymod {

enum class Backend : std::uint8_t {
  cpu = MM_BACKEND_CPU,
  cuda = MM_BACKEND_CUDA,
  opencl = MM_BACKEND_OPENCL
};

/// One row of the registry (dispatch/registry.hpp).
struct Variant {
  std::string name;       ///< technique and shape, unique: "scalar64.adx"
  std::string technique;  ///< its folder in src/modmul
  Backend backend = Backend::cpu;
  OperationSet public_operations = 0;  ///< offered in variable time
  OperationSet secret_operations = 0;  ///< offered in constant time
  /// The operations in variable time that Engine::accepts only for several items with one modulus.
  OperationSet shared_modulus_operations = 0;
  /// The operations that it computes element-wise on rows, one launch for a chunk of items: on its backend's
  /// devices it is preferred to other variants for them.
  OperationSet row_operations = 0;
  std::size_t min_bits = 1;
  std::size_t max_bits = kMaxModulusBits;
  /// Engine::accepts returns true for every item. A variant with false is paired with one that accepts what
  /// it rejects.
  bool accepts_every_item = true;
  /// Instances that one thread or thread group computes together; fewer instances cost as much as all of
  /// them.
  unsigned instances = 1;
  unsigned threads_per_instance = 1;                 ///< lanes of a GPU thread group
  std::shared_ptr<const Requirements> requirements;  ///< beyond the backend; null if there are none
  /// Registered for comparison with others: selected by its name or a tuning row only.
  bool comparison_only = false;
  int priority = 0;  ///< the highest is chosen where the tuning table has no row
  std::string summary;
  /// Builds an engine on the backend's device of that index; the CPU backend ignores the index.
  std::function<std::unique_ptr<Engine>(unsigned device_index)> make_engine;
};

/// Whether the variant offers the operation in that timing class.
inline bool offers(const Variant& variant, Operation op, TimingClass timing) {
  return contains(timing == TimingClass::secret ? variant.secret_operations : variant.public_operations, op);
}

}  // namespace manymod
