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
#include "engine/resident_rows.hpp"
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
  /// How the first choice, at its first place, computes whole calls; null if it does not.
  [[nodiscard]] const ResidentRows* rows() const { return engines_[0].placement.engine(0).resident_rows(); }

 private:
  gpu::ResidentArrays arrays_;
  EngineSet engines_;
};

/// One T per device, built on first use.
template <class T>
class PerDevice {
 public:
  PerDevice() : objects_(devices_for("cuda").size()) {}  // one more than GPUs, as the CPU is a device too

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
  /// Checks the addresses. `job` must not outlive this object.
  /// @throws StatusError MM_ERR_ARGUMENT, gpu::DeviceError
  ResidentCall(const mm_call& call, const gpu::ResidentArrays& arrays, const Job& job);
  ResidentCall(const ResidentCall&) = delete;
  ResidentCall& operator=(const ResidentCall&) = delete;

  /// Makes the job's modulus refer to a copy on the host if all items share it. Waits for the caller's stream
  /// if it is on the device. @throws gpu::DeviceError
  void fetch_modulus(Job& job);
  /// Waits for the caller's stream, makes `job` refer to copies on the host of the integers that all items
  /// share, and determines the facts about the others, for moduli of up to `modulus_bits` bits.
  /// @throws gpu::DeviceError
  void prepare(std::size_t modulus_bits, Job& job);

 private:
  void* const stream_;
  const gpu::ResidentArrays& arrays_;
  std::array<limbs::Buffer, 4> shared_;  // of x, y, modulus and z
  DeviceFacts facts_;

  void check(const Job& job) const;
  void fetch_shared(std::size_t terms, BatchView& view, limbs::Buffer& storage) const;
};

}  // namespace manymod
