// SPDX-License-Identifier: Apache-2.0
// Engines that compute whole calls on arrays in the memory of their device: in one launch, without sorting
// items into buckets, and without work of the host for single items.
#pragma once

#include <cstddef>
#include <vector>

#include "core/modulus_class.hpp"
#include "engine/engine.hpp"

namespace manymod {

class ResidentRows {
 public:
  ResidentRows(const ResidentRows&) = delete;
  ResidentRows& operator=(const ResidentRows&) = delete;
  virtual ~ResidentRows() = default;

  /// Whether the call can be computed in this way, which depends on sizes and signs only.
  [[nodiscard]] virtual bool accepts_call(const Job& job) const = 0;

  /// Computes all items of a call that is accepted, after the work in `stream` (as in
  /// gpu::Device::borrow_stream), and waits for it. Operands and results may be on the device or not; a
  /// modulus that all items share is in host memory, of class ModulusClass::compute, and prepared in
  /// job.shared. Own moduli longer than `modulus_bits` bits are too wide. Job::status and Job::facts are not
  /// used.
  /// @return the class of each item's modulus if some have no result, which is then 0: `compute` for the
  /// others, with modulus 1, too; empty if all have one
  /// @throws gpu::DeviceError
  [[nodiscard]] virtual std::vector<ModulusClass> run_call(const Job& job, std::size_t modulus_bits,
                                                           void* stream) const = 0;

 protected:
  ResidentRows() = default;
};

}  // namespace manymod
