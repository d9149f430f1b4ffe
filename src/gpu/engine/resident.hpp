// SPDX-License-Identifier: Apache-2.0
// Host access to callers' arrays in the memory of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/device_facts.hpp"
#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "repr/limbs.hpp"

namespace manymod::gpu {

/// Largest number of limbs of an integer in device memory.
inline constexpr std::size_t kMaxResidentLimbs = std::size_t{1} << 26;

/// Whether the items are first, first + 1, first + 2, ..
bool consecutive(Items items);

/// Enqueue copies of `rows` rows, in as many launches as needed.
void launch_copy_rows(const Stream& stream, RowsJob job, std::size_t rows);

/// All functions are synchronous and thread-safe.
/// @throws DeviceError
class ResidentArrays {
 public:
  /// `secret`: all intermediate copies of the integers are zeroed.
  ResidentArrays(Device& device, bool secret) : device_(device), secret_(secret), workspaces_(device) {}

  [[nodiscard]] Device& device() const { return device_; }

  /// Sleeps until all work in the caller's stream is done; `stream` as in Device::borrow_stream.
  void wait_for(void* stream) const;

  /// Facts about the operands that are on_device, for a plan with moduli of up to `modulus_bits` bits.
  [[nodiscard]] DeviceFacts facts(const Job& job, std::size_t modulus_bits) const;

  /// Copies the lower `width` limbs of the `terms` integers of each item to the host, item after item.
  [[nodiscard]] limbs::Buffer rows(const BatchView& view, Items items, std::size_t terms,
                                   std::size_t width) const;

  /// Stores `width` limbs per item as its result, zero-extended to the result's width.
  void store(const BatchResult& result, Items items, const limbs::Buffer& rows, std::size_t width) const;

  /// Sets the items' results to 0.
  void zero(const BatchResult& result, Items items) const;

 private:
  class Transfer;

  Device& device_;
  bool secret_;
  mutable Workspaces workspaces_;

  static void find_modulus_facts(const Job& job, std::size_t modulus_bits, Workspace& workspace,
                                 DeviceFacts& facts);
  [[nodiscard]] static LengthRange exponent_range(const Job& job, Workspace& workspace);
  static void find_exponent_bits(const Job& job, Workspace& workspace, DeviceFacts& facts);
};

}  // namespace manymod::gpu
