// SPDX-License-Identifier: Apache-2.0
// What the kernels of some techniques read besides the items' numbers (ProgramJob::constants): made on the
// host, brought to a device once.
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
#include "gpu/cuda/memory.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/program/program.hpp"
#include "gpu/program/shape.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::gpu {

/// How a technique makes them.
struct ConstantsSource {
  /// For a kernel whose items have moduli of their own. Empty where all of them are compiled into it.
  std::vector<std::byte> (*of_shape)(const Shape& shape);
  /// For a kernel whose items share that modulus, which is odd. Empty if it cannot compute with it. Null
  /// where there are no such kernels.
  std::vector<std::byte> (*of_modulus)(const Shape& shape, std::span<const Limb> modulus);
  /// Little-endian words of R^2, where R is no power of two.
  std::vector<std::uint32_t> (*radix_squared)(const Shape& shape);
  /// The kernels of `of_modulus`, of the same widths as the technique's others, which serve where there are
  /// none.
  // NOLINTNEXTLINE(readability-redundant-member-init): compilers warn of what an initialiser list leaves out
  std::span<const Shape> shared_shapes = {};
};

/// In the memory of a device.
class DeviceConstants {
 public:
  /// Returns when they are there, and leaves nothing in the workspace. @throws cuda::DriverError
  DeviceConstants(std::span<const std::byte> constants, std::span<const std::uint32_t> radix_squared,
                  Workspace& workspace);

  [[nodiscard]] const void* constants() const { return buffer_.data(); }
  /// One number that all items share.
  [[nodiscard]] DeviceOperand radix_squared() const;

 private:
  Layout layout_;
  std::size_t radix_squared_at_;
  std::uint32_t radix_squared_words_;
  cuda::DeviceBuffer buffer_;
};

/// Those of one shape. May be asked from several threads.
class ShapeConstants {
 public:
  ShapeConstants(const ConstantsSource& source, const Shape& shape) : source_(&source), shape_(&shape) {}

  /// Made on first use. @throws cuda::DriverError
  [[nodiscard]] const DeviceConstants& on_device(Workspace& workspace) const;

 private:
  const ConstantsSource* source_;
  const Shape* shape_;
  PublishedOnce<DeviceConstants> on_device_;
};

/// Those of one modulus, made on first use: on the host, where they are zeroed once they are on the device.
/// May be asked from several threads; not in a forked child, where the lock may be taken for good.
class ModulusConstants final : public PreparedModulus {
 public:
  ModulusConstants(const ConstantsSource& source, const Shape& shape, std::span<const Limb> modulus);

  /// The technique cannot compute with this modulus.
  [[nodiscard]] bool refused() const;
  /// Of a modulus that is not refused. @throws cuda::DriverError
  [[nodiscard]] const DeviceConstants& on_device(Workspace& workspace) const;

 private:
  // Zeroed at the end.
  class SecretBytes {
   public:
    explicit SecretBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
    SecretBytes(const SecretBytes&) = delete;
    SecretBytes& operator=(const SecretBytes&) = delete;
    ~SecretBytes() { wipe_bytes(bytes_.data(), bytes_.size()); }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

   private:
    std::vector<std::byte> bytes_;
  };

  const ConstantsSource& source_;
  const Shape& shape_;
  limbs::Buffer modulus_;
  mutable std::mutex mutex_;  // guards what follows, which one thread makes while others wait
  mutable std::optional<SecretBytes> on_host_;
  mutable std::optional<DeviceConstants> on_device_;

  // While they are not on the device; empty if the modulus is refused. The caller holds mutex_.
  [[nodiscard]] std::span<const std::byte> on_host() const;
};

}  // namespace manymod::gpu
