// SPDX-License-Identifier: Apache-2.0
// The group of one thread (arch/cuda/thread_group.cuda.hpp) on devices and on the host alike.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::ecc::cuda {

struct SingleThread {
  static constexpr unsigned kSize = 1;

  MM_DEVICE static constexpr unsigned lane() { return 0; }
  template <class T>
  MM_DEVICE static T shuffle(T value, unsigned /*source*/) {
    return value;
  }
  template <class T>
  MM_DEVICE static T from_above(T value) {
    return value;
  }
  template <class T>
  MM_DEVICE static T from_below(T value) {
    return value;
  }
  MM_DEVICE static std::uint32_t ballot(bool condition) { return condition ? 1 : 0; }
  MM_DEVICE static void sync() {}
};

}  // namespace manymod::ecc::cuda
