// SPDX-License-Identifier: Apache-2.0
// Callers' arrays in the memory of a device: what is read of them, and written to them, from the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/device_facts.hpp"
#include "engine/engine.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "repr/limbs.hpp"

namespace manymod::gpu {

/// Widest integers that are taken from a device's memory.
inline constexpr std::size_t kMaxResidentLimbs = std::size_t{1} << 26;

/// Whether the items are first, first + 1, ..
bool consecutive(Items items);

/// Queue the copying of so many rows, in as many launches as it takes.
void launch_copy_rows(const cuda::Stream& stream, RowsJob job, std::size_t rows);

/// All functions return when their work is done, and may be called from several threads.
/// @throws cuda::DriverError
class ResidentArrays {
 public:
  /// `secret`: nothing of the integers is left behind on the way.
  ResidentArrays(cuda::Device& device, bool secret) : device_(device), secret_(secret), workspaces_(device) {}

  [[nodiscard]] cuda::Device& device() const { return device_; }

  /// Sleep until what was queued on the caller's stream (nullptr: the legacy default stream) is done.
  void wait_for(cuda::StreamHandle stream) const;

  /// Facts of the operands that are on_device, for a plan with moduli of up to `modulus_bits` bits.
  [[nodiscard]] DeviceFacts facts(const Job& job, std::size_t modulus_bits) const;

  /// The lower `width` limbs of the `terms` integers of each item, one after the other.
  [[nodiscard]] limbs::Buffer rows(const BatchView& view, Items items, std::size_t terms,
                                   std::size_t width) const;

  /// Store `width` limbs of each item as its result, with zeros above.
  void store(const BatchResult& result, Items items, const limbs::Buffer& rows, std::size_t width) const;

  /// The items' results become 0.
  void zero(const BatchResult& result, Items items) const;

 private:
  class Transfer;

  cuda::Device& device_;
  bool secret_;
  mutable Workspaces workspaces_;

  static void find_modulus_facts(const Job& job, std::size_t modulus_bits, Workspace& workspace,
                                 DeviceFacts& facts);
  [[nodiscard]] static LengthRange exponent_range(const Job& job, Workspace& workspace);
  static void find_exponent_bits(const Job& job, Workspace& workspace, DeviceFacts& facts);
};

}  // namespace manymod::gpu
