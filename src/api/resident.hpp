// SPDX-License-Identifier: Apache-2.0
// Calls on arrays in the memory of a device, which are used in place (mm_call.on_device).
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

/// The engines for arrays in one device's memory: those of the device, and those of the CPU for items that
/// they do not accept.
class ResidentEngines {
 public:
  /// @throws StatusError as select_variants
  ResidentEngines(const SelectionOptions& options, gpu::Device& device, TimingClass timing);

  [[nodiscard]] const gpu::ResidentArrays& arrays() const { return arrays_; }
  [[nodiscard]] const EngineSet& engines() const { return engines_; }

 private:
  gpu::ResidentArrays arrays_;
  EngineSet engines_;
};

/// One T per device, built on first use.
template <class T>
class PerDevice {
 public:
  PerDevice() : objects_(devices().size()) {}  // one more than GPUs, as the CPU is a device too

  /// @throws StatusError as checked_device, and what make(device) throws
  template <class Make>
  const T& get(unsigned device_index, const Make& make) const {
    gpu::Device& device = checked_device(device_index);
    return *objects_.at(device_index).get([&] { return std::unique_ptr<const T>(make(device)); });
  }

 private:
  std::vector<PublishedOnce<T>> objects_;
};

/// Prepares the arrays of one call.
class ResidentCall {
 public:
  /// Checks the addresses, waits for the caller's stream, copies integers that all items share to the host
  /// and makes `job` refer to the copies, and determines the facts about the other integers, for moduli of up
  /// to `modulus_bits` bits. `job` must not outlive this object.
  /// @throws StatusError MM_ERR_ARGUMENT, gpu::DeviceError
  ResidentCall(const mm_call& call, const gpu::ResidentArrays& arrays, std::size_t modulus_bits, Job& job);
  ResidentCall(const ResidentCall&) = delete;
  ResidentCall& operator=(const ResidentCall&) = delete;

 private:
  const gpu::ResidentArrays& arrays_;
  std::array<limbs::Buffer, 3> shared_;
  DeviceFacts facts_;

  void check(const Job& job) const;
  void fetch_shared(std::size_t terms, BatchView& view, limbs::Buffer& storage) const;
};

}  // namespace manymod
