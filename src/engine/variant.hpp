// SPDX-License-Identifier: Apache-2.0
// What a technique registers: one variant of it, the hardware that it needs and how its engine is made.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "core/cpu_features.hpp"
#include "core/operation.hpp"
#include "engine/engine.hpp"

namespace manymod {

enum class Backend : std::uint8_t { cpu = MM_BACKEND_CPU, cuda = MM_BACKEND_CUDA };

using OperationSet = std::uint32_t;
constexpr OperationSet operation_bit(Operation op) { return OperationSet{1} << static_cast<unsigned>(op); }
inline constexpr OperationSet kAllOperations = (OperationSet{1} << kOperationCount) - 1;

/// One row of the registry (dispatch/registry.hpp).
struct Variant {
  std::string name;       ///< technique + shape, unique: "scalar64.adx"
  std::string technique;  ///< the folder under src/modmul
  Backend backend = Backend::cpu;
  OperationSet public_operations = 0;
  OperationSet secret_operations = 0;
  /// Of those: what Engine::accepts takes for several items with one modulus alone.
  OperationSet shared_modulus_operations = 0;
  std::size_t min_bits = 1;
  std::size_t max_bits = kMaxModulusBits;
  /// Engine::accepts never says no. A variant with false is paired with one that takes what it does not.
  bool accepts_every_item = true;
  unsigned instances = 1;  ///< side by side in one thread or thread group: part of them costs as much as all
  unsigned threads_per_instance = 1;    ///< lanes of a GPU thread group
  CpuFeatures cpu_features = 0;         ///< all needed (CPU backend)
  unsigned min_compute_capability = 0;  ///< e.g. 90 for sm_90 (CUDA backend)
  unsigned max_compute_capability = std::numeric_limits<unsigned>::max();
  /// Not chosen, unless by name, for a GPU whose FP64 instructions are much slower than the others (CUDA
  /// backend).
  bool wants_fast_doubles = false;
  int priority = 0;  ///< higher wins where the tuning table is silent
  std::string summary;
  /// For the GPU of that index (CUDA backend); of no matter to the CPU backend.
  std::function<std::unique_ptr<Engine>(unsigned device_index)> make_engine;
};

/// Whether the variant offers the operation in that timing class.
inline bool offers(const Variant& variant, Operation op, TimingClass timing) {
  const OperationSet set =
      timing == TimingClass::secret ? variant.secret_operations : variant.public_operations;
  return (set & operation_bit(op)) != 0;
}

}  // namespace manymod
