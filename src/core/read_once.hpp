// SPDX-License-Identifier: Apache-2.0
// Reading memory that others may write to meanwhile, such as a caller's arrays in shared memory.
#pragma once

#include <type_traits>

namespace manymod {

/// The value of `place`, by one load that the compiler does not repeat: what is checked afterwards is what is
/// used.
template <class T>
  requires std::is_scalar_v<T>
T read_once(const T& place) {
  return static_cast<const volatile T&>(place);
}

}  // namespace manymod
