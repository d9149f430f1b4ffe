// SPDX-License-Identifier: Apache-2.0
// Constants that the kernels of some techniques read besides the items' numbers (ProgramJob::constants). They
// are computed on the host and copied to a device once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/published_once.hpp"
#include "engine/engine.hpp"
#include "gpu/buffer.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/program.hpp"
#include "gpu/program/shape.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::gpu {

/// How a technique computes its constants.
struct ConstantsSource {
  /// For a kernel whose items have their own moduli. Empty if all constants are compiled into the kernel.
  std::vector<std::byte> (*of_shape)(const Shape& shape);
  /// For a kernel whose items share that odd modulus. Empty if the kernel cannot compute with it. Null if the
  /// technique has no such kernels.
  std::vector<std::byte> (*of_modulus)(const Shape& shape, std::span<const Limb> modulus);
  /// Little-endian words of R^2 where R is not a power of two.
  std::vector<std::uint32_t> (*radix_squared)(const Shape& shape);
  /// The kernels for `of_modulus`, of the same widths as the technique's others. Empty: the others are used
  /// for shared moduli too.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it compilers warn where a list omits the
  // member
  std::span<const Shape> shared_shapes = {};
};

/// Constants in the memory of a device.
class DeviceConstants {
 public:
  /// Returns when the copy is done, and zeroes the part of the workspace that it used. @throws DeviceError
  DeviceConstants(std::span<const std::byte> constants, std::span<const std::uint32_t> radix_squared,
                  Workspace& workspace);

  [[nodiscard]] const void* constants() const { return buffer_.data(); }
  /// R^2, which all items share.
  [[nodiscard]] DeviceOperand radix_squared() const;

 private:
  BufferLayout layout_;
  std::size_t radix_squared_at_;
  std::uint32_t radix_squared_words_;
  DeviceBuffer buffer_;
};

/// The constants of one shape. Thread-safe.
class ShapeConstants {
 public:
  ShapeConstants(const ConstantsSource& source, const Shape& shape) : source_(&source), shape_(&shape) {}

  /// Computed on first use. @throws DeviceError
  [[nodiscard]] const DeviceConstants& on_device(Workspace& workspace) const;

 private:
  const ConstantsSource* source_;
  const Shape* shape_;
  PublishedOnce<DeviceConstants> on_device_;
};

/// The constants of one modulus: computed on the host on first use, and zeroed there once they are on the
/// device. Thread-safe; not to be used in a forked child, where the mutex may stay locked forever.
class ModulusConstants final : public PreparedModulus {
 public:
  ModulusConstants(const ConstantsSource& source, const Shape& shape, std::span<const Limb> modulus);

  /// Whether the technique cannot compute with this modulus.
  [[nodiscard]] bool refused() const;
  /// The modulus must not be refused. @throws DeviceError
  [[nodiscard]] const DeviceConstants& on_device(Workspace& workspace) const;

 private:
  const ConstantsSource& source_;
  const Shape& shape_;
  limbs::Buffer modulus_;
  mutable std::mutex mutex_;  // guards the members below: one thread computes them while others wait
  mutable std::optional<SecretArray<std::byte>> on_host_;
  mutable std::optional<DeviceConstants> on_device_;

  // The constants on the host; empty if the modulus is refused. On input: they are not on the device, and the
  // caller holds mutex_.
  [[nodiscard]] std::span<const std::byte> on_host() const;
};

}  // namespace manymod::gpu
