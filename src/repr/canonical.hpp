// SPDX-License-Identifier: Apache-2.0
// The canonical form of a batch inside the library: thin, non-owning views over the C ABI's arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/limb.hpp"

namespace manymod {

/// Read-only batch of signed integers, `count` of them or one that serves every index.
struct BatchView {
  const Limb* limbs = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  const std::uint8_t* negative = nullptr;
  /// The limbs are in the memory of a CUDA device, where the host cannot read them. There are then several
  /// integers, none with a sign.
  bool on_device = false;

  [[nodiscard]] bool broadcast() const { return count == 1; }
  [[nodiscard]] std::span<const Limb> magnitude(std::size_t i) const {
    return {limbs + (broadcast() ? 0 : i * stride), width};
  }
  [[nodiscard]] bool is_negative(std::size_t i) const {
    return negative != nullptr && negative[broadcast() ? 0 : i] != 0;
  }
};

/// Result batch.
struct BatchResult {
  Limb* limbs = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  std::uint8_t* negative = nullptr;
  bool on_device = false;  ///< see BatchView; no signs

  [[nodiscard]] std::span<Limb> magnitude(std::size_t i) const { return {limbs + i * stride, width}; }
};

}  // namespace manymod
