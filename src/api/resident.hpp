// SPDX-License-Identifier: Apache-2.0
// Calls on arrays in the memory of a CUDA device, which are used in place (mm_call.on_device).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "api/device_memory.hpp"
#include "core/published_once.hpp"
#include "dispatch/devices.hpp"
#include "dispatch/selection_options.hpp"
#include "engine/device_facts.hpp"
#include "exec/engine_set.hpp"
#include "gpu/engine/resident.hpp"
#include "manymod/manymod.h"
#include "repr/limbs.hpp"

namespace manymod {

/// What computes on arrays in one device's memory: its own engines, and those of the CPU for items that they
/// do not take.
class ResidentEngines {
 public:
  /// @throws StatusError as select_variants
  ResidentEngines(const SelectionOptions& options, cuda::Device& device, TimingClass timing);

  [[nodiscard]] const gpu::ResidentArrays& arrays() const { return arrays_; }
  [[nodiscard]] const EngineSet& engines() const { return engines_; }

 private:
  gpu::ResidentArrays arrays_;
  EngineSet engines_;
};

/// One T for each CUDA device, made when it is first asked for.
template <class T>
class PerDevice {
 public:
  PerDevice() : made_(devices().size()) {}  // the CPU is one of them

  /// @throws StatusError as checked_device, and what make(device) throws
  template <class Make>
  const T& get(unsigned device_index, const Make& make) const {
    cuda::Device& device = checked_device(device_index);
    return *made_.at(device_index).get([&] { return std::unique_ptr<const T>(make(device)); });
  }

 private:
  std::vector<PublishedOnce<T>> made_;
};

/// The arrays of one call, ready to be used.
class ResidentCall {
 public:
  /// Checks the addresses, waits for the caller's stream, brings integers that all items share to the host
  /// (in `job` they are there from now on), and finds facts of the others, for moduli of up to `modulus_bits`
  /// bits. `job` must not outlive it.
  /// @throws StatusError MM_ERR_ARGUMENT, cuda::DriverError
  ResidentCall(const mm_call& call, const gpu::ResidentArrays& arrays, std::size_t modulus_bits, Job& job);
  ResidentCall(const ResidentCall&) = delete;
  ResidentCall& operator=(const ResidentCall&) = delete;

 private:
  const gpu::ResidentArrays& arrays_;
  std::array<limbs::Buffer, 3> shared_;
  DeviceFacts facts_;

  void check(const Job& job) const;
  void bring_shared(std::size_t terms, BatchView& view, limbs::Buffer& storage) const;
};

}  // namespace manymod
