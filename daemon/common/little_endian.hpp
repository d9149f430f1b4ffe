// SPDX-License-Identifier: Apache-2.0
// Numbers of the protocol, little-endian whatever the machine is.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "common/bytes.hpp"

namespace manymod::signd {

/// Write a number as sizeof(T) bytes.
template <std::unsigned_integral T>
void store_le(std::uint8_t* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// Read a number of sizeof(T) bytes.
template <std::unsigned_integral T>
T load_le(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | T{from[i]} << (8 * i));
  return value;
}

/// Append a number.
template <std::unsigned_integral T>
void append_le(Bytes& to, T value) {
  to.resize(to.size() + sizeof(T));
  store_le(to.data() + to.size() - sizeof(T), value);
}

}  // namespace manymod::signd
