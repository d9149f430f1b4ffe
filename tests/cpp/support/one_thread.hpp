// SPDX-License-Identifier: Apache-2.0
// A group of one thread, as device code has for an instance of its own: it exchanges nothing.
#pragma once

#include <cstdint>

namespace manymod::test {

struct OneThread {
  static constexpr unsigned kSize = 1;
  [[nodiscard]] unsigned lane() const { return 0; }
  template <class T>
  T shuffle(T value, unsigned /*source*/) const {
    return value;
  }
  template <class T>
  T from_above(T value) const {
    return value;
  }
  template <class T>
  T from_below(T value) const {
    return value;
  }
  [[nodiscard]] std::uint32_t ballot(bool condition) const { return condition ? 1 : 0; }
  [[nodiscard]] bool any_in_warp(bool condition) const { return condition; }
  void sync() const {}
};

}  // namespace manymod::test
