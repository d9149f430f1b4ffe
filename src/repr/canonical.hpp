// SPDX-License-Identifier: Apache-2.0
// Batches of integers in canonical form inside the library: thin, non-owning views of the C ABI's arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/limb.hpp"

namespace manymod {

/// A read-only batch of signed integers: `count` of them, or one that is used for every index. Integer i has
/// `width` limbs at limbs + i stride, least significant first, and is negative if negative[i] != 0; a null
/// `negative` means that none is.
struct BatchView {
  const Limb* limbs = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  const std::uint8_t* negative = nullptr;
  /// The limbs are in the memory of a CUDA device, where the host cannot read them. Then there are at least
  /// two integers, and none has a sign.
  bool on_device = false;

  /// Whether one integer is used for every index.
  [[nodiscard]] bool broadcast() const { return count == 1; }
  /// The limbs of integer i, without its sign.
  [[nodiscard]] std::span<const Limb> magnitude(std::size_t i) const {
    return {limbs + (broadcast() ? 0 : i * stride), width};
  }
  [[nodiscard]] bool is_negative(std::size_t i) const {
    return negative != nullptr && negative[broadcast() ? 0 : i] != 0;
  }
};

/// A batch of results, laid out as in BatchView.
struct BatchResult {
  Limb* limbs = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  std::uint8_t* negative = nullptr;
  bool on_device = false;  ///< as in BatchView, without signs

  [[nodiscard]] std::span<Limb> magnitude(std::size_t i) const { return {limbs + i * stride, width}; }
};

}  // namespace manymod
